//! The contract's oracle: every reason is about a place that is there, `serde_json` judges numbers and members alike where a
//! double is exact, another spelling of the same value has the same verdict, and what is accepted has one normal form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::contract::json::Json;
use paired_sdk_gate::contract::{Judgement, Oracle, Question, Verdict};

fuzz_target!(|data: &[u8]| {
    let oracle = Oracle::bridge_v1();
    let Some((which, bytes)) = data.split_first() else { return };
    let tool = ["list_sync_jobs", "schedule_sync"][usize::from(which % 2)].to_owned();
    let question = match which / 2 % 3 {
        0 => Question::Arguments { tool },
        1 => Question::Response { tool },
        _ => Question::Manifest,
    };
    let judgement = oracle.judge_bytes(&question, bytes);
    let Ok(text) = std::str::from_utf8(bytes) else {
        assert_eq!(judgement.verdict(), Verdict::Reject);
        return;
    };
    let value = Json::parse(text);
    let Judgement { reasons, left_off } = &judgement;
    assert!(reasons.len() <= 100 && (*left_off == 0 || reasons.len() == 100));
    match &value {
        Err(_) => assert!(matches!(&reasons[..], [reason] if reason.rule == "json" && reason.pointer.is_empty())),
        Ok(value) => {
            for reason in reasons {
                assert!(points_at_something(value, &reason.pointer), "{reason}");
            }
            // Without white space and escapes it is the same value.
            assert_eq!(oracle.judge(&question, &value.to_string()), judgement);
            assert_eq!(oracle.judge(&question, &format!("{value:#}")), judgement);
        }
    }
    let normalised = oracle.normalised(&question, text);
    assert_eq!(normalised.is_some(), judgement.verdict() == Verdict::Accept);
    if let (Some(once), Question::Response { .. }) = (&normalised, &question) {
        assert_eq!(oracle.normalised(&question, &once.to_string()).as_ref(), Some(once));
    }
});

/// The member may be what is missing, the rest of the way is there.
fn points_at_something(value: &Json, pointer: &str) -> bool {
    let mut places = vec![value];
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        // Of a repeated member any may be meant.
        places = places
            .into_iter()
            .flat_map(|place| match place {
                Json::Object(members) => {
                    members.iter().filter(|(found, _)| *found == name).map(|(_, value)| value).collect()
                }
                Json::Array(items) => name.parse().ok().and_then(|index: usize| items.get(index)).into_iter().collect(),
                _ => Vec::new(),
            })
            .collect();
        if places.is_empty() {
            return false;
        }
    }
    true
}
