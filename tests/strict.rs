//! Our object rules against the system's git: the same ids, object by object.

pub mod cases;
mod fsck;
mod mutations;

use std::collections::BTreeSet;

use fsck::Store;

#[test]
fn every_case_breaks_exactly_the_rules_it_names_and_git_agrees() {
    let cases = cases::cases();
    assert!(cases.len() >= 250, "{}", cases.len());
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "one name per case");

    let mut store = Store::default();
    for (kind, data) in cases::foundation() {
        store.add(kind, data);
    }
    let mut subjects = Vec::new();
    for case in &cases {
        let ids: Vec<_> = case.objects().into_iter().map(|(kind, data)| store.add(kind, data)).collect();
        subjects.push(ids[0]);
    }
    let (ours, gits) = (store.judged_by_us(), store.judged_by_git());
    let mut wrong = Vec::new();
    for (case, subject) in cases.iter().zip(subjects) {
        let of = |all: &fsck::Verdicts| all.get(&subject).cloned().unwrap_or_default();
        let expected: BTreeSet<_> = case.broken.iter().map(|&id| id.to_owned()).collect();
        if of(&ours) != expected || of(&gits) != expected {
            wrong.push(format!("{}: expected {expected:?}, ours {:?}, git {:?}", case.name, of(&ours), of(&gits)));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert_eq!(ours, gits, "and nothing else is wrong");
}
