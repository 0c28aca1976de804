#!/usr/bin/env python3
"""Time this gate beside the Python reference gate, on the real netbox-sdk 0.0.13.

One command, from the top of the checkout:

    python3 tests/bench_gate.py

It builds the release binary and, if no test run has done so yet, provisions the published subject. Both gates then run
as whole processes, alternately, each once unmeasured first: the page cache and the reference's bytecode are warm. Printed
are the medians, their ratios to the reference's, and where our time goes by the report's own stages: once in the reference's
own scope, which is git, the environment and the published vectors (`benches/scope.rs`), once that with the fresh vectors too,
and once as the gate runs by default, client and all. Every run must end in exit status 0.

`--history N` puts the release on top of a history of about N packed objects first, as its own repository does not have one.
Another subject is measured by naming all of it: --sdk-root, --version, --venv and --producer; another binary by --gate.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
SUBJECT = ROOT / "target/tmp/subjects-1/benchmark.json"  # written by the test below, in tests/support/registry.rs
PROVISION = "cargo nextest run --locked --test integration the_latest_release_is_provisioned_for_the_benchmark"
FRESH = 3000  # vectors, as `verify` asks by default
REFERENCE = "tests/validate_paired_netbox_sdk_bridge.py"


def provisioned() -> dict[str, str]:
    """Where the published subject is, made first if need be."""
    if not SUBJECT.exists():
        subprocess.run(PROVISION.split(), cwd=ROOT, check=True, stdout=sys.stderr)
    return json.loads(SUBJECT.read_text())


def timed(command: list[str]) -> tuple[float, bytes]:
    """Milliseconds from start to exit, and what was printed."""
    start = time.perf_counter()
    done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True)
    elapsed = (time.perf_counter() - start) * 1000
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with status {done.returncode}:\n{done.stderr.decode()}")
    return elapsed, done.stdout


def built_scope() -> Path:
    """The benchmark of the reference's scope, in release mode."""
    build = ["cargo", "build", "--release", "--locked", "--bench", "scope", "--message-format", "json"]
    built = subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    messages = (json.loads(line) for line in built.stdout.splitlines())
    return next(Path(it["executable"]) for it in messages if it.get("target", {}).get("name") == "scope" and it["executable"])


def on_history(release: Path, objects: int, folder: Path) -> Path:
    """The release as the next commit of a long history, checked out."""
    from bench_graph import git, synthetic  # which imports this module

    root = folder / "history"
    synthetic(root, objects, packed=True)
    git(root, "fetch", "--quiet", "--no-tags", str(release), "HEAD")
    who = ["-c", "user.name=A U Thor", "-c", "user.email=author@example.com"]
    parents = ["-p", "HEAD", "-p", "FETCH_HEAD", "-m", "The release"]
    made = git(root, *who, "commit-tree", "FETCH_HEAD^{tree}", *parents, text=True).stdout.strip()
    git(root, "reset", "--quiet", "--hard", made)
    git(root, "repack", "-adq")
    return root


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11, help="measured runs of each gate (default 11)")
    parser.add_argument("--gate", type=Path, help="our binary; built in release mode if not given")
    parser.add_argument("--history", type=int, help="put the release on top of a history of about so many packed objects")
    parser.add_argument("--sdk-root", type=Path, help="a checkout of the SDK")
    parser.add_argument("--version", help="the version it declares")
    parser.add_argument("--venv", type=Path, help="an environment with its dependencies")
    parser.add_argument("--producer", type=Path, help="an unpacked sdist of netbox-proxbox")
    given = parser.parse_args()
    if given.runs < 9:
        parser.error("a median of fewer than 9 runs says little")
    subject = [given.sdk_root, given.version, given.venv, given.producer]
    if not any(subject):
        found = provisioned()
        given.sdk_root, given.version = Path(found["sdk_root"]), found["version"]
        given.venv, given.producer = Path(found["venv"]), Path(found["producer"])
    elif not all(subject):
        parser.error("another subject is named by --sdk-root, --version, --venv and --producer together")
    return given


def main() -> None:
    given = arguments()
    with tempfile.TemporaryDirectory() as folder:
        if given.history:
            given.sdk_root = on_history(given.sdk_root, given.history, Path(folder))
        measure(given)


def measure(given: argparse.Namespace) -> None:
    gate = given.gate
    if gate is None:
        subprocess.run(["cargo", "build", "--release", "--locked"], cwd=ROOT, check=True)
        gate = ROOT / "target/release/paired-sdk-gate"
    scope = built_scope()
    head = subprocess.run(["git", "-C", given.sdk_root, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    identity = ["--sdk-root", str(given.sdk_root), "--expected-commit", head.stdout.strip()]
    identity += ["--expected-version", given.version, "--expected-environment-root", str(given.venv)]
    identity += ["--expected-module-origin", "netbox_sdk/plugin_bridge.py"]
    ours, scope = [str(gate), "verify", *identity, "--format", "json"], [str(scope), *identity]
    reference = [str(given.venv / "bin/python"), "-I", str(given.producer / REFERENCE), *identity]

    # The reference asks nothing it has not published, and starts no client.
    fresh = [*scope, "--generated", str(FRESH)]
    commands = {"reference": reference, "its scope": scope, "and fresh": fresh, "default": ours}
    times: dict[str, list[float]] = {name: [] for name in commands}
    stages: dict[str, dict[str, list[float]]] = {}
    for command in commands.values():
        timed(command)
    for run in range(given.runs):
        # None always runs in another's wake.
        for name, command in sorted(commands.items(), reverse=run % 2 == 1):
            elapsed, output = timed(command)
            times[name].append(elapsed)
            if name != "reference":
                for stage, spent in json.loads(output)["run"]["stages"].items():
                    stages.setdefault(name, {}).setdefault(stage, []).append(spent)

    for name, values in times.items():
        ratio = median(values) / median(times["reference"])
        spread = f"median of {len(values)}, {min(values):.0f} to {max(values):.0f}"
        print(f"{name:12}{median(values):8.0f} ms  ratio {ratio:.2f}  ({spread})")
        for stage, spent in stages.get(name, {}).items():
            print(f"  {stage:10}{median(spent):8.0f} ms")


if __name__ == "__main__":
    main()
