//! What a run may not leave behind: processes, and sockets that listen.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Processes that were started in a private folder in `temporary`: it stands in their environment, their arguments or their files.
pub fn survivors(temporary: &Path) -> Vec<String> {
    let marker = temporary.to_string_lossy();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten().filter(|entry| entry.path().join("stat").exists()) {
        let told = ["environ", "cmdline", "maps"].map(|name| fs::read(entry.path().join(name)).unwrap_or_default());
        if told.iter().any(|bytes| String::from_utf8_lossy(bytes).contains(&*marker)) {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

/// The sockets on which somebody listens for IPv4, by the number that the kernel gives each once.
pub fn listening() -> BTreeSet<String> {
    const LISTENS: &str = "0A";
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let rows = table.lines().skip(1).map(|row| row.split_ascii_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[3] == LISTENS).map(|row| row[9].to_owned()).collect()
}

/// Those of them that this process has.
pub fn listening_of(process: u32) -> BTreeSet<String> {
    let files = fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten();
    let links = files.filter_map(|file| fs::read_link(file.path()).ok());
    let sockets =
        links.filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned()));
    let listening = listening();
    sockets.filter(|socket| listening.contains(socket)).collect()
}
