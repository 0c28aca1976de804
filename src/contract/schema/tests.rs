use super::super::json::Json;
use super::super::reason::Reasons;
use super::Schema;

/// The reasons against a value, or those against the schema.
fn told(schema: &str, value: &str) -> Vec<String> {
    let (schema, value) = (Json::parse(schema).unwrap(), Json::parse(value).unwrap());
    let mut reasons = Reasons::default();
    let read = Schema::read(&schema, &mut reasons);
    if reasons.is_empty() {
        assert_eq!(Schema::read(&read.to_json(), &mut Reasons::default()), read);
        read.check(&value, &mut reasons);
    }
    reasons.finish().0.iter().map(ToString::to_string).collect()
}

#[test]
fn every_keyword_refuses_with_its_place_and_words() {
    for (schema, value, reason) in [
        ("false", "1", "(the whole input): expected nothing, found 1 (false)"),
        (r#"{"type":"integer"}"#, "7.5", "(the whole input): expected integer, found 7.5 (integer)"),
        (r#"{"type":["integer","null"]}"#, "true", "(the whole input): expected integer or null, found true (type)"),
        (r#"{"type":"number"}"#, "NaN", "(the whole input): expected number, found NaN (type)"),
        (r#"{"const":true}"#, "1", "(the whole input): expected true, found 1 (const)"),
        (r#"{"enum":["a",7]}"#, "\"b\"", "(the whole input): expected one of \"a\", 7, found \"b\" (enum)"),
        (
            r#"{"minimum":1}"#,
            "0.99999999999999999999",
            "(the whole input): expected at least 1, found 0.99999999999999999999 (minimum)",
        ),
        (r#"{"maximum":1.5}"#, "2", "(the whole input): expected at most 15e-1, found 2 (maximum)"),
        (r#"{"exclusiveMinimum":1}"#, "1.0", "(the whole input): expected more than 1, found 1.0 (exclusiveMinimum)"),
        (r#"{"exclusiveMaximum":1}"#, "1", "(the whole input): expected less than 1, found 1 (exclusiveMaximum)"),
        (r#"{"multipleOf":0.1}"#, "0.25", "(the whole input): expected a multiple of 1e-1, found 0.25 (multipleOf)"),
        (r#"{"minLength":2}"#, "\"😀\"", "(the whole input): expected at least 2 characters, found 1 (minLength)"),
        (r#"{"maxLength":2}"#, "\"abc\"", "(the whole input): expected at most 2 characters, found 3 (maxLength)"),
        (
            r#"{"format":"date-time"}"#,
            "\"2099-01-15\"",
            "(the whole input): expected a date-time (expected `T` at character 11), found \"2099-01-15\" (date-time)",
        ),
        (r#"{"minItems":1}"#, "[]", "(the whole input): expected at least 1 items, found 0 (minItems)"),
        (r#"{"maxItems":1}"#, "[1,2]", "(the whole input): expected at most 1 items, found 2 (maxItems)"),
        (
            r#"{"uniqueItems":true,"items":{"type":"number"}}"#,
            "[7,8,70e-1]",
            "/2: expected a value that is not there already, found 70e-1 (uniqueItems)",
        ),
        (r#"{"items":{"type":"null"}}"#, "[null,0]", "/1: expected null, found 0 (type)"),
        (r#"{"required":["a"]}"#, r#"{"b":1}"#, "(the whole input): expected the member \"a\", found none (required)"),
        (r#"{"minProperties":1}"#, "{}", "(the whole input): expected at least 1 members, found 0 (minProperties)"),
        (
            r#"{"maxProperties":0}"#,
            r#"{"a":1}"#,
            "(the whole input): expected at most 0 members, found 1 (maxProperties)",
        ),
        (
            r#"{"properties":{"a/~":{"type":"string"}},"additionalProperties":false}"#,
            r#"{"a/~":1}"#,
            "/a~1~0: expected string, found 1 (type)",
        ),
        (
            r#"{"properties":{"a":true},"additionalProperties":false}"#,
            r#"{"a":1,"b":[1]}"#,
            "/b: expected no such member, found an array of 1 (additionalProperties)",
        ),
        (r#"{"additionalProperties":{"type":"null"}}"#, r#"{"b":1}"#, "/b: expected null, found 1 (type)"),
        (
            r#"{"propertyNames":{"maxLength":1}}"#,
            r#"{"ab":1}"#,
            "/ab: expected a name that the schema of names admits, found \"ab\" (propertyNames)",
        ),
    ] {
        assert_eq!(told(schema, value), [reason], "{schema}");
    }
}

#[test]
fn what_the_keywords_are_not_about_passes() {
    for (schema, value) in [
        (r#"{"minimum":5,"maxLength":1,"minItems":3,"minProperties":2,"required":["a"],"format":"date-time"}"#, "null"),
        (r#"{"maxLength":1,"minItems":3}"#, "7"),
        (r#"{"minimum":5}"#, "\"1\""),
        (r#"{"format":"date-time"}"#, "7"),
        (r#"{"type":"integer"}"#, "70e-1"),
        (r#"{"const":7}"#, "7.0"),
        (r#"{"const":{"a":1,"b":[2]}}"#, r#"{"b":[2.0],"a":1}"#),
        (r#"{"minimum":1,"maximum":1}"#, "10e-1"),
        (r#"{"uniqueItems":true,"items":{"type":"string"}}"#, r#"["7","a"]"#),
        (r#"{"title":"t","default":1,"examples":[],"deprecated":true,"readOnly":false,"writeOnly":true}"#, "{}"),
        (r#"{"maxLength":2.0,"minItems":0e9}"#, "\"ab\""),
    ] {
        let expected: [&str; 0] = [];
        assert_eq!(told(schema, value), expected, "{schema}");
    }
}

#[test]
fn a_schema_outside_the_subset_is_refused_with_the_place() {
    for (schema, reason) in [
        ("7", "(the whole input): expected an object of keywords, or true or false, found 7 (schema)"),
        (r##"{"$ref":"#"}"##, "/$ref: expected a keyword of the bridge-v1 subset, found \"$ref\" (keyword)"),
        (
            r#"{"properties":{"a":{"items":{"pattern":"x"}}}}"#,
            "/properties/a/items/pattern: expected a keyword of the bridge-v1 subset, found \"pattern\" (keyword)",
        ),
        (r#"{"format":"date"}"#, "/format: expected \"date-time\", the only one of bridge v1, found \"date\" (format)"),
        (r#"{"type":[]}"#, "/type: expected a type of JSON, or a list of different ones, found an array of 0 (schema)"),
        (
            r#"{"type":["null","null"]}"#,
            "/type: expected a type of JSON, or a list of different ones, found an array of 2 (schema)",
        ),
        (r#"{"maxLength":-1}"#, "/maxLength: expected an integer of at least 0, found -1 (schema)"),
        (r#"{"maxLength":1.5}"#, "/maxLength: expected an integer of at least 0, found 1.5 (schema)"),
        (r#"{"minimum":"1"}"#, "/minimum: expected a number, found \"1\" (schema)"),
        (
            r#"{"multipleOf":0}"#,
            "/multipleOf: expected a number above 0 of at most 19 significant digits, found 0 (schema)",
        ),
        (r#"{"required":["a","a"]}"#, "/required: expected an array of different names, found an array of 2 (schema)"),
        (r#"{"deprecated":1}"#, "/deprecated: expected true or false, found 1 (schema)"),
        (r#"{"title":1}"#, "/title: expected a string, found 1 (schema)"),
        (r#"{"examples":{}}"#, "/examples: expected an array, found an object of 0 (schema)"),
        (r#"{"properties":[]}"#, "/properties: expected an object of schemas, found an array of 0 (schema)"),
        (
            r#"{"uniqueItems":true}"#,
            "(the whole input): expected items of one declared scalar type, found none (uniqueItems)",
        ),
        (
            r#"{"uniqueItems":true,"items":{"type":["string","null"]}}"#,
            "(the whole input): expected items of one declared scalar type, found string and null (uniqueItems)",
        ),
    ] {
        assert_eq!(told(schema, "null"), [reason], "{schema}");
    }
}
