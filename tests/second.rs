//! Another package is another contract: names in one place, and no stage that has to learn of it.

use std::path::Path;

use paired_sdk_gate::check::{Status, TABLE};
use paired_sdk_gate::contract::{Client, Contract, DEMO_SDK, DEMO_WRONG_ROUNDING, Functions};
use paired_sdk_gate::report::Verdict;

use crate::support::git::Repo;
use crate::support::subject::Subject;

/// What the embedded SDK calls a thing, and what the other one does; a name comes before what is a part of it.
const NAMES: &[(&str, &str)] = &[
    ("netbox_sdk.plugin_bridge", "toy_sdk.tools.gateway"),
    ("netbox_sdk", "toy_sdk"),
    ("PluginManifestError", "NoCatalogue"),
    ("PluginManifest", "Catalogue"),
    ("PluginBridgeError", "Inadmissible"),
    ("validate_plugin_tool_arguments", "admit"),
    ("validate_plugin_tool_response", "believe"),
    ("parse_plugin_tool_response_document", "read_answer"),
    ("discover_plugin_manifests", "find_tools"),
    ("plugin_tool_request_path", "place_of"),
    ("plugin_arguments_to_query", "query_of"),
    ("NetBoxApiClient", "Wire"),
];

fn toy_name(text: &str) -> String {
    NAMES.iter().fold(text.to_owned(), |text, (theirs, toys)| text.replace(theirs, toys))
}

fn toy() -> &'static Contract {
    let mut toy = Contract::demo().clone();
    toy.name = "toy-v1";
    toy.package = "toy_sdk";
    toy.module_origin = "toy_sdk/tools/gateway.py";
    toy.functions = Functions { model: "Catalogue", arguments: "admit", response: "believe", document: "read_answer" };
    toy.payload_rejection = "toy_sdk.tools.gateway:Inadmissible";
    toy.manifest_rejection = "toy_sdk.tools.gateway:NoCatalogue";
    toy.client = Client {
        config: "toy_sdk.client:Config",
        client: "toy_sdk.client:Wire",
        discover: "toy_sdk.client:find_tools",
        request_path: "toy_sdk.client:place_of",
        query: "toy_sdk.client:query_of",
    };
    Box::leak(Box::new(toy))
}

/// The embedded SDK, every name of it changed.
fn write_toy(repo: &Repo) {
    std::fs::remove_dir_all(repo.root().join("netbox_sdk")).unwrap();
    for (path, text) in DEMO_SDK {
        let path = path.replace("netbox_sdk/plugin_bridge.py", "toy_sdk/tools/gateway.py");
        repo.write(&path.replace("netbox_sdk", "toy_sdk"), toy_name(text));
    }
    repo.write("toy_sdk/tools/__init__.py", "");
}

#[test]
fn another_package_is_another_contract() {
    let subject = Subject::edited(write_toy);
    let verified = subject.verify_by(toy());
    assert_eq!(verified.verdict(), Verdict::Passed, "{:#?}", verified.run.ledger);
    assert_eq!(verified.ids(Status::Passed), TABLE.iter().map(|check| check.id()).collect::<Vec<_>>());
    let evidence = &verified.run.evidence;
    assert!(evidence.files.iter().all(|file| file.path.as_str().starts_with("toy_sdk/")), "{:?}", evidence.files);
    assert!(evidence.behaviour.loaded.iter().any(|module| module.origin == "toy_sdk/tools/gateway.py"));

    // It is held to its own names, and the embedded SDK's contract has no place for it.
    assert_eq!(subject.verify().refused_by(&["package.tree"])[0].subject, "netbox_sdk/");
    let (right, wrong) = DEMO_WRONG_ROUNDING;
    let rounding = Subject::within(Path::new(&subject.environment), |repo| {
        write_toy(repo);
        let path = repo.root().join("toy_sdk/tools/gateway.py");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text.replace(right, wrong)).unwrap();
    });
    rounding.verify_by(toy()).refused_by(&["vectors.integer"]);
}
