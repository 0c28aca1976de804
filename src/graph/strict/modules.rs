//! The rules for `.gitmodules`: nothing in it may be taken for an option, a command or a path upwards.

use super::config::variables;
use super::{Message, once, shown, url};

/// Judges the content of a `.gitmodules`, variable by variable; text that is no configuration ends it without a message.
pub fn gitmodules(data: &[u8], messages: &mut Vec<Message>) {
    let start = messages.len();
    variables(data, |variable, value| {
        let Some((name, key)) = submodule(variable) else { return };
        let mut add = |id, what: &str, text: &[u8]| {
            once(messages, start, id, || format!("the submodule {} {what} {}", shown(name), shown(text)));
        };
        if !is_good_name(name) {
            add("gitmodulesName", "has a name that is empty or leads upwards:", name);
        }
        let Some(value) = value else { return };
        match key {
            b"url" if !url::is_good(value) => add("gitmodulesUrl", "has an unsafe url,", value),
            b"path" if value.starts_with(b"-") => add("gitmodulesPath", "has a path that reads as an option,", value),
            b"update" if value.starts_with(b"!") => add("gitmodulesUpdate", "is updated by a command,", value),
            _ => {}
        }
    });
}

/// Name and key of `submodule.<name>.<key>`.
fn submodule(variable: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = variable.strip_prefix(b"submodule.")?;
    let dot = rest.iter().rposition(|&byte| byte == b'.')?;
    Some((&rest[..dot], &rest[dot + 1..]))
}

/// Not empty, and no component is `..`, whichever slash separates them.
fn is_good_name(name: &[u8]) -> bool {
    !name.is_empty() && name.split(|byte| matches!(byte, b'/' | b'\\')).all(|component| component != b"..")
}
