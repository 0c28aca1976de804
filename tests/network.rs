//! The promise that nothing here opens a connection, and that only the producer accepts one: at run time, in the dependency tree, and in the binary itself.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use object::{Object, ObjectSymbol};
use serde_json::Value;

use crate::support::offline::{without_loopback, without_network};

const GATE: &str = env!("CARGO_BIN_EXE_paired-sdk-gate");

/// Crates that speak to a network, or exist to serve one that does.
const TRANSPORT: &[&str] = &[
    "async-std",
    "attohttpc",
    "boring",
    "boring-sys",
    "curl",
    "curl-sys",
    "gix-credentials",
    "h2",
    "h3",
    "hickory-proto",
    "hickory-resolver",
    "hyper",
    "hyper-util",
    "isahc",
    "libgit2-sys",
    "libssh2-sys",
    "minreq",
    "mio",
    "native-tls",
    "openssl",
    "openssl-sys",
    "quinn",
    "reqwest",
    "russh",
    "rustls",
    "s2n-tls",
    "smol",
    "socket2",
    "ssh2",
    "surf",
    "tokio",
    "trust-dns-resolver",
    "tungstenite",
    "ureq",
    "webpki",
];

/// What a feature of the gix crates is called if it brings a client.
const CLIENT_FEATURES: &[&str] = &["async", "client", "curl", "http", "network", "reqwest", "ssh"];

/// The calls that Rust code which connects, or listens, would have to make.
const CONNECTING_METHODS: &[&str] = &[
    "rustix::net::bind",
    "rustix::net::connect",
    "rustix::net::listen",
    "rustix::net::sendto",
    "rustix::net::socket",
    "rustix::net::socket_with",
    "std::net::TcpListener::bind",
    "std::net::TcpStream::connect",
    "std::net::TcpStream::connect_timeout",
    "std::net::UdpSocket::bind",
    "std::os::unix::net::UnixDatagram::bind",
    "std::os::unix::net::UnixStream::connect",
];

/// The C library's ways out: names looked up, sockets connected, datagrams sent, further libraries loaded. `socket` itself is not
/// among them: the producer listens on one.
const CONNECTING_SYMBOLS: &[&str] = &[
    "connect",
    "dlopen",
    "getaddrinfo",
    "gethostbyname",
    "gethostbyname_r",
    "getnameinfo",
    "res_query",
    "sendmmsg",
    "sendto",
];

