use super::*;
use proptest::prelude::*;

#[test]
fn tokens_order_and_repeated_members_survive() {
    let text = r#"{"b":[7,7.0,70e-1,-0,1E+2,NaN,-Infinity,Infinity],"a":{"x":null,"x":true},"ä\"\\\u0000":"😀"}"#;
    assert_eq!(Json::parse(text).unwrap().to_string(), text);
    assert_eq!(Json::parse(r#"["\ud83d\ude00\/\n"]"#).unwrap(), Json::Array(vec![Json::String("😀/\n".into())]));
}

#[test]
fn the_alternate_form_has_a_line_for_everything() {
    let value = Json::parse(r#"{"a":[1.0,{}],"b":[],"c":{"d":null}}"#).unwrap();
    let lines = "{\n  \"a\": [\n    1.0,\n    {}\n  ],\n  \"b\": [],\n  \"c\": {\n    \"d\": null\n  }\n}";
    assert_eq!(format!("{value:#}"), lines);
    assert_eq!(Json::parse(lines).unwrap(), value);
}

#[test]
fn serialized_it_is_the_value_it_is() {
    let text = r#"[null,true,"a",18446744073709551615,-9223372036854775808,-0,1.5,7.0,1e400,0.1000000000000000000001,NaN,{"b":[],"a":{}}]"#;
    let expected = r#"[null,true,"a",18446744073709551615,-9223372036854775808,-0.0,1.5,7.0,"1e400","0.1000000000000000000001","NaN",{"b":[],"a":{}}]"#;
    assert_eq!(serde_json::to_string(&Json::parse(text).unwrap()).unwrap(), expected);
}

#[test]
fn of_repeated_members_the_first_is_found() {
    for more in [0, 20] {
        let mut members = vec![("a".to_owned(), Json::Null), ("a".to_owned(), Json::Bool(true))];
        members.extend((0..more).map(|index| (format!("b{index}"), Json::Bool(false))));
        let lookup = Lookup::new(&members);
        assert_eq!(lookup.get("a"), Some(&Json::Null));
        assert_eq!(lookup.get("b7").is_some(), more > 7);
        assert_eq!(lookup.get("c"), None);
    }
}

#[test]
fn errors_name_the_place() {
    for (text, message) in [
        ("", "expected a value at byte 0"),
        ("[1,]", "expected a value at byte 3"),
        ("[1 2]", "expected `,` or `]` at byte 3"),
        ("{\"a\" 1}", "expected `:` at byte 5"),
        ("{a:1}", "expected `\"` at byte 1"),
        ("1.", "expected a digit at byte 2"),
        ("01", "expected the end of the text at byte 1"),
        ("\"\n\"", "expected `\"` at byte 1"),
        (r#""\x""#, "expected an escape at byte 2"),
        (r#""\u+123""#, "expected four hexadecimal digits at byte 3"),
        (r#""\ud83d""#, "expected the other half of a surrogate pair at byte 7"),
        (r#""\ude00""#, "expected no lone surrogate at byte 7"),
        (r#""\ud83d\u0041""#, "expected the other half of a surrogate pair at byte 13"),
        (r#""\ud83d\ue000""#, "expected the other half of a surrogate pair at byte 13"),
        (r#""\ud83d\ud83d""#, "expected the other half of a surrogate pair at byte 13"),
        (r#""\ud83dA""#, "expected the other half of a surrogate pair at byte 7"),
    ] {
        assert_eq!(Json::parse(text).unwrap_err().to_string(), message, "{text}");
    }
    assert!(Json::parse(&format!("{}{}", "[".repeat(129), "]".repeat(129))).is_ok());
    assert_eq!(
        Json::parse(&"[".repeat(200_000)).unwrap_err().to_string(),
        "expected at most 128 levels of nesting at byte 129"
    );
}

proptest! {
    #[test]
    fn agrees_with_serde_json_on_escapes(
        units in r#"(\\u(d[89abcdef][0-9a-f]{2}|[0-9a-fA-F]{3,5}|\+123)|\\["/bfnrtux]|\PC){0,4}"#
    ) {
        let text = format!("\"{units}\"");
        let theirs = serde_json::from_str::<String>(&text).ok().map(Json::String);
        prop_assert_eq!(Json::parse(&text).ok(), theirs);
    }

    #[test]
    fn agrees_with_serde_json_on_what_is_json(
        text in r#"(true|[\[\]{},:" \t]|-?[0-9]{1,3}|\.[0-9]|[eE][+-]?|"[\PC]?"|\\u[0-9a-e]{4}|\\[nx/]){0,12}"#
    ) {
        // Where they may differ: serde_json refuses numbers no double can hold.
        match (Json::parse(&text), serde_json::from_str::<serde_json::Value>(&text)) {
            (Ok(value), Ok(theirs)) => {
                prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&value.to_string()).unwrap(), theirs);
                prop_assert_eq!(Json::parse(&value.to_string()).unwrap(), value);
            }
            (Err(_), Err(_)) => {}
            (ours, theirs) => {
                prop_assert!(theirs.is_err_and(|error| error.to_string().contains("out of range")), "{:?}", ours);
            }
        }
    }

    #[test]
    fn never_panics(text in ".{0,64}") {
        let _ = Json::parse(&text).map(|value| value.to_string());
    }
}
