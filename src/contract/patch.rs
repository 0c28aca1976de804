//! JSON Patch (RFC 6902): a variation of a document, told by what differs. Of its operations `add`, `remove`,
//! `replace` and `move`.

use super::json::{Json, JsonError};

/// The patch cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The patch is not JSON.
    #[error("the patch is not JSON")]
    Syntax(#[from] JsonError),
    /// The patch is JSON, but no array of operations with the members they need.
    #[error("expected an array of add, remove, replace or move operations, found {0}")]
    Shape(String),
    /// The document has no such place.
    #[error("the document has no place {0:?}")]
    Place(String),
}

/// Applies the patch `text` to `document`, in order. Numbers keep their tokens and members their order; an added
/// member is the last.
///
/// # Errors
/// [`PatchError`]; `document` is then half changed.
pub fn apply(document: &mut Json, text: &str) -> Result<(), PatchError> {
    let Json::Array(operations) = Json::parse(text)? else {
        return Err(PatchError::Shape(text.to_owned()));
    };
    for operation in operations {
        let shape = || PatchError::Shape(operation.to_string());
        let word = |name| match member(&operation, name) {
            Some(Json::String(word)) => Ok(word.as_str()),
            _ => Err(shape()),
        };
        let path = word("path")?;
        match (word("op")?, member(&operation, "value")) {
            ("add", Some(value)) => add(document, path, value.clone())?,
            ("replace", Some(value)) => *find(document, path)? = value.clone(),
            ("remove", None) => drop(remove(document, path)?),
            ("move", None) => {
                let value = remove(document, word("from")?)?;
                add(document, path, value)?;
            }
            _ => return Err(shape()),
        }
    }
    Ok(())
}

fn member<'a>(value: &'a Json, name: &str) -> Option<&'a Json> {
    let Json::Object(members) = value else { return None };
    members.iter().find(|(found, _)| found == name).map(|(_, value)| value)
}

/// The last step of a pointer, unescaped, and the pointer to its parent; `None` for the whole document.
fn split(pointer: &str) -> Option<(&str, String)> {
    let (parent, step) = pointer.rsplit_once('/')?;
    Some((parent, step.replace("~1", "/").replace("~0", "~")))
}

fn index(step: &str) -> Option<usize> {
    if step != "0" && step.starts_with(['0', '+']) { None } else { step.parse().ok() }
}

fn find<'a>(document: &'a mut Json, pointer: &str) -> Result<&'a mut Json, PatchError> {
    let place = || PatchError::Place(pointer.to_owned());
    let Some((parent, step)) = split(pointer) else {
        return if pointer.is_empty() { Ok(document) } else { Err(place()) };
    };
    match find(document, parent)? {
        Json::Object(members) => members.iter_mut().find(|(name, _)| *name == step).map(|(_, value)| value),
        Json::Array(items) => index(&step).and_then(|index| items.get_mut(index)),
        _ => None,
    }
    .ok_or_else(place)
}

fn add(document: &mut Json, pointer: &str, value: Json) -> Result<(), PatchError> {
    let place = || PatchError::Place(pointer.to_owned());
    let Some((parent, step)) = split(pointer) else {
        *find(document, pointer)? = value;
        return Ok(());
    };
    match find(document, parent)? {
        Json::Object(members) => match members.iter_mut().find(|(name, _)| *name == step) {
            Some(existing) => existing.1 = value,
            None => members.push((step, value)),
        },
        Json::Array(items) => {
            let index = if step == "-" { Some(items.len()) } else { index(&step) };
            items.insert(index.filter(|&index| index <= items.len()).ok_or_else(place)?, value);
        }
        _ => return Err(place()),
    }
    Ok(())
}

