//! Twenty processes at once: one winner, and never less than a whole record.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use super::*;

/// Names the record and the version for one racing process; these tests start themselves again with it.
const CASE: &str = "PAIRED_SDK_GATE_TEST_RACE";
const RACERS: usize = 20;

fn start(name: &str, path: &Path, version: &str) -> Child {
    let mut racer = Command::new(std::env::current_exe().unwrap());
    racer.args(["--exact", &format!("activation::tests::race::{name}"), "--nocapture"]);
    racer.env(CASE, format!("{version} {}", path.display()));
    racer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// The racer's part: says that it is ready, waits for the start, then tries until it was not refused for another's sake.
fn race_if_racer() -> bool {
    let Ok(case) = std::env::var(CASE) else { return false };
    let (version, path) = case.split_once(' ').unwrap();
    let path = Path::new(path);
    println!("\nready");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let approval = Approval::for_tests(identity(version, ONE));
    loop {
        let opened = match open(path) {
            Err(RecordFileError::File(FileError::Changed { .. })) => continue,
            opened => opened.unwrap(),
        };
        match opened.activate(&approval, false) {
            Ok(change) => println!("\noutcome {:?}", change.action),
            Err(WriteRefused::OtherIdentity { version, .. }) => println!("\noutcome {version} won"),
            Err(WriteRefused::File(FileError::Locked { .. } | FileError::Changed { .. })) => {
                std::thread::yield_now();
                continue;
            }
            Err(error) => panic!("{error}"),
        }
        return true;
    }
}

/// Runs the race, reading the record all the while; the outcomes, sorted, and the final record.
fn race(name: &str, version: impl Fn(usize) -> String) -> (Vec<String>, String) {
    let (directory, path) = blocked();
    let mut racers: Vec<_> = (0..RACERS).map(|number| start(name, &path, &version(number))).collect();
    for racer in &mut racers {
        let mut heard = Vec::new();
        let mut byte = [0];
        while !heard.ends_with(b"\nready\n") {
            assert_eq!(racer.stdout.as_mut().unwrap().read(&mut byte).unwrap(), 1, "a racer fell before the start");
            heard.push(byte[0]);
        }
    }
    for racer in &mut racers {
        let mut start = racer.stdin.take().unwrap();
        start.flush().unwrap();
        drop(start);
    }
    let whole: Vec<_> = (0..RACERS).map(|number| activated(&version(number), ONE)).collect();
    while racers.iter_mut().any(|racer| racer.try_wait().unwrap().is_none()) {
        let seen = fs::read_to_string(&path).unwrap();
        assert!(seen == BLOCKED || whole.contains(&seen), "torn: {seen}");
    }
    let outcome = |racer: Child| {
        let output = racer.wait_with_output().unwrap();
        assert!(output.status.success());
        let told = String::from_utf8(output.stdout).unwrap();
        told.lines().find_map(|line| line.strip_prefix("outcome ")).unwrap().to_owned()
    };
    let mut outcomes: Vec<_> = racers.into_iter().map(outcome).collect();
    outcomes.sort();
    assert_alone(directory.path());
    (outcomes, fs::read_to_string(&path).unwrap())
}

#[test]
fn of_twenty_identities_one_wins_and_every_other_run_is_told_which() {
    if race_if_racer() {
        return;
    }
    let version = |number| format!("1.0.{number}");
    let (outcomes, record) = race("of_twenty_identities_one_wins_and_every_other_run_is_told_which", version);
    let winner = (0..RACERS).map(version).find(|version| activated(version, ONE) == record).unwrap();
    let mut expected = vec![format!("{winner} won"); RACERS - 1];
    expected.push("Activated".into());
    assert_eq!(outcomes, expected);
}

#[test]
fn of_twenty_runs_of_one_identity_one_writes_and_the_others_change_nothing() {
    if race_if_racer() {
        return;
    }
    let name = "of_twenty_runs_of_one_identity_one_writes_and_the_others_change_nothing";
    let (outcomes, record) = race(name, |_| "0.0.13".into());
    assert_eq!(record, activated("0.0.13", ONE));
    let mut expected = vec!["Unchanged".to_owned(); RACERS - 1];
    expected.insert(0, "Activated".into());
    assert_eq!(outcomes, expected);
}

#[test]
fn a_record_can_be_blocked_while_an_identity_is_being_proven_and_stays_blocked() {
    for active_before in [false, true] {
        let (directory, path) = blocked();
        if active_before {
            let _ = activate(&path, "0.0.13", ONE).unwrap();
        }
        let proving = open(&path).unwrap();
        let change = open(&path).unwrap().block("A wrong rounding rule was found.", false).unwrap();
        assert_eq!(change.action, Action::Blocked);
        let refused = proving.activate(&Approval::for_tests(identity("0.0.13", ONE)), false).unwrap_err();
        assert!(matches!(refused, WriteRefused::File(FileError::Changed { how: "it holds other bytes", .. })));
        assert_eq!(fs::read_to_string(&path).unwrap().into_bytes(), change.after);
        assert_alone(directory.path());
    }
}
