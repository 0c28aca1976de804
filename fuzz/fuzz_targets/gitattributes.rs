//! `.gitattributes`: the rule of the long line, by another way of counting.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::graph::strict::gitattributes;

fuzz_target!(|data: &[u8]| {
    let mut messages = Vec::new();
    gitattributes(data, &mut messages);
    let (mut line, mut length, mut long) = (1, 0, None);
    for &byte in data.iter().take_while(|&&byte| byte != 0) {
        length += 1;
        if byte == b'\n' {
            (line, length) = (line + 1, 0);
        } else if length == 2048 && long.is_none() {
            long = Some(line);
        }
    }
    let details: Vec<_> = messages.iter().map(|message| (message.id, message.detail.as_str())).collect();
    match long {
        None => assert_eq!(details, []),
        Some(line) => {
            let detail = format!("line {line} has 2048 bytes or more");
            assert_eq!(details, [("gitattributesLineLength", detail.as_str())]);
        }
    }
});
