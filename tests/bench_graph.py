#!/usr/bin/env python3
"""Time our graph stage beside `git fsck --strict` and the Python reference gate's graph half.

One command, from the top of the checkout:

    python3 tests/bench_graph.py

It builds the release binary, provisions the published netbox-sdk 0.0.13 if no test run has done so yet, and makes the rest
itself: that release repacked, and histories written with `git fast-import`. Ours is the stage `graph` of the report of
`snapshot`; git's is one whole process; the reference's is what its gate does about HEAD and the graph in one run, two
`git fsck` among it. All run alternately, once unmeasured first, so that the page cache is warm. Printed are medians and
ratios, then how time and peak memory grow with the objects. `--only NAME` measures some of them, `--keep DIR` keeps them.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench_gate import REFERENCE, ROOT, provisioned

SIDE_BY_SIDE = ["real-loose", "real-packed", "loose-9000", "packed-130000"]
GROWTH = [10_000, 100_000, 1_000_000]
GIT_SETTINGS = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_NO_LAZY_FETCH": "1"}


def git(root: Path, *arguments: str, **options) -> subprocess.CompletedProcess:
    environment = {**os.environ, **GIT_SETTINGS}
    return subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True, env=environment, **options)


def history(objects: int) -> Iterator[bytes]:
    """A stream for fast-import: four objects a commit, and each time a line of one of eight modules is another.

    Fifty commits in a row are about the same module: fast-import looks for a blob's base only in the blob before.
    """
    chance = random.Random(objects)
    words = "self client token page schema value path item result query count status name model field".split()

    def line() -> str:
        one, two, three = chance.choices(words, k=3)
        return f"    {one}_{two} = {three}({one}, {two}={chance.randrange(1_000_000)})\n"

    modules = [[line() for _ in range(150)] for _ in range(8)]
    package = {"__init__.py": '__version__ = "1.2.3"\n', "plugin_bridge.py": "BRIDGE = 1\n"}
    for number in range(objects // 4):
        module = modules[number // 50 % 8]
        module[chance.randrange(150)] = line()
        files = {f"src/module_{number // 50 % 8}.py": "".join(module)}
        if number == 0:
            files |= {f"netbox_sdk/{name}": text for name, text in package.items()}
        who = f"A U Thor <author@example.com> {1_700_000_000 + number} +0000"
        lines = [f"commit refs/heads/main\ncommitter {who}\ndata {len(f'Step {number}')}\nStep {number}\n"]
        lines += [f"M 100644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in files.items()]
        yield "".join(lines).encode()


def synthetic(root: Path, objects: int, packed: bool) -> None:
    """A repository of about that many objects, with its working tree."""
    git(root.parent, "init", "--quiet", "--initial-branch=main", str(root))
    unpack = f"fastimport.unpackLimit={0 if packed else 10 * objects}"
    command = ["git", "-C", root, "-c", unpack, "fast-import", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, **GIT_SETTINGS}) as importer:
        for part in history(objects):
            importer.stdin.write(part)
    if importer.returncode != 0:
        sys.exit(f"git fast-import ended with status {importer.returncode}")
    if packed:
        git(root, "repack", "-adq")
    git(root, "reset", "--quiet", "--hard")


def subject(name: str, real: Path, folder: Path) -> Path:
    """The repository of that name, made if it is not there."""
    root = folder / name
    if name == "real-loose":
        return real
    if not root.exists():
        print(f"making {name}", file=sys.stderr)
        if name == "real-packed":
            shutil.copytree(real, root, symlinks=True)
            git(root, "repack", "-adq")
        else:
            kind, _, objects = name.partition("-")
            synthetic(root, int(objects), kind == "packed")
    return root


def ours(gate: Path, root: Path, commit: str, folder: Path) -> tuple[float, float]:
    """Milliseconds of the stage, and the whole process's peak memory in MiB."""
    target = folder / "snapshot"
    command = [gate, "snapshot", "--sdk-root", root, "--expected-commit", commit, "--out", target, "--format", "json"]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        report = json.load(output)
    if process.returncode != 0:
        sys.exit(f"{root}: exit {process.returncode}\n{json.dumps(report['checks'], indent=1)}")
    shutil.rmtree(target)
    return report["run"]["stages"]["graph"], usage.ru_maxrss / 1024


