//! Where text goes, and in which colours.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anstream::{AutoStream, ColorChoice};

use super::args::{Color, Format, Global};
use super::progress::Progress;
use crate::check::Stage;
use crate::tally::Tally;

pub(super) struct Output {
    format: Format,
    report: Option<PathBuf>,
    choice: ColorChoice,
    quiet: bool,
    verbose: bool,
    progress: Mutex<Option<Progress>>,
}

impl Output {
    pub(super) fn new(global: &Global) -> Self {
        let choice = match global.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        let Global { format, ref report, quiet, verbose, .. } = *global;
        Output { format, report: report.clone(), choice, quiet, verbose, progress: Mutex::default() }
    }

    pub(super) fn quiet(&self) -> bool {
        self.quiet
    }

    pub(super) fn json(&self) -> bool {
        self.format == Format::Json
    }

    pub(super) fn github(&self) -> bool {
        self.format == Format::Github
    }

    /// Text for people: standard output, unless that carries JSON. A forge that reads commands in it is told not to.
    pub(super) fn text(&self, text: &str) {
        if self.json() {
            self.to_stderr(text);
        } else if self.github() {
            self.to_stdout(&super::github::inert(text));
        } else {
            self.to_stdout(text);
        }
    }

    /// The one JSON object of standard output.
    pub(super) fn object(&self, text: &str) {
        if self.json() {
            self.to_stdout(text);
        }
    }

    /// A document that was asked for, whatever the format.
    pub(super) fn document(&self, text: &str) {
        self.to_stdout(text);
    }

    pub(super) fn error(&self, text: &str) {
        self.to_stderr(&format!("error: {text}\n"));
    }

    /// A stage begins, which counts what it does.
    pub(super) fn stage(&self, stage: Stage, tally: &Arc<Tally>) {
        if self.verbose {
            self.to_stderr(&format!("{}…\n", stage.name()));
        }
        if !self.quiet {
            self.progress(None);
            self.progress(Some(Progress::begin(stage, tally.clone())));
        }
    }

    /// What is on the terminal gives way to what follows.
    fn progress(&self, progress: Option<Progress>) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    // A reader that went away changes no verdict: the exit code still tells it.
    fn to_stdout(&self, text: &str) {
        self.progress(None);
        let _ = AutoStream::new(std::io::stdout().lock(), self.choice).write_all(text.as_bytes());
    }

    fn to_stderr(&self, text: &str) {
        self.progress(None);
        let _ = AutoStream::new(std::io::stderr().lock(), self.choice).write_all(text.as_bytes());
    }

    /// Makes sure the report can be written before any work is done.
    pub(super) fn open_report(&self) -> anyhow::Result<ReportFile> {
        ReportFile::open(self.report.as_deref(), "report")
    }
}

/// A file that is not there until it is complete; none if none was asked for.
pub(super) struct ReportFile(Option<(tempfile::NamedTempFile, PathBuf)>);

/// A file that was asked for and could not be written. Whoever counts on it must not take the run for a yes.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {reason}\n  next: make room for it if there is none, then run again", path.display())]
pub(super) struct Unwritten {
    path: PathBuf,
    reason: std::io::Error,
}

impl ReportFile {
    /// Makes sure that it can be written before any work is done; `what` it is, in words.
    pub(super) fn open(path: Option<&Path>, what: &str) -> anyhow::Result<ReportFile> {
        let Some(path) = path else { return Ok(ReportFile(None)) };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
        let file = tempfile::Builder::new().prefix(".report-").tempfile_in(parent);
        let file =
            file.map_err(|error| super::Usage(format!("cannot create the {what} {}: {error}", path.display())))?;
        Ok(ReportFile(Some((file, path.to_owned()))))
    }

    /// Whether a file was named at all.
    pub(super) fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Puts the text there; the second time nothing.
    pub(super) fn finish(&mut self, text: &str) -> Result<(), Unwritten> {
        self.fill(text)?;
        ReportFile(self.0.take()).persist()
    }

    /// Writes the text where nobody sees it yet.
    pub(super) fn fill(&mut self, text: &str) -> Result<(), Unwritten> {
        use std::os::unix::fs::PermissionsExt;
        let Some((file, path)) = &mut self.0 else { return Ok(()) };
        file.as_file_mut()
            .write_all(text.as_bytes())
            .and_then(|()| file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)))
            .map_err(|reason| Unwritten { path: path.clone(), reason })
    }

    /// Puts what was written in its place.
    pub(super) fn persist(self) -> Result<(), Unwritten> {
        let Some((file, path)) = self.0 else { return Ok(()) };
        file.persist(&path).map(drop).map_err(|error| Unwritten { path, reason: error.error })
    }
}
