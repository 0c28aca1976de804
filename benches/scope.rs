//! What the reference gate does and no more: git, the environment, and the published vectors. The client's stage, which no run of the
//! gate can leave out, is left out here, so that `tests/bench_gate.py` can time like beside like. It approves of nothing.

#![expect(clippy::print_stdout, clippy::print_stderr, clippy::expect_used, reason = "a tool of the benchmark's own")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::Instant;

use clap::Parser;
use paired_sdk_gate::check::{Halt, Ledger, Stage};
use paired_sdk_gate::contract::Contract;
use paired_sdk_gate::identity::{CommitId, ExpectedIdentity, ModuleOrigin, ReleaseVersion};
use paired_sdk_gate::limits::{Budget, Limits};
use paired_sdk_gate::{behaviour, environment, fs, graph, inventory, snapshot};

/// The flags of `verify`.
#[derive(Parser)]
struct Flags {
    #[arg(long)]
    sdk_root: PathBuf,
    #[arg(long)]
    expected_commit: CommitId,
    #[arg(long)]
    expected_version: ReleaseVersion,
    #[arg(long)]
    expected_environment_root: PathBuf,
    #[arg(long)]
    expected_module_origin: String,
    #[arg(long, default_value_t = 0)]
    generated: usize,
    /// What cargo gives every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let (mut ledger, mut spent) = (Ledger::new(), BTreeMap::new());
    if prove(&flags, &mut ledger, &mut spent).is_err() {
        eprintln!("not proven: {ledger:#?}");
        return ExitCode::FAILURE;
    }
    println!("{}", serde_json::json!({ "run": { "stages": spent } }));
    ExitCode::SUCCESS
}

/// The stages as the pipeline orders and overlaps them; `spent` holds the milliseconds of each.
fn prove(flags: &Flags, ledger: &mut Ledger, spent: &mut BTreeMap<&'static str, u64>) -> Result<(), Halt> {
    let contract = Contract::bridge_v1();
    let origin = ModuleOrigin::parse(&flags.expected_module_origin, contract).expect("the contract's module");
    let root = ExpectedIdentity::absolute(flags.expected_environment_root.clone()).expect("an absolute path");
    let identity = ExpectedIdentity::new(flags.expected_commit, flags.expected_version.clone(), origin, root);
    let identity = identity.expect("an identity");
    let budget = Budget::start(Limits::default(), Arc::default());
    let room = fs::private_folder(&std::env::temp_dir()).expect("a private folder");
    let mut timed = |stage: Stage, since: Instant| {
        spent.insert(stage.name(), u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX));
    };
    let (side, room) = (budget.branch(), room.path());
    let (examined, examination) = mpsc::sync_channel(1);
    std::thread::scope(|scope| {
        let standby = scope.spawn(|| {
            let examination = environment::examine(identity.environment_root(), &side);
            let whose = examination.environment().cloned();
            let _ = examined.send(examination);
            behaviour::prepare(whose.expect("an environment"), contract, room, &side)
        });
        let since = Instant::now();
        let (commit, version) = (identity.commit(), Some(identity.version()));
        let graph = graph::verify(&flags.sdk_root, commit, version, contract.package, false, &budget, ledger)?;
        timed(Stage::Graph, since);
        let since = Instant::now();
        let inventory =
            inventory::verify(graph, contract, None, version, None, &mut inventory::Release::default(), ledger)?;
        timed(Stage::Inventory, since);
        let since = Instant::now();
        let snapshot = snapshot::write(inventory, room, ledger)?;
        timed(Stage::Snapshot, since);
        let since = Instant::now();
        let examination = examination.recv().expect("work ahead");
        let environment = Arc::new(environment::verify(snapshot, examination, &identity, None, ledger)?);
        let compiler = behaviour::compile(&environment, contract, &[], room);
        let series = behaviour::draw(contract, flags.generated, 1, ledger)?;
        let manifest = contract.manifest();
        let terms = behaviour::Terms { contract, require_sandbox: false, manifest, deny_advisories: false };
        let standby = standby.join().expect("work ahead");
        let mut evidence = behaviour::Evidence::default();
        behaviour::verify(environment, standby, &compiler, terms, &series, &mut evidence, ledger)?;
        timed(Stage::Behaviour, since);
        Ok(())
    })
}
