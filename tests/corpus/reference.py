"""The git half of the Python reference gate on many checkouts: `reference.py GATE`, told on stdin, as JSON, which.

Stdin holds a list of [checkout, commit]; stdout gets the list of what the reference said of each, null where it was content.
"""

import functools
import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

spec = importlib.util.spec_from_file_location("reference_gate", sys.argv[1])
gate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gate)


class Impatient:
    """`subprocess` as the reference sees it: five seconds are enough to know that git hangs."""

    def __getattr__(self, name):
        return getattr(subprocess, name)

    @staticmethod
    def run(*arguments, timeout, **options):
        return subprocess.run(*arguments, timeout=min(timeout, 5), **options)


subprocess, gate.subprocess = gate.subprocess, Impatient()
# The git that the other tests hold us against; the reference would take /usr/bin/git, which may be older.
gate._GIT_EXECUTABLE = pathlib.Path(shutil.which("git"))


def judged(case, below):
    root, commit = case
    destination = pathlib.Path(tempfile.mkdtemp(dir=below)) / "snapshot"
    try:
        gate._materialize_sdk_commit(pathlib.Path(root), commit, destination)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


with tempfile.TemporaryDirectory() as below, ThreadPoolExecutor() as pool:
    json.dump(list(pool.map(functools.partial(judged, below=below), json.load(sys.stdin))), sys.stdout)
