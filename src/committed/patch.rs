//! Changes to the producer's repository as one unified diff. The tool writes none of these files itself.

use std::path::Path;

use similar::TextDiff;

use super::ci::{Forge, Pairing};
use super::{Committed, MAX_WORKFLOW, replace, shown};
use crate::activation::{Record, State};

/// A unified diff that `git apply` takes at the producer's root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    text: String,
}

impl Patch {
    /// The diff; empty if nothing has to change.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds one file's change; `None` is a file that is not there.
    fn add(&mut self, file: &str, before: Option<&str>, after: Option<&str>) {
        if before == after {
            return;
        }
        self.text += &format!("diff --git a/{file} b/{file}\n");
        let (mut old, mut new) = (format!("a/{file}"), format!("b/{file}"));
        if before.is_none() {
            self.text += "new file mode 100644\n";
            old = "/dev/null".into();
        }
        if after.is_none() {
            self.text += "deleted file mode 100644\n";
            new = "/dev/null".into();
        }
        let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
        self.text += &diff.unified_diff().header(&old, &new).to_string();
    }
}

impl Committed {
    /// Makes the constants say what this record says. Nothing is changed where they cannot be read.
    pub fn constants_patch(&self, record: &Record, patch: &mut Patch) {
        if let Some(constants) = &self.constants {
            let (before, after) = constants.rewritten(record);
            patch.add(&shown(&self.places.constants), Some(before), Some(&after));
        }
    }

    /// Adds the workflow that proves an identity, or puts it in the place of what its file holds.
    pub fn workflow_patch(&self, root: &Path, pairing: &Pairing<'_>, patch: &mut Patch) {
        let folder = self.places.workflows.iter().find(|folder| root.join(folder).is_dir());
        let forge = folder.map_or(Forge::Github, |folder| Forge::of(folder));
        let before = text(root, forge);
        patch.add(forge.file(), before.as_deref(), Some(&pairing.workflow(forge, self.contract)));
    }

    /// Takes the workflows out that were added for the identity of the record, if they are still as they were added.
    pub fn workflow_removal(&self, root: &Path, record: &Record, action: Option<&str>, patch: &mut Patch) {
        let State::Active { version, commit } = record.state() else { return };
        let pairing = Pairing { version, commit: *commit, repository: Pairing::REPOSITORY, action };
        for forge in [Forge::Github, Forge::Gitea] {
            let before = text(root, forge);
            if before.as_ref().is_some_and(|before| *before == pairing.workflow(forge, self.contract)) {
                patch.add(forge.file(), before.as_deref(), None);
            }
        }
    }
}

fn text(root: &Path, forge: Forge) -> Option<String> {
    String::from_utf8(replace::read(&root.join(forge.file()), MAX_WORKFLOW).ok()?).ok()
}
