use super::*;

fn finding() -> Finding {
    Finding::new("s", "e", "a", "h")
}

#[test]
fn ids_are_unique_and_the_table_is_grouped_by_stage_in_pipeline_order() {
    let mut ids: Vec<_> = Check::all().map(Check::id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), TABLE.len() + TOOLS.len());
    assert!(Check::all().is_sorted_by_key(Check::stage));
    for (index, check) in Check::all().enumerate() {
        assert_eq!(check as usize, index);
        assert_eq!(Check::from_id(check.id()), Some(check));
    }
    assert_eq!(Check::from_id("git.nothing"), None);
}

#[test]
fn a_row_nobody_recorded_blocks_its_stage() {
    for forgotten in Check::all() {
        let mut ledger = Ledger::new();
        for check in Check::all().filter(|&check| check != forgotten) {
            ledger.record(check, Vec::new());
        }
        assert!(ledger.close(forgotten.stage()).is_err(), "{}", forgotten.id());
        assert_eq!(ledger.all_passed(), TOOLS.contains(&forgotten));
        ledger.record(forgotten, Vec::new());
        assert!(ledger.close(forgotten.stage()).is_ok());
        assert!(ledger.all_passed());
    }
}

#[test]
fn a_long_list_of_findings_is_cut_and_counted() {
    assert_eq!(limited(vec![finding(); 20]), vec![finding(); 20]);
    let cut = limited(vec![finding(); 23]);
    assert_eq!((cut.len(), cut[20].actual.as_str()), (21, "3 further findings"));
}

#[test]
fn one_stage_of_another_ledger_is_taken_over() {
    let mut other = Ledger::new();
    other.record(Check::GitHead, Vec::new());
    other.record(Check::EnvironmentRoot, vec![finding()]);
    let mut ledger = Ledger::new();
    ledger.adopt(Stage::Environment, other);
    assert_eq!(ledger.status(Check::GitHead), Status::NotRun);
    assert_eq!(ledger.status(Check::EnvironmentRoot), Status::Failed);
    assert_eq!(ledger.status(Check::EnvironmentOwned), Status::NotRun);
    // Nothing it says makes good what is known already.
    let mut better = Ledger::new();
    better.record(Check::EnvironmentRoot, Vec::new());
    ledger.adopt(Stage::Environment, better);
    assert_eq!(ledger.status(Check::EnvironmentRoot), Status::Failed);
}

#[test]
fn a_long_part_of_a_finding_is_cut_between_two_characters() {
    let fits = "é".repeat(500);
    let long = format!("x{fits}");
    let finding = Finding::new(fits.clone(), long.clone(), "a", long.clone());
    let cut = format!("x{}… (cut off, 1001 bytes in all)", "é".repeat(499));
    assert_eq!((finding.subject, finding.expected, finding.hint), (fits, cut.clone(), cut));
}

#[test]
fn results_never_improve() {
    let mut ledger = Ledger::new();
    ledger.undecided(Check::GitHead, finding());
    ledger.record(Check::GitHead, Vec::new());
    assert_eq!(ledger.status(Check::GitHead), Status::Error);
    ledger.record(Check::GitHead, vec![finding()]);
    assert_eq!(ledger.status(Check::GitHead), Status::Failed);
    ledger.undecided(Check::GitHead, finding());
    ledger.record(Check::GitHead, Vec::new());
    assert_eq!(ledger.status(Check::GitHead), Status::Failed);
    assert!(ledger.close(Stage::Graph).is_err());
}
