//! The rules for `.gitmodules`: nothing in it may be taken for an option, a command or a path upwards.

use super::config::variables;
use super::{Message, once, shown, url};

/// Judges the content of a `.gitmodules`, variable by variable. Where the text is no configuration any more, the judgement
/// ends without a message: that is only INFO to git. Linear in the bytes.
pub fn gitmodules(data: &[u8], messages: &mut Vec<Message>) {
    let start = messages.len();
    variables(data, |variable| {
        let Some(name) = variable.section.strip_prefix(b"submodule.") else { return };
        let mut add = |id, what: &str, text: &[u8]| {
            once(messages, start, id, || format!("the submodule {} {what} {}", shown(name), shown(text)));
        };
        if variable.first && !is_good_name(name) {
            add("gitmodulesName", "has a name that is empty or leads upwards:", name);
        }
        let Some(value) = variable.value else { return };
        match variable.key {
            b"url" if !url::is_good(value) => add("gitmodulesUrl", "has an unsafe url,", value),
            b"path" if value.starts_with(b"-") => add("gitmodulesPath", "has a path that reads as an option,", value),
            b"update" if value.starts_with(b"!") => add("gitmodulesUpdate", "is updated by a command,", value),
            _ => {}
        }
    });
}

/// Not empty, and no component is `..`, whichever slash separates them.
fn is_good_name(name: &[u8]) -> bool {
    !name.is_empty() && name.split(|byte| matches!(byte, b'/' | b'\\')).all(|component| component != b"..")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn judged(text: impl AsRef<[u8]>) -> Vec<(&'static str, String)> {
        let mut messages = Vec::new();
        gitmodules(text.as_ref(), &mut messages);
        messages.into_iter().map(|message| (message.id, message.detail)).collect()
    }

    #[test]
    fn a_sound_file_has_no_message() {
        assert_eq!(
            judged("[submodule \"lib\"]\n\tpath = lib\n\turl = https://example.com/lib.git\n\tupdate = rebase\n"),
            []
        );
        assert_eq!(judged("[other \"..\"]\nurl = -x\n[submodule]\npath = -x\n"), []);
    }

    #[test]
    fn each_rule_has_its_message_once() {
        let text =
            "[submodule \"a/..\"]\nurl = --upload-pack=x\nurl = -y\npath = -p\nupdate = !rm\n[submodule \"..\"]\nx";
        let expected = [
            ("gitmodulesName", r#"the submodule "a/.." has a name that is empty or leads upwards: "a/..""#),
            ("gitmodulesUrl", r#"the submodule "a/.." has an unsafe url, "--upload-pack=x""#),
            ("gitmodulesPath", r#"the submodule "a/.." has a path that reads as an option, "-p""#),
            ("gitmodulesUpdate", r#"the submodule "a/.." is updated by a command, "!rm""#),
        ];
        assert_eq!(judged(text), expected.map(|(id, detail)| (id, detail.to_owned())));
    }

    #[test]
    fn what_was_seen_before_the_text_breaks_counts() {
        assert_eq!(judged("[submodule \"a\"]\npath = -x\n!").len(), 1);
        assert_eq!(judged("[submodule \"a\"]\n!\npath = -x\n"), []);
    }

    #[test]
    fn a_long_name_with_many_variables_is_judged_in_linear_time() {
        let name = "x".repeat(1 << 17);
        for nul in ["", "\0"] {
            let text = format!("[submodule \"{name}{nul}\"]\n{}", "a\n".repeat(1 << 17));
            let started = std::time::Instant::now();
            assert_eq!(judged(text), []);
            // Milliseconds; judging the name with every variable would take half a minute.
            assert!(started.elapsed().as_secs() < 5);
        }
    }

    proptest! {
        #[test]
        fn any_text_has_at_most_four_messages(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(judged([b"[submodule \"..\"]\n".as_slice(), &text].concat()).len() <= 4);
        }

        #[test]
        fn any_url_is_judged(url in "(https?://|\\./|\\.\\./|git://|http::)?[ -~]{0,40}") {
            let text = format!("[submodule \"a\"]\nurl = \"{}\"\n", url.replace('\\', "\\\\").replace('"', "\\\""));
            prop_assert_eq!(judged(text).iter().any(|(id, _)| *id == "gitmodulesUrl"), !url::is_good(url.as_bytes()));
        }
    }
}
