//! What `cargo package` would publish: all that builds the program, and nothing else.

use std::path::Path;
use std::process::Command;

/// The files of the package, as cargo lists them; three it makes itself.
fn listed() -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut list = Command::new(cargo);
    list.args(["package", "--list", "--allow-dirty", "--offline", "--locked"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = list.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn it_holds_only_what_belongs() {
    let made = [".cargo_vcs_info.json", "Cargo.toml.orig"];
    let single = ["Cargo.lock", "Cargo.toml", "LICENSE", "README.md"];
    for file in listed() {
        let belongs = made.contains(&&*file)
            || single.contains(&&*file)
            || (file.starts_with("src/") && [".rs", ".py"].iter().any(|end| file.ends_with(end)))
            || ["fixtures/bridge_v1/", "fixtures/demo_sdk/"].iter().any(|folder| file.starts_with(folder));
        assert!(belongs, "{file} does not belong into the package");
    }
}

/// Whatever a source file takes in when it is compiled has to come with it.
#[test]
fn it_holds_every_file_that_is_compiled_in() {
    let listed = listed();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut taken_in = 0;
    for source in listed.iter().filter(|file| file.ends_with(".rs")) {
        let text = std::fs::read_to_string(root.join(source)).unwrap();
        for name in text.split("include_str!(\"").skip(1).map(|rest| rest.split_once('"').unwrap().0) {
            let file = root.join(source).parent().unwrap().join(name).canonicalize().unwrap();
            let file = file.strip_prefix(root.canonicalize().unwrap()).unwrap().to_str().unwrap().to_owned();
            assert!(listed.contains(&file), "{source} takes in {file}, which is not in the package");
            taken_in += 1;
        }
    }
    assert!(taken_in >= 7, "{taken_in}");
}
