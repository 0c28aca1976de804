//! One value, many texts: members in another order, white space, escapes. None of it changes a verdict.

use std::fmt::Write;

use super::super::json::Json;
use super::dice::Dice;

/// A text of the value; plain as often as not.
pub(super) fn render(dice: &mut Dice, value: &Json) -> String {
    if dice.one_in(2) {
        return value.to_string();
    }
    let mut text = String::new();
    write(dice, value, &mut text);
    text
}

fn space(dice: &mut Dice, text: &mut String) {
    text.push_str(dice.pick(&["", "", "", "", " ", "\n", "\t", "\r\n "]));
}

fn write(dice: &mut Dice, value: &Json, text: &mut String) {
    space(dice, text);
    // Writing to a string cannot fail.
    match value {
        Json::String(content) => write_string(dice, content, text),
        Json::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                write(dice, item, text);
            }
            text.push(']');
        }
        Json::Object(members) => {
            let mut order: Vec<_> = members.iter().collect();
            // Of a repeated member the last one counts for most readers; which one that is must not change.
            if unrepeated(members) {
                dice.shuffle(&mut order);
            }
            text.push('{');
            for (index, (name, value)) in order.into_iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                space(dice, text);
                write_string(dice, name, text);
                space(dice, text);
                text.push(':');
                write(dice, value, text);
            }
            text.push('}');
        }
        scalar => drop(write!(text, "{scalar}")),
    }
    space(dice, text);
}

fn unrepeated(members: &[(String, Json)]) -> bool {
    members.iter().enumerate().all(|(index, (name, _))| members[..index].iter().all(|(earlier, _)| earlier != name))
}

fn write_string(dice: &mut Dice, content: &str, text: &mut String) {
    if !dice.one_in(8) {
        let _ = write!(text, "{}", Json::String(content.to_owned()));
        return;
    }
    text.push('"');
    for c in content.chars() {
        let mut units = [0; 2];
        match c {
            '/' if dice.one_in(2) => text.push_str("\\/"),
            '\n' if dice.one_in(2) => text.push_str("\\n"),
            '"' | '\\' => drop(write!(text, "\\{c}")),
            _ if c < ' ' || dice.one_in(4) => {
                for unit in c.encode_utf16(&mut units) {
                    let _ = if dice.one_in(2) { write!(text, "\\u{unit:04x}") } else { write!(text, "\\u{unit:04X}") };
                }
            }
            _ => text.push(c),
        }
    }
    text.push('"');
}
