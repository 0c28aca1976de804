//! How each check fails and how to cure it. The match is exhaustive, so a check without words does not compile.

use super::Check;

impl Check {
    /// How it fails, and the cure.
    pub fn explanation(self) -> (&'static str, &'static str) {
        match self {
            Check::GitRepository => (
                "the folder is no checkout, or one in a format this gate does not read: SHA-256 objects, reftable, unknown extensions",
                "name the top of an ordinary git checkout with --sdk-root",
            ),
            Check::GitHead => (
                "HEAD is a branch or commit other than the expected one",
                "check out exactly the expected commit: `git checkout --detach <commit>`",
            ),
            Check::GitHistory => (
                "the clone is shallow or partial, so part of the history was never seen",
                "fetch it all: `git fetch --unshallow`, `fetch-depth: 0` in CI; or accept a shallow one with --allow-shallow",
            ),
            Check::GitObjects => (
                "a commit, tree or blob is missing, of another kind, damaged or stored twice with different content",
                "clone the repository anew from a source you trust",
            ),
            Check::GitWellFormed => {
                ("an object is one that `git fsck --strict` refuses", "certify a commit whose history is well-formed")
            }
            Check::GitReleaseTag => (
                "the tag of that version points at another commit",
                "find out which of the two is the release, and expect that one",
            ),
            Check::PackageTree => (
                "the committed package holds a symbolic link, a submodule, an odd mode or an unsafe name",
                "certify a commit whose package holds regular files only",
            ),
            Check::PackageModule => {
                ("the bridge module is not in the commit", "expect a release that has it: the first is 0.0.11")
            }
            Check::PackageSource => (
                "the package contains native code, bytecode or a file that changes the import path",
                "certify a commit without it",
            ),
            Check::PackageWorktree => (
                "a file of the package on disk is changed, missing or not in the commit",
                "bring the working tree back: `git checkout HEAD -- netbox_sdk`, and remove what is untracked",
            ),
            Check::VersionSource => (
                "`__version__` is computed, bound twice or another version",
                "expect the version that the commit declares, or certify the commit of that version",
            ),
            Check::VersionProject => {
                ("pyproject.toml states another version", "certify a commit in which both say the same")
            }
            Check::ReleaseArchive => (
                "the artifact is damaged, or readers of archives would disagree on what is in it: a name twice, a link, an absolute name",
                "build it anew from the commit, with the build tool and not by hand",
            ),
            Check::ReleasePackage => (
                "the artifact holds another file than the commit, one more or one less",
                "certify the commit that the artifact was built from, or build the artifact anew from this one",
            ),
            Check::ReleaseMetadata => (
                "the artifact names another distribution or version, or its RECORD does not fit its files",
                "give the artifact of the expected version, as its build left it",
            ),
            Check::SnapshotDigest => (
                "a blob read for the private copy did not hash to its id, or the copy could not be written",
                "run again; if it stays, check the disk and the room in the temporary folder",
            ),
            Check::SnapshotHead => {
                ("the checkout moved while it was being verified", "let nothing else work in it, then run again")
            }
            Check::EnvironmentRoot => (
                "the folder is no virtual environment, or it shares the system's packages",
                "make one: `uv sync --frozen --no-install-project`, or `python3 -m venv .venv`",
            ),
            Check::EnvironmentInterpreter => (
                "its interpreter is missing, not executable, not CPython or too old",
                "make the environment with CPython 3.11 or later",
            ),
            Check::EnvironmentRecords => (
                "an installed file is changed, missing, or its distribution has no RECORD",
                "make the environment anew from its lock",
            ),
            Check::EnvironmentOwned => {
                ("site-packages holds a file that no distribution installed", "make the environment anew from its lock")
            }
            Check::EnvironmentLock => (
                "a distribution has another version than uv.lock names or is not in it, or a requirement of the SDK is not met",
                "make the environment from the lock: `uv sync --frozen --no-install-project`",
            ),
            Check::EnvironmentWheels => (
                "an installed file differs from the locked wheel's, or a wheel from the digest that uv.lock names",
                "fetch the locked wheels anew, and install from them alone",
            ),
            Check::ProbeIsolated => (
                "the interpreter could not be started, or did not start isolated",
                "try `<environment>/bin/python -I -S -c pass`; make the environment anew if that fails",
            ),
            Check::ProbeConfined => (
                "the kernel did not enforce the sandbox that was required",
                "run on a kernel with Landlock and seccomp, or without --require-sandbox",
            ),
            Check::ModuleOrigin => (
                "importing the bridge module failed, or brought another file than the verified one",
                "read the error found: most often the environment lacks a dependency",
            ),
            Check::ModuleVersion => (
                "the running package says another version than its source",
                "certify a commit that does not change its version when it is run",
            ),
            Check::ModuleDependencies => (
                "jsonschema or pydantic was not loaded from the environment",
                "install what the commit requires into the environment",
            ),
            Check::ModuleLoaded => (
                "a module came from somewhere else than the private copy, the environment or the standard library",
                "find out what changes the import path, and remove it from the environment",
            ),
            Check::ProbeTranscript => (
                "an answer was missing, late, twice, or not an answer; or the process ended early",
                "run with --verbose; if the machine was busy run again, else the SDK misbehaves",
            ),
            Check::ProbeResidue => (
                "the SDK left a thread, a process or an open file behind",
                "report it to the SDK's maintainers: a module that validates needs none of them",
            ),
            Check::ContractManifest => (
                "the file named with --manifest differs from the published manifest in more than prose",
                "see every place with `paired-sdk-gate manifest --check FILE`, and certify with the published one",
            ),
            Check::VectorsInteger => (
                "the SDK rounded, converted or wrongly accepted an integer",
                "certify a release that keeps integers exact; the findings name the vectors",
            ),
            Check::VectorsDateTime => (
                "the SDK accepted or refused a date-time against the rule",
                "certify a release that follows it; the findings name the vectors",
            ),
            Check::VectorsSchema => (
                "the SDK let a payload or manifest pass that the schema refuses, or the other way round",
                "certify a release that validates both; the findings name the vectors",
            ),
            Check::ProbeAgreement => (
                "the answers depended on the order of the questions",
                "certify a release without state between calls; --seed repeats the orders",
            ),
            Check::SnapshotIntact => {
                ("the SDK changed its own files while it was being asked", "certify a commit that leaves them alone")
            }
            Check::PairConfined => (
                "the kernel lacks a part of what keeps the client's process to the gate's own ports, and --require-sandbox asks for all",
                "run on Linux 6.12 or later, or without --require-sandbox",
            ),
            Check::PairTranscript => (
                "the client cannot be imported, its process ended, or a call neither returned nor raised in time",
                "certify a commit whose client gives up by itself; a slow machine can raise --limit-answer-seconds",
            ),
            Check::PairDiscovery => (
                "the client went on with a descriptor, a link or a version that it has to refuse, or asked for a page that it must not",
                "certify a commit that discovers as the specification says; the finding names the scenario and what was sent",
            ),
            Check::PairDispatch => (
                "a submission was sent again, followed a redirect, or what was answered reached the caller as something else",
                "keep the record blocked: an agent could start the same job twice, or believe that it had",
            ),
            Check::PairNumbers => (
                "a submission differs from what was asked, or what the contract refuses was submitted",
                "certify a commit that sends numbers with their exact value and validates before it sends",
            ),
            Check::PairElsewhere => (
                "a request reached a server that was never configured, or the secret stands outside its header",
                "keep the record blocked: credentials can leak",
            ),
            Check::McpConfined => (
                "the kernel lacks a part of what keeps the server's processes to the gate's own ports, and --require-sandbox asks for all",
                "run on Linux 6.12 or later with a kernel that has Landlock and seccomp, or without --require-sandbox",
            ),
            Check::McpOrigin => (
                "the server cannot be imported, came from somewhere else than the commit, or changed the copy it ran from",
                "install the extra that the server needs into the environment: `uv sync --frozen --no-install-project --extra mcp`",
            ),
            Check::McpTranscript => (
                "the server ended, said something that is no answer, or left a call without one",
                "certify a commit whose server answers; a slow machine can raise --limit-answer-seconds",
            ),
            Check::McpSurface => (
                "a plugin's tool is offered as a tool of its own, or the generic tools do not list and call what the manifest describes",
                "keep the record blocked: hosts that allow tools by name would allow another one",
            ),
            Check::McpGate => (
                "a submission reached the producer without the operator's consent, or from a dry run",
                "keep the record blocked: the switch that keeps agents from writing does not hold",
            ),
            Check::McpDiscovery => (
                "the server went on with a descriptor, a link or a version that it has to refuse",
                "certify a commit whose server discovers as the specification says; the finding names the scenario",
            ),
            Check::McpDispatch => (
                "a submission was sent again, or its refusal or doubtful outcome was told to the agent as a success",
                "keep the record blocked: an agent could schedule a job twice, or rely on one that there is not",
            ),
            Check::McpNumbers => (
                "between the agent's message and the submission a value changed, or what the contract refuses was submitted",
                "certify a commit whose server passes numbers on as they are",
            ),
            Check::McpCredentials => (
                "the secret stands in a message, on standard error, in a file or outside its header, or a request went elsewhere",
                "keep the record blocked: an agent or a log reader would learn the credential",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Check;

    #[test]
    fn every_check_has_words_of_its_own() {
        for (at, check) in Check::all().enumerate() {
            let (fails, cure) = check.explanation();
            assert!(!fails.is_empty() && !cure.is_empty());
            assert!(Check::all().take(at).all(|other| other.explanation().0 != fails), "{}", check.id());
        }
    }
}
