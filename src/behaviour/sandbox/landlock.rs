//! Which files may be read and written, and which ports connected to.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

/// Where shared libraries, the programs that start an interpreter, and the data that the standard library looks up lie. `/proc` is not
/// among them: the arguments of the gate, which name the expected commit and version, stand there.
const SYSTEM: &[&str] = &[
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/usr/share/ca-certificates",
    "/usr/share/locale",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
];

/// The newest version whose rights are named here; what a kernel does not know of it is left out, and told.
const VERSION: ABI = ABI::V6;

pub(super) fn restrict(
    writable: &Path,
    readable: &[PathBuf],
    ports: &[u16],
) -> Result<RulesetStatus, Box<dyn std::error::Error>> {
    let (read, all) = (AccessFs::from_read(VERSION), AccessFs::from_all(VERSION));
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .handle_access(AccessNet::from_all(VERSION))?
        .scope(Scope::from_all(VERSION))?
        .create()?
        .add_rules(path_beneath_rules(SYSTEM, read))?
        .add_rules(path_beneath_rules(readable, read))?
        // Its folder holds no program.
        .add_rule(PathBeneath::new(PathFd::new(writable)?, all & !AccessFs::Execute))?
        .add_rule(PathBeneath::new(PathFd::new("/dev/null")?, all & AccessFs::from_file(VERSION)))?
        .add_rules(ports.iter().map(|&port| Ok::<_, RulesetError>(NetPort::new(port, AccessNet::ConnectTcp))))?
        .restrict_self()?;
    Ok(status.ruleset)
}
