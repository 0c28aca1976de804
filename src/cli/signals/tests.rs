//! SIGTERM at every step of the write of a record.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::activation::{State, read};
use crate::contract::Contract;
use crate::fs::replace::Step;
use crate::fs::replace::fault::{self, Fault};

/// Names how often, at which step and with which record, for the process that is to be signalled; the test starts itself again with it.
const CASE: &str = "PAIRED_SDK_GATE_TEST_SIGNAL";
const NAME: &str = "cli::signals::tests::a_signal_in_mid_write_leaves_a_whole_record";

const OLD: &str = r#"{
  "schema_version": 1,
  "state": "active",
  "expected_version": "0.0.13",
  "expected_commit": "1111111111111111111111111111111111111111",
  "module_origin": "netbox_sdk/plugin_bridge.py",
  "required_contracts": [
    "lossless-json-integer-identity",
    "bounded-rfc3339-normalization"
  ],
  "reason": "It was proven."
}
"#;

/// Handled before this returns: it goes to this very thread.
fn terminate() {
    signal_hook::low_level::raise(signal_hook::consts::SIGTERM).unwrap();
}

fn twice() {
    terminate();
    terminate();
}

fn block(path: &Path) -> ExitCode {
    let words = ["paired-sdk-gate", "block", "--quiet", "--reason", "A wrong rule was found.", "--record"];
    crate::cli::run(words.into_iter().map(Into::into).chain([path.into()]))
}

fn record() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("record.json");
    std::fs::write(&path, OLD).unwrap();
    (dir, path)
}

fn is_blocked(path: &Path) -> bool {
    *read(path, Contract::bridge_v1()).unwrap().0.state() == State::Blocked
}

/// The first comes too late to stop anything: the write, of a few milliseconds, is finished. The second ends the run at once, and
/// the next one clears away what it left.
#[test]
fn a_signal_in_mid_write_leaves_a_whole_record() {
    if let Ok(case) = std::env::var(CASE) {
        let [times, at, path] = case.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{case}") };
        let meddle = if times == "1" { terminate } else { twice };
        fault::plan(Some((at.parse().unwrap(), Fault::Meddle(meddle))));
        assert_eq!(block(Path::new(path)), ExitCode::SUCCESS);
        return;
    }
    let (_dir, path) = record();
    fault::plan(None);
    assert_eq!(block(&path), ExitCode::SUCCESS);
    let steps = fault::steps();
    let rename = steps.iter().position(|&step| step == Step::Rename).unwrap();
    let create = steps.iter().position(|&step| step == Step::Create).unwrap();
    for (at, step) in steps.iter().enumerate() {
        for (times, code) in [(1, 0), (2, 143)] {
            let (dir, path) = record();
            let mut again = Command::new(std::env::current_exe().unwrap());
            again.args(["--exact", NAME]).env(CASE, format!("{times} {at} {}", path.display()));
            let status = again.stdout(Stdio::null()).status().unwrap();
            assert_eq!(status.code(), Some(code), "{times} {at} {step:?}");
            let whole = if is_blocked(&path) { at > rename || times == 1 } else { at <= rename && times == 2 };
            assert!(whole, "{times} {at} {step:?}");
            if times == 2 && at <= rename {
                assert_eq!(std::fs::read_to_string(&path).unwrap(), OLD, "{at} {step:?}");
            }
            let leftover = dir.path().join(".paired-sdk-gate.tmp").exists();
            assert_eq!(leftover, times == 2 && at > create && at <= rename, "{times} {at} {step:?}");
            assert_eq!(block(&path), ExitCode::SUCCESS);
            assert!(is_blocked(&path));
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        }
    }
}
