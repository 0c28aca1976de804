//! A confined Python process with a private folder, and its end.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::channel::Fault;
use super::sandbox::{self, Enforcement, Sandbox};
use crate::environment::Environment;
use crate::fs::{FileError, private_folder};
use crate::limits::Budget;

/// How long the kernel may take to end what was killed.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// One process and whatever it starts, in a process group of its own that is killed when this is dropped. A filter keeps them in that
/// group, so nothing is left over.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    sandbox: Sandbox,
    private: tempfile::TempDir,
}

impl Process {
    /// Starts `bin/python -I -S -B` of the environment on a script, in a fresh folder in `temporary`, the only one it may write to,
    /// and with an empty environment. Besides its folder, `temporary` is readable. It may connect to these TCP `ports`. `complete` adds
    /// arguments and descriptors.
    ///
    /// # Errors
    /// It could not be started.
    pub(super) fn start(
        environment: &Environment,
        script: &str,
        temporary: &Path,
        budget: &Budget,
        ports: &[u16],
        complete: impl FnOnce(&mut Command, &Path) -> Result<(), Fault>,
    ) -> Result<Self, Fault> {
        let private = private_folder(temporary)?;
        let at = |name: &str| private.path().join(name);
        for name in ["home", "tmp"] {
            std::fs::create_dir(at(name)).map_err(FileError::new("create", &at(name)))?;
        }
        let main = at("main.py");
        std::fs::write(&main, script).map_err(FileError::new("write", &main))?;

        let mut command = Command::new(environment.interpreter());
        command.args(["-I", "-S", "-B"]).arg(&main).env_clear();
        command.env("HOME", at("home")).env("TMPDIR", at("tmp")).current_dir(at("tmp")).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        complete(&mut command, private.path())?;

        let mut readable = environment.readable();
        readable.push(temporary.to_owned());
        // A thread of its own, which the sandbox is put on and which ends once the process has inherited it.
        let confined = std::thread::scope(|scope| {
            scope.spawn(|| (sandbox::confine(private.path(), &readable, ports), command.spawn())).join()
        });
        let (mut sandbox, child) =
            confined.map_err(|_| Fault::Pipe(io::Error::other("the thread that starts a process panicked")))?;
        let child = child.map_err(FileError::new("start", environment.interpreter()))?;
        if id(&child).is_some_and(|child| sandbox::limit(child, budget.limits()).is_ok()) {
            sandbox.limits = Enforcement::Full;
        }
        Ok(Process { child, sandbox, private })
    }

    /// The pipes that `complete` asked for.
    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// What the kernel keeps it from doing.
    pub(super) fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// A path in its folder.
    pub(super) fn private(&self, name: &str) -> PathBuf {
        self.private.path().join(name)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = id(&self.child) {
            // The group is the child's own (process_group(0)) and the child has not been waited for: its id is not reused yet.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(group) = id(&self.child) {
            await_end(group);
        }
    }
}

/// Waits until nobody of a killed group runs any more: only then does the private folder stay as it is. Who has ended and was not
/// collected by its new parent, which is not us, counts as gone.
fn await_end(group: Pid) {
    let deadline = Instant::now() + LAST_WORDS;
    while test_kill_process_group(group) != Err(Errno::SRCH) && Instant::now() < deadline {
        let mut members = processes().filter(|process| process.group == group.as_raw_pid());
        if !members.any(|process| !matches!(process.state, 'Z' | 'X')) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// One line of the kernel's table.
pub(super) struct Entry {
    pub(super) id: i32,
    state: char,
    pub(super) parent: i32,
    group: i32,
}

/// The processes of the system, as far as `/proc` shows them.
pub(super) fn processes() -> impl Iterator<Item = Entry> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    folders.filter_map(|folder| {
        let id = folder.file_name().to_str()?.parse().ok()?;
        let line = fs::read(folder.path().join("stat")).ok()?;
        // The name, in brackets, may hold anything.
        let line = String::from_utf8_lossy(&line);
        let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
        let (state, parent, group) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Entry { id, state: state.chars().next()?, parent: parent.parse().ok()?, group: group.parse().ok()? })
    })
}

fn id(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}
