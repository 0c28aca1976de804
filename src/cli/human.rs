//! The report as text for people: a line per check, expected and found where one did not pass, the verdict last.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use crate::check::{Finding, Status};
use crate::report::Verdict;
use crate::report::v1::{Command, RecordAction, Report};

pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(super) const UNSURE: Style = AnsiColor::Yellow.on_default().bold();
const FAINT: Style = Style::new().dimmed();

/// The whole text.
pub(super) fn report(report: &Report, quiet: bool) -> String {
    let mut text = String::new();
    if !quiet {
        // Where nothing ran at all, what stood in the way is the whole story.
        let begun = report.checks.iter().any(|check| check.status != Status::NotRun);
        for check in report.checks.iter().filter(|_| begun) {
            row(&mut text, check.status, check.id, check.claim, &check.findings);
        }
        if let Some(finding) = &report.record.refused {
            line(&mut text, format_args!("{BAD}FAIL{BAD:#}  {:<24} the activation record may be written", "record"));
            push_finding(&mut text, finding);
        }
    }
    conclusion(&mut text, report);
    text
}

/// One check, and why it did not pass.
pub(super) fn row(text: &mut String, status: Status, id: &str, claim: &str, findings: &[Finding]) {
    // The word tells the status; the colour only underlines it.
    let (style, word) = match status {
        Status::Passed => (GOOD, "pass"),
        Status::Failed => (BAD, "FAIL"),
        Status::Error => (UNSURE, "????"),
        Status::NotRun => (FAINT, "----"),
    };
    line(text, format_args!("{style}{word}{style:#}  {id:<24} {claim}"));
    for finding in findings {
        push_finding(text, finding);
    }
}

// Writing to a string cannot fail.
pub(super) fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{arguments}");
}

pub(super) fn push_finding(text: &mut String, finding: &Finding) {
    line(text, format_args!("      {}", printable(&finding.subject)));
    line(text, format_args!("        expected  {}", printable(&finding.expected)));
    line(text, format_args!("        found     {}", printable(&finding.actual)));
    line(text, format_args!("        next      {}", printable(&finding.hint)));
}

/// What comes from the subject may hold control characters; none of them reaches the terminal.
pub(super) fn printable(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escape).collect()
}

/// An error with its causes.
pub(super) fn chain(error: &impl std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn conclusion(text: &mut String, report: &Report) {
    let commit = &report.subject.commit;
    let subject = match &report.subject.version {
        Some(version) => format!("{} {version} at {commit}", report.subject.package),
        None => format!("{} at {commit}", report.subject.package),
    };
    let names = |status: Status| {
        let with = report.checks.iter().filter(|check| check.status == status).map(|check| check.id);
        with.collect::<Vec<_>>().join(", ")
    };
    match report.verdict {
        Verdict::Passed => {
            // Of the fresh ones the report lists only those that showed an advisory.
            let published = report.vectors.iter().filter(|vector| !vector.id.starts_with("generated/")).count();
            let fresh = report.contract.generated;
            let record = match (report.command, report.record.action) {
                (Command::Verify | Command::Snapshot, _) | (_, RecordAction::None) => "",
                (_, RecordAction::Activated) => "; the record is now active",
                (_, RecordAction::Unchanged) => "; the record already said so",
                (_, RecordAction::WouldActivate) => "; the record was not written (--dry-run)",
            };
            let contract = &report.contract.name;
            line(
                text,
                format_args!(
                    "{GOOD}PASSED{GOOD:#}: {subject} honours {contract} ({published} published and {fresh} fresh vectors, two probes){record}"
                ),
            );
        }
        Verdict::Copied => {
            let files = report.package.files.len();
            line(
                text,
                format_args!("{GOOD}COPIED{GOOD:#}: {files} verified files of {subject}; nothing of it was run"),
            );
        }
        Verdict::Refused => {
            line(text, format_args!("{BAD}REFUSED{BAD:#}: {subject}; failed: {}", names(Status::Failed)));
        }
        Verdict::Unverifiable => {
            let why = match (&report.run.interrupted_by, names(Status::Error)) {
                (Some(signal), _) => format!("interrupted by {signal}"),
                (None, names) if names.is_empty() => "not every check ran".into(),
                (None, names) => format!("could not decide: {names}"),
            };
            line(text, format_args!("{UNSURE}UNVERIFIABLE{UNSURE:#}: {subject}; {why}"));
        }
        Verdict::WriteRefused => {
            line(text, format_args!("{BAD}WRITE-REFUSED{BAD:#}: the activation record was not written for {subject}"));
        }
    }
}
