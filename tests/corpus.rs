//! The corpus: one checkout a case, sound or not, and what the git half has to say of it. The cases for single objects are those
//! of [`crate::strict`], each behind a sound commit; the rest is about everything around objects.

mod checkout;
mod names;
mod places;
#[cfg(not(feature = "offline"))]
mod reference;
mod storage;
mod surroundings;

use std::collections::BTreeSet;

use paired_sdk_gate::check::Status;
use paired_sdk_gate::parallel;
use paired_sdk_gate::report::Verdict;

use checkout::{Base, Checkout};

/// What the git half has to conclude.
#[derive(Clone, Debug)]
enum Expected {
    /// Every check passes.
    Sound,
    /// This check fails; the texts are in what it found, or are the subjects of it. For a rule of git: its message id.
    Refused(&'static str, Vec<String>),
    /// This check cannot be decided, for that reason.
    Undecided(&'static str, Vec<String>),
}

fn refused(check: &'static str, text: &str) -> Expected {
    Expected::Refused(check, vec![text.to_owned()])
}

fn undecided(check: &'static str, text: &str) -> Expected {
    Expected::Undecided(check, vec![text.to_owned()])
}

/// Does something to a sound checkout.
type Spoil = Box<dyn Fn(&mut Checkout) + Send + Sync>;

/// One checkout.
struct Case {
    /// Unique; says what was done to a sound one.
    name: String,
    base: Base,
    spoil: Spoil,
    expected: Expected,
}

impl Case {
    fn new(
        name: impl Into<String>,
        base: Base,
        spoil: impl Fn(&mut Checkout) + Send + Sync + 'static,
        expected: Expected,
    ) -> Self {
        Case { name: name.into(), base, spoil: Box::new(spoil), expected }
    }

    fn make(&self) -> Checkout {
        let mut checkout = Checkout::new(&self.base);
        (self.spoil)(&mut checkout);
        checkout
    }

    /// What is wrong with what we say, if anything.
    fn judge(&self) -> Option<String> {
        let checkout = self.make();
        let (verdict, checks) = checkout.verdict();
        let (right, status, check, texts) = match &self.expected {
            Expected::Sound => {
                return (verdict != Verdict::Copied).then(|| format!("{}: {verdict:?} {checks:#?}", self.name));
            }
            Expected::Refused(check, texts) => (Verdict::Refused, Status::Failed, check, texts),
            Expected::Undecided(check, texts) => (Verdict::Unverifiable, Status::Error, check, texts),
        };
        let found = checks.iter().find(|entry| entry.0 == *check && entry.1 == status);
        let says = |text: &String| found.is_some_and(|(.., told)| told.iter().any(|told| told.contains(&**text)));
        let good = verdict == right && !texts.is_empty() && texts.iter().all(says);
        (!good).then(|| format!("{}: expected {:?}, was {verdict:?} {checks:#?}", self.name, self.expected))
    }
}

/// Every case.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for case in crate::strict::cases::cases() {
        let texts: Vec<_> = case.broken.iter().map(|id| format!("{id}: ")).collect();
        let expected = if texts.is_empty() { Expected::Sound } else { Expected::Refused("git.well-formed", texts) };
        cases.push(Case::new(case.name.clone(), Base::Behind(Box::new(case)), |_| (), expected));
    }
    cases.extend(storage::cases());
    cases.extend(places::cases());
    cases.extend(surroundings::cases());
    cases.extend(names::cases());
    cases
}

#[test]
fn every_case_ends_in_its_verdict_with_its_check_and_its_message() {
    let cases = cases();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "one name per case");
    let wrong: Vec<_> = parallel::map(&cases, Case::judge).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let rules = cases.iter().filter(|case| matches!(case.base, Base::Behind(_))).count();
    assert!(rules >= 250 && cases.len() >= rules + 110, "{rules} cases of single objects among {}", cases.len());
}
