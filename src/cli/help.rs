//! `explain`, `completions` and `man`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::args::Arguments;
use super::doctor;
use super::output::Output;
use crate::check::Check;
use crate::committed::{self, Kind};

#[derive(Debug, Args)]
pub(super) struct Explain {
    /// A check of the report or a drift of `check`; without it, all of them are listed
    #[arg(value_name = "ID")]
    id: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn explain(options: &Explain, output: &Output) -> anyhow::Result<u8> {
    let Some(id) = &options.id else {
        let checks = Check::all().map(|check| (check.id(), check.claim()));
        let drifts = committed::TABLE.iter().map(|kind| (kind.id(), kind.meaning()));
        let host = [(doctor::ROOM, doctor::ROOM_CLAIM)];
        let lines: String = checks.chain(drifts).chain(host).map(|(id, words)| format!("{id:<28} {words}\n")).collect();
        output.document(&lines);
        return Ok(0);
    };
    if let Some(check) = Check::from_id(id) {
        let (fails, cure) = check.explanation();
        let stage = check.stage().name();
        output.document(&format!(
            "{id} (stage {stage})\n  proves  {}\n  fails   {fails}\n  cure    {cure}\n",
            check.claim()
        ));
    } else if let Some(kind) = Kind::from_id(id) {
        let cure = kind.cure("FILE");
        output.document(&format!("{id} (drift)\n  means   {}\n  cure    {cure}\n", kind.meaning()));
    } else if id == doctor::ROOM {
        let claim = doctor::ROOM_CLAIM;
        output.document(&format!(
            "{id} (doctor)\n  proves  {claim}\n  cure    make room there, or name another folder in TMPDIR\n"
        ));
    } else {
        anyhow::bail!(super::Usage(format!("no check or drift is called {id:?}; `explain` alone lists them")));
    }
    Ok(0)
}

pub(super) fn completions(options: &Completions, output: &Output) -> anyhow::Result<u8> {
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), env!("CARGO_PKG_NAME"), &mut text);
    output.document(&String::from_utf8(text)?);
    Ok(0)
}

pub(super) fn man(output: &Output) -> anyhow::Result<u8> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Arguments::command()).render(&mut text)?;
    output.document(&String::from_utf8(text)?);
    Ok(0)
}