#[test]
fn a_namespace_without_interfaces_is_what_the_tests_run_in() {
    let output = without_network("cat").args(["/proc/net/dev", "/proc/net/route"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let interfaces: Vec<_> =
        text.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect();
    assert_eq!(interfaces, ["lo"]);
    let routes = text.lines().skip_while(|line| !line.starts_with("Iface")).skip(1).count();
    assert_eq!(routes, 0, "{text}");
}

#[test]
fn the_demo_succeeds_without_a_network() {
    let output = without_network(GATE).arg("demo").output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("PASSED: "), "{stdout}");
    assert_eq!(stdout.matches("\nrefused ").count(), 4, "{stdout}");
}

/// Where nothing can be sent, what was not sent proves nothing: that is told as such, and never against the SDK.
#[test]
fn without_a_loopback_interface_nothing_is_decided() {
    let output = without_loopback(GATE).args(["demo", "--format", "json"]).output().unwrap();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let first = &summary["cases"][0];
    assert_eq!((&first["verdict"], &first["failed"]), (&"unverifiable".into(), &serde_json::json!([])));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn no_transport_client_is_linked() {
    let metadata = metadata();
    let linked = linked(&metadata);
    // A walk that finds nothing would prove nothing.
    for known in ["gix", "gix-pack", "serde_json", "sha2"] {
        assert!(linked.contains_key(known), "{known} is a dependency, so the walk has to meet it");
    }
    let banned: Vec<_> = TRANSPORT.iter().filter(|name| linked.contains_key(**name)).collect();
    assert!(banned.is_empty(), "linked into the binary: {banned:?}");

    for name in ["gix", "gix-protocol", "gix-transport"] {
        let features = linked.get(name).into_iter().flatten();
        let clients: Vec<_> = features.filter(|f| CLIENT_FEATURES.iter().any(|word| f.contains(word))).collect();
        assert!(clients.is_empty(), "features of {name}: {clients:?}");
    }
}

#[test]
fn no_transport_client_is_locked_not_even_for_tests_or_other_platforms() {
    let lock: toml::Table = toml::from_str(&read("Cargo.lock")).unwrap();
    let packages = lock["package"].as_array().unwrap();
    let names: BTreeSet<_> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    assert!(names.contains("paired-sdk-gate"));
    let banned: Vec<_> = TRANSPORT.iter().filter(|name| names.contains(**name)).collect();
    assert!(banned.is_empty(), "{banned:?}");
}

#[test]
fn cargo_deny_bans_the_same_crates() {
    let deny: toml::Table = toml::from_str(&read("deny.toml")).unwrap();
    let rows = deny["bans"]["deny"].as_array().unwrap();
    let banned: Vec<_> = rows.iter().map(|row| row["crate"].as_str().unwrap()).collect();
    assert_eq!(banned, TRANSPORT);
}

/// The binary's symbols say what it asks of the C library. They cannot say all: rustix makes system calls without it, so the
/// source is held to the same by clippy, which [`clippy_forbids_the_calls_that_connect`] pins.
#[test]
fn the_binary_imports_nothing_that_connects() {
    let bytes = std::fs::read(GATE).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let undefined = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    let imported: BTreeSet<_> = undefined.map(|symbol| symbol.name().unwrap().to_owned()).collect();
    assert!(imported.contains("__libc_start_main"), "a symbol every program imports: {imported:?}");
    let connecting: Vec<_> = CONNECTING_SYMBOLS.iter().filter(|name| imported.contains(**name)).collect();
    assert!(connecting.is_empty(), "imported from the C library: {connecting:?}");
}

#[test]
fn clippy_forbids_the_calls_that_connect() {
    let clippy: toml::Table = toml::from_str(&read("clippy.toml")).unwrap();
    let rows = clippy["disallowed-methods"].as_array().unwrap();
    let forbidden: BTreeSet<_> = rows.iter().map(|row| row["path"].as_str().unwrap()).collect();
    let missing: Vec<_> = CONNECTING_METHODS.iter().filter(|method| !forbidden.contains(**method)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn one_place_listens_and_only_tests_of_it_connect() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let mut places = Vec::new();
    for entry in walkdir::WalkDir::new(source).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let allowed = text.matches("clippy::disallowed_methods").count();
            let name = path.strip_prefix(source).unwrap().to_str().unwrap().to_owned();
            places.extend((allowed > 0).then_some((name, allowed)));
        }
    }
    assert_eq!(places, [("producer/server/tests.rs".to_owned(), 2), ("producer/server.rs".to_owned(), 1)]);
}

fn read(path: &str) -> String {
    std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// What cargo resolved for this platform.
fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", "host-tuple"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The packages reached over normal dependencies, so those that may end up in the binary, with their enabled features.
/// Names only: two versions of one crate share an entry and add up.
fn linked(metadata: &Value) -> BTreeMap<&str, Vec<&str>> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let nodes: BTreeMap<_, _> = nodes.iter().map(|node| (node["id"].as_str().unwrap(), node)).collect();
    let packages = metadata["packages"].as_array().unwrap();
    let names = packages.iter().map(|package| (package["id"].as_str().unwrap(), package["name"].as_str().unwrap()));
    let names: BTreeMap<_, _> = names.collect();

    let (mut seen, mut open) = (BTreeSet::new(), vec![metadata["resolve"]["root"].as_str().unwrap()]);
    let mut linked = BTreeMap::<_, Vec<_>>::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let features = nodes[id]["features"].as_array().unwrap().iter().map(|feature| feature.as_str().unwrap());
        linked.entry(names[id]).or_default().extend(features);
        for dependency in nodes[id]["deps"].as_array().unwrap() {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                open.push(dependency["pkg"].as_str().unwrap());
            }
        }
    }
    linked
}
