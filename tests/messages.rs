//! Everything the program says to people, as they read it: `tests/messages` has it, one readable file a stage or command.
//!
//! Each check is seen to fail there, and each of its findings has a subject, what was expected, what was found and a cure. To
//! write the files anew: `INSTA_UPDATE=always cargo nextest run --locked messages`, then read what changed.

mod checks;
mod commands;
mod subject;

use paired_sdk_gate::check::Check;
pub use subject::Scene;

/// Holds the text against `tests/messages/NAME.snap`.
fn hold(name: &str, text: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path("messages");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// A check whose words nobody has read may say anything.
#[test]
fn every_check_is_seen_to_fail() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
    let snapshots = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let snapshots = snapshots.filter(|path| path.extension().is_some_and(|end| end == "snap"));
    let text: String = snapshots.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let seen = |id: &str| ["FAIL", "????"].iter().any(|word| text.contains(&format!("\n{word}  {id:<24} ")));
    let unseen: Vec<_> = Check::all().map(Check::id).filter(|id| !seen(id)).collect();
    assert!(unseen.is_empty(), "give each a scene in tests/messages: {unseen:?}");
}
