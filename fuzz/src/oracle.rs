//! What has to be said of a plan, found the simple way: in a map, object by object.

use std::collections::{HashMap, HashSet};

use gix::ObjectId;
use gix::objs::Kind;
use paired_sdk_gate::graph::strict::{self, Special};

use crate::{Object, Plan};

/// What is reachable from a sound commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    pub commits: u64,
    pub trees: u64,
    pub blobs: u64,
    pub bytes: u64,
    pub ids: HashSet<ObjectId>,
}

/// The graph below a commit; None if anything in it is absent, of another kind than linked, or against a rule.
pub fn judge(plan: &Plan, root: ObjectId) -> Option<Graph> {
    let objects: HashMap<ObjectId, &Object> = plan.objects.iter().map(|object| (object.id, object)).collect();
    let mut graph = Graph::default();
    let mut messages = Vec::new();
    let mut links = vec![(root, Kind::Commit, None)];
    while let Some((id, kind, name)) = links.pop() {
        let object = objects.get(&id).filter(|object| object.kind == kind)?;
        match name {
            Some(Special::Gitmodules) => strict::gitmodules(&object.content, &mut messages),
            Some(Special::Gitattributes) => strict::gitattributes(&object.content, &mut messages),
            Some(Special::Both) => {
                strict::gitmodules(&object.content, &mut messages);
                strict::gitattributes(&object.content, &mut messages);
            }
            None => {}
        }
        if !graph.ids.insert(id) {
            continue;
        }
        graph.bytes += object.content.len() as u64;
        match kind {
            Kind::Commit => {
                graph.commits += 1;
                let commit = strict::commit(&object.content, &mut messages)?;
                links.push((commit.tree, Kind::Tree, None));
                if !plan.shallow {
                    links.extend(commit.parents.into_iter().map(|parent| (parent, Kind::Commit, None)));
                }
            }
            Kind::Tree => {
                graph.trees += 1;
                let mut entries = Vec::new();
                strict::tree(&object.content, &mut entries, &mut messages);
                links.extend(entries.iter().filter_map(|entry| match entry.kind {
                    strict::Kind::Tree => Some((entry.id, Kind::Tree, None)),
                    strict::Kind::Blob if entry.is_symlink() => Some((entry.id, Kind::Blob, None)),
                    strict::Kind::Blob => {
                        Some((entry.id, Kind::Blob, strict::special(&object.content[entry.name.clone()])))
                    }
                    strict::Kind::Gitlink => None,
                }));
            }
            Kind::Blob => graph.blobs += 1,
            Kind::Tag => return None,
        }
        if !messages.is_empty() {
            return None;
        }
    }
    messages.is_empty().then_some(graph)
}
