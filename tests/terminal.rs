//! What a person sees on a terminal: the line of progress, and colours.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use paired_sdk_gate::check::Stage;

use crate::support::gate::{gate, identified};

/// Goes back to the line's beginning, and erases it.
const ERASE: &str = "\r\u{1b}[2K";

/// Which streams are the terminal.
#[derive(Clone, Copy, PartialEq)]
enum Streams {
    Both,
    Output,
    Errors,
}

/// What a terminal of so many columns was given by the embedded SDK's whole run, and the run's exit code.
fn shown(columns: u16, streams: Streams, complete: impl FnOnce(&mut Command)) -> (String, i32) {
    let mut demo = gate();
    complete(demo.arg("demo"));
    on_terminal(columns, streams, demo)
}

/// What a terminal of so many columns was given by this command, and the command's exit code.
fn on_terminal(columns: u16, streams: Streams, mut command: Command) -> (String, i32) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = openpt(flags).unwrap();
    unlockpt(&terminal).unwrap();
    let other_end = || ioctl_tiocgptpeer(&terminal, flags).unwrap();
    tcsetwinsize(&terminal, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    if !command.get_envs().any(|(name, _)| name == "TERM") {
        command.env("TERM", "xterm-256color");
    }
    command.stdout(if streams == Streams::Errors { Stdio::null() } else { other_end().into() });
    command.stderr(if streams == Streams::Output { Stdio::null() } else { other_end().into() });
    let mut running = command.spawn().unwrap();
    // It holds the other end, too.
    drop(command);
    let mut bytes = Vec::new();
    // It ends with an error, once nobody holds the other end.
    let end = File::from(terminal).read_to_end(&mut bytes).unwrap_err();
    assert_eq!(end.raw_os_error(), Some(rustix::io::Errno::IO.raw_os_error()));
    (String::from_utf8(bytes).unwrap(), running.wait().unwrap().code().unwrap())
}

#[test]
fn a_terminal_shows_one_line_per_stage_while_it_lasts() {
    let (text, code) = shown(100, Streams::Both, |_| {});
    assert_eq!(code, 0, "{text}");
    let drawn: Vec<_> = text.split(ERASE).collect();
    for stage in Stage::ALL {
        let line = format!(" {:<11}  ", stage.name());
        assert!(drawn.iter().any(|drawn| drawn.contains(&line)), "{line}: {text:?}");
    }
    let counted = |drawn: &&str| drawn.contains(" answers, ") && drawn.trim_end().ends_with("/s, 0:00");
    assert!(drawn.iter().any(counted), "{text:?}");
    // What is drawn is erased before anything else is said.
    let said = drawn.iter().filter(|drawn| drawn.contains('\n')).map(|said| said.split_once('\n').unwrap().0);
    let verdicts: Vec<_> = said.map(|said| said.split(' ').next().unwrap()).collect();
    assert_eq!(verdicts, ["accepted", "refused", "refused", "refused", "refused"]);
    assert!(drawn.last().unwrap().ends_with(": one SDK accepted, four refused\r\n"), "nothing of it stays: {text:?}");
}

#[test]
fn the_line_of_progress_fits_a_narrow_terminal() {
    let (text, code) = shown(24, Streams::Errors, |_| {});
    assert_eq!(code, 0, "{text}");
    let drawn: Vec<_> = text.split(ERASE).collect();
    assert!(drawn.iter().all(|line| line.chars().count() <= 24 && !line.contains('\u{1b}')), "{text:?}");
    assert!(drawn.iter().any(|line| line.contains(" behaviour    ")), "{text:?}");
}

#[test]
fn there_is_no_line_of_progress_where_nobody_wants_or_sees_it() {
    let (text, code) = shown(100, Streams::Output, |_| {});
    assert_eq!((code, text.contains(ERASE)), (0, false), "errors go elsewhere: {text:?}");
    let (text, code) = shown(100, Streams::Errors, |demo| _ = demo.arg("--quiet"));
    assert_eq!((code, &*text), (0, ""));
    let (text, code) = shown(100, Streams::Errors, |demo| _ = demo.env("TERM", "dumb"));
    assert_eq!((code, &*text), (0, ""));
}

#[test]
fn colour_is_only_underlining_and_can_be_had_without() {
    let empty = tempfile::tempdir().unwrap();
    let refused = |complete: fn(&mut Command)| {
        let mut verify = identified("verify", empty.path(), &"1".repeat(40), "0.0.13", empty.path());
        complete(&mut verify);
        let (text, code) = on_terminal(100, Streams::Output, verify);
        assert_eq!(code, 3, "{text:?}");
        text
    };
    let coloured = refused(|_| {});
    assert!(coloured.contains("\u{1b}[1m\u{1b}[33m????\u{1b}[0m  git.repository"), "{coloured:?}");
    for plain in
        [refused(|verify| _ = verify.env("NO_COLOR", "1")), refused(|verify| _ = verify.args(["--color", "never"]))]
    {
        assert!(plain.contains("????  git.repository") && !plain.contains('\u{1b}'), "{plain:?}");
    }
}
