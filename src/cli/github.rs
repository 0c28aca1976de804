//! What a forge reads in the output: annotations on lines, and a summary of the step.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::check::Finding;
use crate::report::v1::{CheckResult, Report};

/// The forge shows ten annotations of a step, and no more.
const MOST: usize = 10;

/// One annotation.
pub(super) struct Annotation {
    pub(super) file: Option<String>,
    pub(super) line: Option<usize>,
    pub(super) title: String,
    pub(super) message: String,
}

/// At most ten as commands of the forge; the last says how many more there are.
pub(super) fn annotations(mut all: Vec<Annotation>) -> String {
    if all.len() > MOST {
        let more = all.len() - (MOST - 1);
        all.truncate(MOST - 1);
        let message = format!("{more} further findings are in the log");
        all.push(Annotation { file: None, line: None, title: "and more".into(), message });
    }
    let mut text = String::new();
    for Annotation { file, line, title, message } in all {
        let mut properties = Vec::new();
        properties.extend(file.map(|file| format!("file={}", property(&file))));
        properties.extend(line.map(|line| format!("line={line}")));
        properties.push(format!("title={}", property(&title)));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "::error {}::{}", properties.join(","), data(&message));
    }
    text
}

/// The annotations of a report, and its summary.
pub(super) fn report(report: &Report) -> String {
    let text = super::human::report(report, false);
    of_checks(&report.checks, report.record.refused.as_slice(), &text)
}

/// The annotations of checks, and of findings about the `record`; the summary is that text.
pub(super) fn of_checks(checks: &[CheckResult], record: &[Finding], text: &str) -> String {
    let findings = checks.iter().flat_map(|check| check.findings.iter().map(|finding| (check.id, finding)));
    let all = findings.chain(record.iter().map(|finding| ("record", finding))).map(|(title, finding)| {
        let message =
            format!("{}: expected {}, found {}. {}", finding.subject, finding.expected, finding.actual, finding.hint);
        Annotation { file: None, line: None, title: title.to_owned(), message }
    });
    let name = env!("CARGO_PKG_NAME");
    summarise(&format!("### `{name}`\n\n```text\n{}```\n", anstream::adapter::strip_str(text)));
    annotations(all.collect())
}

/// Appends to the step's summary, if the forge has one. A summary that cannot be written changes no verdict.
pub(super) fn summarise(markdown: &str) {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else { return };
    if let Ok(mut file) = std::fs::File::options().append(true).create(true).open(path) {
        let _ = file.write_all(markdown.as_bytes());
    }
}

/// Text in which the forge finds no commands, whatever comes from the subject.
pub(super) fn inert(text: &str) -> String {
    if !text.contains("::") && !text.contains("##[") {
        return text.to_owned();
    }
    text.replace("::", ":\u{200b}:").replace("##[", "#\u{200b}#[")
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotation(message: &str) -> Annotation {
        Annotation { file: Some("a,b:c%\n.yml".into()), line: Some(7), title: "x.y".into(), message: message.into() }
    }

    #[test]
    fn what_would_be_a_command_is_escaped() {
        let text = annotations(vec![annotation("one\r\n::error::two 100%")]);
        assert_eq!(text, "::error file=a%2Cb%3Ac%25%0A.yml,line=7,title=x.y::one%0D%0A::error::two 100%25\n");
        assert_eq!(inert("a: b\n"), "a: b\n");
        assert!(!inert("::stop-commands::x ##[group]").contains("::") && !inert("##[group]").contains("##["));
    }

    #[test]
    fn the_eleventh_is_counted_and_not_shown() {
        let ten = annotations((0..10).map(|_| annotation("m")).collect());
        assert_eq!((ten.lines().count(), ten.contains("further")), (10, false));
        let cut = annotations((0..13).map(|_| annotation("m")).collect());
        assert_eq!(
            (cut.lines().count(), cut.lines().last()),
            (10, Some("::error title=and more::4 further findings are in the log"))
        );
    }
}
