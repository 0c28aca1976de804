//! Whole repositories, loose and packed, with deltas and damage: the verdict is that of a walk over a map, both ways.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::check::{Ledger, Stage, Status};
use paired_sdk_gate::graph::{VerifiedGraph, strict, verify};
use paired_sdk_gate::limits::{Budget, Limits};
use paired_sdk_gate_fuzz::{Checkout, Graph, Plan, judge};

static CHECKOUT: LazyLock<Checkout> = LazyLock::new(|| Checkout::new().unwrap());

fuzz_target!(|data: &[u8]| {
    let plan = Plan::read(data);
    let Some(root) = plan.root() else { return };
    let damaged = CHECKOUT.write(&plan, root).unwrap();
    let sound = judge(&plan, root);

    let limits = Limits { tree_bytes: 1 << 20, file_bytes: 1 << 20, inflated_bytes: 64 << 20, ..Limits::default() };
    let budget = Budget::start(limits, Arc::default());
    let commit = root.to_string().parse().unwrap();
    let mut ledger = Ledger::new();
    let kept = some_folder(&plan).unwrap_or_default();
    match verify(CHECKOUT.root(), commit, None, &kept, plan.shallow, &budget, &mut ledger) {
        Ok(graph) => agrees(&plan, &graph, &sound.expect("nothing unsound is accepted")),
        Err(_) => {
            assert!(damaged || sound.is_none(), "nothing sound is refused: {ledger:?}");
            let explained = |status| matches!(status, Status::Failed | Status::Error);
            let mut rows = ledger.entries().iter().filter(|row| row.check.stage() == Stage::Graph);
            assert!(rows.any(|row| explained(row.status) && !row.findings.is_empty()), "a refusal has a reason");
        }
    }
});

/// The name of a folder that is planned somewhere.
fn some_folder(plan: &Plan) -> Option<String> {
    plan.objects.iter().find_map(|object| {
        let mut entries = Vec::new();
        strict::tree(&object.content, &mut entries, &mut Vec::new());
        let folder = entries.into_iter().find(|entry| entry.kind == strict::Kind::Tree)?;
        String::from_utf8(object.content[folder.name].to_vec()).ok()
    })
}

/// What was verified is what was planned.
fn agrees(plan: &Plan, graph: &VerifiedGraph, sound: &Graph) {
    let source = graph.source();
    let counted = (source.commits, source.trees, source.blobs, source.bytes);
    assert_eq!(counted, (sound.commits, sound.trees, sound.blobs, sound.bytes));
    let content = |id| &plan.objects.iter().find(|object| object.id == id).unwrap().content;
    let tree = content(graph.tree());
    let mut entries = Vec::new();
    strict::tree(tree, &mut entries, &mut Vec::new());
    for entry in entries {
        let Ok(name) = std::str::from_utf8(&tree[entry.name.clone()]) else { continue };
        assert_eq!(graph.entry(name).unwrap().unwrap().id, entry.id);
        match entry.kind {
            strict::Kind::Blob => assert!(graph.blob(entry.id).unwrap()[..] == content(entry.id)[..]),
            strict::Kind::Tree => {
                // Folders within folders may unfold to more than is listed.
                for file in graph.folder(name).unwrap_or_default() {
                    if file.kind == strict::Kind::Blob {
                        assert!(graph.blob(file.id).unwrap()[..] == content(file.id)[..]);
                    }
                }
            }
            strict::Kind::Gitlink => {}
        }
    }
}