def clocked(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def reference_gate(producer: Path):
    """The reference gate as a module: it runs its git commands, and we call the functions that ask about the graph."""
    spec = importlib.util.spec_from_file_location("reference_gate", producer / REFERENCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reference_half(module, root: Path, commit: str) -> None:
    # Before and after the snapshot, as its `_materialize_sdk_commit` does.
    for _ in range(2):
        module._require_exact_head(root, commit)
        module._verify_commit_object_graph(root, commit)


def side_by_side(name: str, root: Path, gate: Path, module, runs: int, folder: Path) -> None:
    commit = git(root, "rev-parse", "HEAD", text=True).stdout.strip()
    fsck = ["fsck", "--strict", "--no-dangling", "--no-reflogs", "--no-progress", commit]
    measures = {
        "ours": lambda: ours(gate, root, commit, folder)[0],
        "fsck": lambda: clocked(lambda: git(root, *fsck)),
        "reference": lambda: clocked(lambda: reference_half(module, root, commit)),
    }
    times: dict[str, list[float]] = {who: [] for who in measures}
    for run in range(runs + 1):
        # Nobody always runs in the same one's wake.
        order = list(measures) if run % 2 == 0 else list(reversed(measures))
        for who in order:
            elapsed = measures[who]()
            if run > 0:
                times[who].append(elapsed)
    mine, one, theirs = (median(values) for values in times.values())
    print(f"{name:16}{mine:9.0f}{one:9.0f}{theirs:11.0f}{mine / one:11.2f}{mine / theirs:16.2f}", flush=True)


def growth(gate: Path, objects: int, root: Path, runs: int, folder: Path) -> None:
    commit = git(root, "rev-parse", "HEAD", text=True).stdout.strip()
    counted = int(git(root, "rev-list", "--objects", "--count", "HEAD", text=True).stdout)
    ours(gate, root, commit, folder)
    measured = [ours(gate, root, commit, folder) for _ in range(runs)]
    spent, memory = median(each[0] for each in measured), max(each[1] for each in measured)
    print(f"{counted:12,}{spent:10.0f}{spent * 1000 / counted:14.2f}{memory:12.0f}", flush=True)


def arguments() -> argparse.Namespace:
    names = [*SIDE_BY_SIDE, *(f"packed-{objects}" for objects in GROWTH)]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9, help="measured runs each (default 9)")
    parser.add_argument("--gate", type=Path, help="our binary; built in release mode if not given")
    parser.add_argument("--only", action="append", choices=names, help="measure this one; may be repeated")
    parser.add_argument("--keep", type=Path, help="make the repositories in this folder and leave them there")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    gate = given.gate
    if gate is None:
        subprocess.run(["cargo", "build", "--release", "--locked"], cwd=ROOT, check=True)
        gate = ROOT / "target/release/paired-sdk-gate"
    places = provisioned()
    module = reference_gate(Path(places["producer"]))
    asked = given.only or [*SIDE_BY_SIDE, *(f"packed-{objects}" for objects in GROWTH)]
    with tempfile.TemporaryDirectory(dir=ROOT / "target/tmp") as temporary:
        folder = (given.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        named = [name for name in SIDE_BY_SIDE if name in asked]
        if named:
            print(f"{'median ms':16}{'ours':>9}{'fsck':>9}{'reference':>11}{'ours/fsck':>11}{'ours/reference':>16}")
        for name in named:
            root = subject(name, Path(places["sdk_root"]), folder)
            side_by_side(name, root, gate.resolve(), module, given.runs, Path(temporary))
        sizes = [objects for objects in GROWTH if f"packed-{objects}" in asked]
        if sizes:
            print(f"{'objects':>12}{'ms':>10}{'us an object':>14}{'peak MiB':>12}")
        for objects in sizes:
            root = subject(f"packed-{objects}", Path(places["sdk_root"]), folder)
            growth(gate.resolve(), objects, root, max(3, given.runs // 3), Path(temporary))


if __name__ == "__main__":
    main()
