//! `.gitmodules`: each rule once, in bounded words, for a cause that is in the text, and whatever section stands before.
#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::graph::strict::{Message, gitmodules};

fn judged(text: &[u8]) -> Vec<Message> {
    let mut messages = Vec::new();
    gitmodules(text, &mut messages);
    messages
}

fuzz_target!(|data: &[u8]| {
    let messages = judged(data);
    let ids: HashSet<_> = messages.iter().map(|message| message.id).collect();
    assert_eq!(ids.len(), messages.len());
    // A backslash may stand before any letter of a header.
    let lower: Vec<u8> = data.to_ascii_lowercase().into_iter().filter(|&byte| byte != b'\\').collect();
    let has = |text: &[u8]| lower.windows(text.len()).any(|window| window == text);
    for message in &messages {
        assert!(message.detail.len() < 2000, "quoted in full");
        assert!(has(b"[submodule"));
        match message.id {
            "gitmodulesName" => assert!(has(b"..") || has(b"\"\"") || has(b"\0") || has(b"submodule.")),
            "gitmodulesUrl" => assert!(has(b"url")),
            "gitmodulesPath" => assert!(has(b"path") && has(b"-")),
            "gitmodulesUpdate" => assert!(has(b"update") && has(b"!")),
            other => panic!("{other} is no rule for .gitmodules"),
        }
    }
    // Lines of other sections before it change nothing, and a rule broken before it is not forgotten.
    assert_eq!(judged(&[b"; x\n[core]\n\tbare = false # y\n", data].concat()), messages);
    let after = judged(&[b"[submodule \"..\"]\n\tupdate = !x\n\tpath = -x\n\turl = -x\n", data].concat());
    assert_eq!(after.len(), 4);
});
