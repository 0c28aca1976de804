use super::*;
use crate::contract::Contract;
use proptest::prelude::*;

fn schedule() -> Question {
    Question::Arguments { tool: "schedule_sync".into() }
}

fn told(question: &Question, text: &str) -> Vec<String> {
    Oracle::bridge_v1().judge(question, text).reasons.iter().map(ToString::to_string).collect()
}

#[test]
fn every_published_vector_is_judged_as_published() {
    let oracle = Oracle::bridge_v1();
    for vector in Contract::bridge_v1().vectors().unwrap() {
        let judgement = oracle.judge(&vector.question, &vector.input);
        assert_eq!(judgement.verdict(), vector.expected, "{} {judgement:?}", vector.id);
    }
}

#[test]
fn the_text_itself_is_judged() {
    let long = format!("[{}]", " ".repeat(MAX_BYTES));
    for (text, reasons) in [
        ("{", vec!["(the whole input): expected `\"` at byte 1, found the end (json)"]),
        (long.as_str(), vec!["(the whole input): expected at most 1048576 bytes, found 1048578 (size)"]),
        (
            r#"{"sync_stages":["storage"],"sync_stages":["sdn"]}"#,
            vec![
                "/sync_stages: expected each member once, as readers differ on which one counts, found another (repeated-member)",
            ],
        ),
        (
            r#"{"sync_stages":["storage"],"job_name":"\ud800"}"#,
            vec!["(the whole input): expected the other half of a surrogate pair at byte 45, found \"\\\"}\" (json)"],
        ),
        (
            r#"{"sync_stages":["storage"],"proxmox_endpoint_ids":[NaN,7.0000000000000000000000001]}"#,
            vec![
                "/proxmox_endpoint_ids/0: expected a number that JSON has, found NaN (json)",
                "/proxmox_endpoint_ids/0: expected integer, found NaN (integer)",
                "/proxmox_endpoint_ids/1: expected integer, found 7.0000000000000000000000001 (integer)",
            ],
        ),
    ] {
        assert_eq!(told(&schedule(), text), reasons);
    }
    let unknown = Question::Response { tool: "x".into() };
    assert_eq!(told(&unknown, "{}"), ["(the whole input): expected a tool of the manifest, found \"x\" (tool)"]);
}

#[test]
fn every_reason_is_told_up_to_a_bound() {
    let bad = format!(r#"{{"sync_stages":[{}1],"job_name":7,"x":null}}"#, "1,".repeat(149));
    let judgement = Oracle::bridge_v1().judge(&schedule(), &bad);
    // Of 150 items each is no string and no slug, and all but one are repeated; two other members are wrong too.
    assert_eq!((judgement.reasons.len(), judgement.left_off), (100, 149 + 150 * 2 + 2 - 100));
}

#[test]
fn another_manifest_makes_another_oracle() {
    let published = Contract::bridge_v1().manifest();
    let other = Oracle::new(&published.replace("\"maxLength\": 200", "\"maxLength\": 3")).unwrap();
    let text = r#"{"sync_stages":["sdn"],"job_name":"four"}"#;
    assert_eq!(other.judge(&schedule(), text).verdict(), Verdict::Reject);
    assert_eq!(Oracle::bridge_v1().judge(&schedule(), text).verdict(), Verdict::Accept);
    assert_eq!(Oracle::new(published).unwrap().manifest(), Oracle::bridge_v1().manifest());
    let refused = Oracle::new(&published.replace("sync/schedule/", "/sync/schedule/")).unwrap_err();
    let told: Vec<_> = refused.reasons.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [0, 1].map(|tool| format!(
            "/tools/{tool}/path: expected a relative path without empty, . and .. segments, found \"\" (path)"
        ))
    );
}

/// Doubling the input must not do more than double the work; hashing and memory make room for noise.
#[test]
fn the_time_is_linear() {
    let shapes: [fn(usize) -> String; 8] = [
        |size| format!(r#"{{"sync_stages":[{}"sdn"]}}"#, "\"sdn\",".repeat(size / 6)),
        |size| {
            format!(
                r#"{{"proxmox_endpoint_ids":[{}]}}"#,
                (0..size / 7).map(|id| (id + 99_999).to_string()).collect::<Vec<_>>().join(",")
            )
        },
        |size| format!(r#"{{"proxmox_endpoint_ids":[{}]}}"#, "9".repeat(size)),
        |size| format!(r#"{{"proxmox_endpoint_ids":[1e{}]}}"#, "9".repeat(size)),
        |size| format!(r#"{{"proxmox_endpoint_ids":[0.{}1e{size}]}}"#, "0".repeat(size)),
        |size| format!("{{{}\"a\":1}}", (0..size / 10).map(|name| format!("\"{name}\":1,")).collect::<String>()),
        |size| format!("{{\"{}\":[{}1]}}", "k".repeat(size / 2), "1,".repeat(size / 4)),
        |size| format!("{}{}", "[".repeat(size / 2), "]".repeat(size / 2)),
    ];
    for shape in shapes {
        let time = |size: usize| {
            let text = shape(size);
            (0..3)
                .map(|_| {
                    let start = std::time::Instant::now();
                    for question in [schedule(), Question::Manifest] {
                        let _ = Oracle::bridge_v1().judge(&question, &text);
                    }
                    start.elapsed()
                })
                .min()
                .unwrap()
        };
        let (small, large) = (time(MAX_BYTES / 16), time(MAX_BYTES - 100));
        let start = &shape(40)[..30];
        assert!(large < small * 80 + std::time::Duration::from_millis(100), "{start}: {small:?} {large:?}");
    }
}

proptest! {
    #[test]
    fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..2000), text in r#"([\[\]{},:"0-9eE.+-]|\PC|"sync_stages"|\\u[0-9a-f]{4}){0,80}"#) {
        let oracle = Oracle::bridge_v1();
        for text in [String::from_utf8_lossy(&bytes).into_owned(), text] {
            for question in [schedule(), Question::Response { tool: "list_sync_jobs".into() }, Question::Manifest] {
                let _ = oracle.judge(&question, &text);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn never_panics_on_a_megabyte(chunk in proptest::collection::vec(any::<u8>(), 1..200), repeat in 1000usize..5243) {
        let bytes: Vec<_> = chunk.iter().copied().cycle().take(chunk.len() * repeat).collect();
        let text = String::from_utf8_lossy(&bytes);
        let _ = Oracle::bridge_v1().judge(&schedule(), &text);
        let _ = Oracle::bridge_v1().judge(&Question::Manifest, &text);
    }
}
