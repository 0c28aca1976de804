use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use rustix::io::Errno;
use tempfile::TempDir;

use super::fault::{self, Fault};
use super::*;

const OLD: &[u8] = b"old";
const MAX: u64 = 4096;

/// New content of several chunks.
fn new() -> Vec<u8> {
    (0..CHUNK * 3 + 1).map(|at| at as u8).collect()
}

struct Place {
    directory: TempDir,
    path: PathBuf,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, OLD).unwrap();
        Place { directory, path }
    }

    fn open(&self) -> Result<ReplaceableFile, FileError> {
        ReplaceableFile::open(&self.path, MAX)
    }

    /// Opens, which must fail, and whether the file can be read all the same.
    #[track_caller]
    fn refused(&self) -> (String, bool) {
        let error = self.open().unwrap_err();
        assert!(!error.hint().is_empty());
        let told = error.to_string().replace(&format!("{:?}", self.path), "FILE");
        (told.replace(&format!("{:?}", self.directory.path()), "DIR"), read(&self.path, MAX).is_ok())
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// All that a run can change about a file, but the time of access.
fn state(path: &Path) -> (Vec<u8>, u64, u32, i64, i64) {
    let status = fs::symlink_metadata(path).unwrap();
    (fs::read(path).unwrap(), status.ino(), status.mode(), status.mtime(), status.mtime_nsec())
}

#[test]
fn a_replaced_file_has_the_new_bytes_the_old_mode_and_owner_and_no_company() {
    let place = Place::new();
    // Only root may give files away; for others both stay as they are.
    let _ = chown(&place.path, Some(4242), Some(4343));
    fs::set_permissions(&place.path, Permissions::from_mode(0o2664)).unwrap();
    let before = fs::metadata(&place.path).unwrap();
    place.open().unwrap().replace(&new()).unwrap();
    let after = fs::metadata(&place.path).unwrap();
    assert_eq!(fs::read(&place.path).unwrap(), new());
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_ne!(after.ino(), before.ino());
    assert_eq!(place.names(), ["file"]);
}

#[test]
fn only_a_plain_file_is_opened() {
    let place = Place::new();
    fs::remove_file(&place.path).unwrap();
    assert_eq!(place.refused(), ("cannot inspect FILE".into(), false));

    symlink("elsewhere", &place.path).unwrap();
    fs::write(place.directory.path().join("elsewhere"), OLD).unwrap();
    assert_eq!(place.refused(), ("expected a regular file at FILE, found a symbolic link".into(), false));
    fs::remove_file(&place.path).unwrap();

    fs::create_dir(&place.path).unwrap();
    assert_eq!(place.refused(), ("expected a regular file at FILE, found a directory".into(), false));
    fs::remove_dir(&place.path).unwrap();

    rustix::fs::mknodat(CWD, &place.path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert_eq!(place.refused(), ("expected a regular file at FILE, found a named pipe".into(), false));
    fs::remove_file(&place.path).unwrap();

    fs::hard_link(place.directory.path().join("elsewhere"), &place.path).unwrap();
    let told = "expected a single name for FILE, found 2 hard links to the file";
    assert_eq!(place.refused(), (told.into(), true));
}

#[test]
fn a_read_only_file_or_directory_is_refused_by_its_mode_even_for_root() {
    let place = Place::new();
    fs::set_permissions(&place.path, Permissions::from_mode(0o464)).unwrap();
    assert_eq!(place.refused(), ("expected FILE to be writable, found mode 0464".into(), true));
    fs::set_permissions(&place.path, Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(place.directory.path(), Permissions::from_mode(0o577)).unwrap();
    assert_eq!(place.refused(), ("expected DIR to be writable, found mode 0577".into(), true));
    fs::set_permissions(place.directory.path(), Permissions::from_mode(0o700)).unwrap();
    assert!(place.open().is_ok());
}

#[test]
fn a_path_must_name_a_file_and_not_our_own_temporary_one() {
    for path in ["", "/", "..", "dir/..", ".paired-sdk-gate.tmp", "dir/.Paired-SDK-Gate.TMP"] {
        let told = ReplaceableFile::open(Path::new(path), MAX).unwrap_err().to_string();
        assert_eq!(told, format!("expected the path of a file, found {path:?}"));
    }
    let place = Place::new();
    let inside = ReplaceableFile::open(&place.path.join("inside"), MAX).unwrap_err();
    assert_eq!(inside.to_string(), format!("cannot open the directory {:?}", place.path));
}

#[test]
fn a_file_may_be_as_long_as_the_bound_and_no_longer() {
    let place = Place::new();
    assert_eq!(ReplaceableFile::open(&place.path, 3).unwrap().bytes(), OLD);
    for result in [ReplaceableFile::open(&place.path, 2).map(drop), read(&place.path, 2).map(drop)] {
        let told = format!("expected at most 2 bytes in {:?}, found more", place.path);
        assert_eq!(result.unwrap_err().to_string(), told);
    }
}

#[test]
fn only_a_write_is_locked_and_the_lock_leaves_nothing() {
    let place = Place::new();
    let (first, second) = (place.open().unwrap(), place.open().unwrap());
    let busy = place.open().unwrap();
    // What another process does while it writes.
    busy.directory.lock(&place.path).unwrap();
    let told = format!("another process is at work in the directory of {:?}", place.path);
    assert_eq!(first.replace(b"new").unwrap_err().to_string(), told);
    assert_eq!(second.settle().unwrap_err().to_string(), told);
    assert_eq!((fs::read(&place.path).unwrap(), place.names()), (OLD.to_vec(), vec!["file".to_owned()]));
    // A child between fork and exec shares the descriptor like this; the lock must end all the same.
    let shared = busy.directory.handle.try_clone().unwrap();
    drop(busy);
    place.open().unwrap().replace(b"new").unwrap();
    place.open().unwrap().settle().unwrap();
    drop(shared);
}

#[test]
fn a_file_that_was_to_stay_and_changed_is_no_file_that_stayed() {
    let place = Place::new();
    let file = place.open().unwrap();
    place.open().unwrap().replace(b"new").unwrap();
    let told = format!("{:?} changed since it was read: it holds other bytes", place.path);
    assert_eq!(file.settle().unwrap_err().to_string(), told);
}

#[test]
fn a_file_that_changed_meanwhile_is_left_as_it_is() {
    type Change = fn(&Place);
    let changes: [(&str, Change); 6] = [
        ("it holds other bytes", |place| fs::write(&place.path, "odd").unwrap()),
        ("it holds other bytes", |place| fs::write(&place.path, "older").unwrap()),
        ("another file of the same content took its place", |place| {
            fs::write(place.path.with_extension("new"), OLD).unwrap();
            fs::rename(place.path.with_extension("new"), &place.path).unwrap();
        }),
        ("it has another mode or owner", |place| {
            fs::set_permissions(&place.path, Permissions::from_mode(0o600)).unwrap();
        }),
        ("it is gone", |place| fs::rename(&place.path, place.path.with_extension("old")).unwrap()),
        ("its path leads to another directory", |place| {
            fs::create_dir(place.path.with_extension("dir")).unwrap();
            fs::copy(&place.path, place.path.with_extension("dir").join("file")).unwrap();
        }),
    ];
    for (how, change) in changes {
        let mut place = Place::new();
        fs::set_permissions(&place.path, Permissions::from_mode(0o644)).unwrap();
        let moves = how.contains("directory");
        if moves {
            fs::create_dir(place.directory.path().join("inner")).unwrap();
            fs::rename(&place.path, place.directory.path().join("inner/file")).unwrap();
            place.path = place.directory.path().join("inner/file");
        }
        let file = place.open().unwrap();
        change(&place);
        if moves {
            let inner = place.directory.path().join("inner");
            fs::rename(&inner, place.directory.path().join("moved")).unwrap();
            fs::rename(place.directory.path().join("moved/file.dir"), &inner).unwrap();
        }
        let names = place.names();
        let content = fs::read(&place.path).ok();
        let told = file.replace(&new()).unwrap_err().to_string();
        assert_eq!(told, format!("{:?} changed since it was read: {how}", place.path));
        assert_eq!(place.names(), names, "{how}");
        assert_eq!(fs::read(&place.path).ok(), content, "{how}");
    }
    // What it turned into is told as exactly as at the start.
    let place = Place::new();
    let file = place.open().unwrap();
    fs::hard_link(&place.path, place.path.with_extension("twin")).unwrap();
    assert!(matches!(file.replace(&new()), Err(FileError::HardLinked { links: 2, .. })));
    assert_eq!(fs::read(&place.path).unwrap(), OLD);
}

#[test]
fn a_leftover_of_a_killed_run_is_cleared_away_and_never_followed() {
    let place = Place::new();
    let leftover = place.directory.path().join(TEMPORARY);
    let victim = place.directory.path().join("victim");
    fs::write(&victim, "safe").unwrap();
    symlink("victim", &leftover).unwrap();
    place.open().unwrap().replace(&new()).unwrap();
    assert_eq!(place.names(), ["file", "victim"]);
    assert_eq!(fs::read(&victim).unwrap(), b"safe");

    fs::create_dir(&leftover).unwrap();
    let error = place.open().unwrap().replace(OLD).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot remove the leftover {leftover:?}"));
    assert_eq!(fs::read(&place.path).unwrap(), new());
}

#[test]
fn a_failing_system_call_leaves_the_old_file_untouched_and_is_named() {
    let place = Place::new();
    fault::plan(None);
    place.open().unwrap().replace(&new()).unwrap();
    let steps = fault::steps();
    for step in [Step::Lock, Step::Create, Step::SetOwner, Step::SetMode, Step::SyncFile, Step::Rename] {
        assert_eq!(steps.iter().filter(|&&other| other == step).count(), 1, "{step:?} in {steps:?}");
    }
    assert_eq!(steps.iter().filter(|&&step| step == Step::Write).count(), 4);
    // For the directory, for the file, and for the file again before it is replaced.
    assert_eq!(steps.iter().filter(|&&step| step == Step::AskForAccess).count(), 3);
    let order = |step| steps.iter().rposition(|&other| other == step).unwrap();
    assert!(order(Step::Write) < order(Step::SyncFile) && order(Step::SyncFile) < order(Step::Rename));
    assert_eq!((order(Step::Read), order(Step::SyncDirectory)), (order(Step::Rename) - 1, steps.len() - 1));

    for (at, &step) in steps.iter().enumerate() {
        let place = Place::new();
        let before = state(&place.path);
        fault::plan(Some((at, Fault::Fail(Errno::NOSPC))));
        let result = place.open().and_then(|file| file.replace(&new()));
        fault::plan(None);
        let Err(FileError::Io { step: named, source, .. }) = result else { panic!("{step:?}: {result:?}") };
        assert_eq!((named, source.raw_os_error()), (step, Some(Errno::NOSPC.raw_os_error())));
        assert_eq!(place.names(), ["file"], "{step:?}");
        if step == Step::SyncDirectory {
            assert_eq!(fs::read(&place.path).unwrap(), new());
        } else {
            assert_eq!(state(&place.path), before, "{step:?}");
        }
        place.open().unwrap().replace(OLD).unwrap_or_else(|error| panic!("{step:?}: still locked: {error}"));
    }
}

#[test]
fn who_gets_in_between_two_system_calls_is_noticed() {
    thread_local! {
        static VICTIM: std::cell::RefCell<PathBuf> = const { std::cell::RefCell::new(PathBuf::new()) };
    }
    fn pipe_for_file() {
        VICTIM.with_borrow(|path| {
            fs::remove_file(path).unwrap();
            rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        });
    }
    fn link_for_temporary() {
        VICTIM.with_borrow(|path| fs::hard_link(path, path.with_file_name(TEMPORARY)).unwrap());
    }
    fn another_for_file() {
        VICTIM.with_borrow(|path| {
            fs::write(path.with_extension("new"), OLD).unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        });
    }
    let run = |step: Step, occurrence: usize, meddle: fn()| {
        let rehearsal = Place::new();
        fault::plan(None);
        rehearsal.open().unwrap().replace(&new()).unwrap();
        let (at, _) =
            fault::steps().into_iter().enumerate().filter(|&(_, other)| other == step).nth(occurrence).unwrap();
        let place = Place::new();
        VICTIM.set(place.path.clone());
        fault::plan(Some((at, Fault::Meddle(meddle))));
        let result = place.open().and_then(|file| file.replace(&new()));
        fault::plan(None);
        (place, result.unwrap_err())
    };
    // A pipe nobody writes to: opened without waiting, and not taken for the file.
    let (_place, error) = run(Step::Open, 0, pipe_for_file);
    assert!(matches!(error, FileError::Changed { how: "it is no regular file any more", .. }), "{error}");
    // Another run's rename between opening and looking: the directory, the file before it is opened, and now the file.
    let (_place, error) = run(Step::Inspect, 2, another_for_file);
    assert!(matches!(error, FileError::Changed { how: "another file took its place", .. }), "{error}");
    // Never written through a name that somebody else made.
    let (place, error) = run(Step::Create, 0, link_for_temporary);
    assert_eq!(fs::read(&place.path).unwrap(), OLD);
    let told = format!("cannot create the temporary file {:?}", place.path.with_file_name(TEMPORARY));
    assert_eq!(error.to_string(), told);
}

#[test]
fn every_error_of_the_system_has_a_cure() {
    let io = |step, errno: Errno| FileError::Io { step, path: "record".into(), source: errno.into() };
    for (step, errno, hint) in [
        (Step::Write, Errno::NOSPC, "make room on the file system of the file, then run again"),
        (Step::Write, Errno::DQUOT, "make room on the file system of the file, then run again"),
        (Step::Open, Errno::NOENT, "check the path; `ls -l \"record\"` shows what is there"),
        (Step::Open, Errno::ACCESS, "run as the owner of the file, with write access to its directory"),
        (Step::Rename, Errno::BUSY, "look at `ls -ld \"record\"` and the reason given, then run again"),
        (Step::AskForAccess, Errno::ROFS, "remount the file system writable, or work on a copy"),
        (Step::Lock, Errno::BADF, "put the file on a file system that offers flock, such as a local one"),
        (
            Step::SyncDirectory,
            Errno::IO,
            "the new content is in place but may not survive a power cut; run `sync`, then look at the file",
        ),
    ] {
        assert_eq!(io(step, errno).hint(), hint);
    }
    let record = Path::new("record");
    assert!(require_own(record, 7, Uid::from_raw(7)).is_ok() && require_own(record, 7, Uid::ROOT).is_ok());
    let other = require_own(record, 7, Uid::from_raw(8)).unwrap_err();
    assert_eq!(other.to_string(), "expected \"record\" to belong to user 8, who runs this, found user 7");
    assert_eq!(other.hint(), "run as user 7: `sudo -u '#7' …`");
}
