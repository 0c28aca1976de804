//! Killed at every step of the write: the old or the new record, and the next run succeeds.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use super::*;
use crate::fs::replace::Step;
use crate::fs::replace::fault::{self, Fault};

/// Names the record and the step for the process that is to die; this test starts itself again with it.
const CASE: &str = "PAIRED_SDK_GATE_TEST_CRASH";
const NAME: &str = "activation::tests::crash::killed_at_every_step_the_record_is_old_or_new_and_a_rerun_succeeds";

#[test]
fn killed_at_every_step_the_record_is_old_or_new_and_a_rerun_succeeds() {
    if let Ok(case) = std::env::var(CASE) {
        let (at, path) = case.split_once(' ').unwrap();
        fault::plan(Some((at.parse().unwrap(), Fault::Kill)));
        let change = activate(Path::new(path), "0.0.13", ONE).unwrap();
        assert_eq!(change.action, Action::Activated);
        fault::die();
    }

    let (_directory, path) = blocked();
    fault::plan(None);
    let _ = activate(&path, "0.0.13", ONE).unwrap();
    let steps = fault::steps();
    let rename = steps.iter().position(|&step| step == Step::Rename).unwrap();
    let create = steps.iter().position(|&step| step == Step::Create).unwrap();
    let writes = steps.iter().filter(|&&step| step == Step::Write).count();
    assert!(writes >= 3, "the record is written in {writes} parts, so no kill falls into the middle of it");

    let new = activated("0.0.13", ONE);
    let mut torn_temporaries = 0;
    // One past the last step: killed when all is done.
    for at in 0..=steps.len() {
        let step = steps.get(at);
        let (directory, path) = blocked();
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", NAME]).env(CASE, format!("{at} {}", path.display()));
        let status = again.stdout(Stdio::null()).status().unwrap();
        assert_eq!(status.signal(), Some(9), "{at} {step:?}");

        let expected = if at <= rename { BLOCKED } else { &new };
        assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{at} {step:?}");
        let leftover = directory.path().join(".paired-sdk-gate.tmp");
        assert_eq!(leftover.exists(), at > create && at <= rename, "{at} {step:?}");
        let (now, left) = (if at <= rename { "old" } else { "new" }, leftover.exists());
        println!("killed before {at:>2} {:<16} record {now}, leftover {left}", format!("{step:?}"));
        let length = fs::metadata(&leftover).map_or(0, |left| left.len() as usize);
        torn_temporaries += usize::from(length > 0 && length < new.len());

        let rerun = activate(&path, "0.0.13", ONE).unwrap();
        let action = if at <= rename { Action::Activated } else { Action::Unchanged };
        assert_eq!(rerun.action, action, "{at} {step:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), new, "{at} {step:?}");
        assert_alone(directory.path());
    }
    assert_eq!(torn_temporaries, writes - 1);
}

#[test]
fn an_untouched_record_is_made_durable_all_the_same() {
    let (_directory, path) = blocked();
    let _ = activate(&path, "0.0.13", ONE).unwrap();
    fault::plan(None);
    assert_eq!(activate(&path, "0.0.13", ONE).unwrap().action, Action::Unchanged);
    assert_eq!(fault::steps().last(), Some(&Step::SyncDirectory));
}