fn remove(document: &mut Json, pointer: &str) -> Result<Json, PatchError> {
    let place = || PatchError::Place(pointer.to_owned());
    let (parent, step) = split(pointer).ok_or_else(place)?;
    match find(document, parent)? {
        Json::Object(members) => {
            let index = members.iter().position(|(name, _)| *name == step).ok_or_else(place)?;
            Ok(members.remove(index).1)
        }
        Json::Array(items) => {
            let index = index(&step).filter(|&index| index < items.len()).ok_or_else(place)?;
            Ok(items.remove(index))
        }
        _ => Err(place()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DOCUMENT: &str = r#"{"a":{"x/y":1.0,"~":2},"b":[10,20]}"#;

    fn patched(patch: &str) -> Result<String, String> {
        let mut document = Json::parse(DOCUMENT).unwrap();
        apply(&mut document, patch).map(|()| document.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn operations_change_the_named_place_and_nothing_else() {
        for (patch, result) in [
            ("[]", DOCUMENT),
            (r#"[{"op":"replace","path":"/a/x~1y","value":7.0}]"#, r#"{"a":{"x/y":7.0,"~":2},"b":[10,20]}"#),
            (r#"[{"op":"remove","path":"/a/~0"}]"#, r#"{"a":{"x/y":1.0},"b":[10,20]}"#),
            (r#"[{"op":"remove","path":"/b/0"}]"#, r#"{"a":{"x/y":1.0,"~":2},"b":[20]}"#),
            (r#"[{"op":"add","path":"/b/-","value":null}]"#, r#"{"a":{"x/y":1.0,"~":2},"b":[10,20,null]}"#),
            (r#"[{"op":"add","path":"/b/0","value":NaN}]"#, r#"{"a":{"x/y":1.0,"~":2},"b":[NaN,10,20]}"#),
            (
                r#"[{"op":"add","path":"/b","value":1},{"op":"add","path":"/c","value":2}]"#,
                r#"{"a":{"x/y":1.0,"~":2},"b":1,"c":2}"#,
            ),
            (r#"[{"op":"move","from":"/a","path":"/a"}]"#, r#"{"b":[10,20],"a":{"x/y":1.0,"~":2}}"#),
            (r#"[{"op":"replace","path":"","value":[]}]"#, "[]"),
        ] {
            assert_eq!(patched(patch).as_deref(), Ok(result), "{patch}");
        }
    }

    #[test]
    fn what_cannot_be_applied_is_named() {
        let shape = "expected an array of add, remove, replace or move operations, found ";
        for (patch, message) in [
            ("[", "the patch is not JSON".to_owned()),
            ("{}", format!("{shape}{{}}")),
            (r#"[{"op":"test","path":""}]"#, format!(r#"{shape}{{"op":"test","path":""}}"#)),
            (r#"[{"op":"add","path":""}]"#, format!(r#"{shape}{{"op":"add","path":""}}"#)),
            (r#"[{"op":"replace","path":"/c","value":1}]"#, r#"the document has no place "/c""#.to_owned()),
            (r#"[{"op":"remove","path":"/b/2"}]"#, r#"the document has no place "/b/2""#.to_owned()),
            (r#"[{"op":"remove","path":"/b/00"}]"#, r#"the document has no place "/b/00""#.to_owned()),
            (r#"[{"op":"add","path":"/b/3","value":1}]"#, r#"the document has no place "/b/3""#.to_owned()),
            (r#"[{"op":"add","path":"/b/0/x","value":1}]"#, r#"the document has no place "/b/0/x""#.to_owned()),
            (r#"[{"op":"replace","path":"a","value":1}]"#, r#"the document has no place "a""#.to_owned()),
            (r#"[{"op":"remove","path":""}]"#, r#"the document has no place """#.to_owned()),
        ] {
            assert_eq!(patched(patch), Err(message), "{patch}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(
            op in "add|remove|replace|move|x",
            path in "(/(a|b|-|0|2|~1|x~1y|\\PC)?){0,3}",
            from in "(/[ab0])?"
        ) {
            let _ = patched(&format!(r#"[{{"op":"{op}","path":{path:?},"from":"{from}","value":[]}}]"#));
            let _ = patched(&format!(r#"[{{"op":"{op}","path":{path:?},"from":"{from}"}}]"#));
        }
    }
}
