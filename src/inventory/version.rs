//! The version a commit declares, read from its blobs.

use rustpython_ruff_python_ast as ast;
use rustpython_ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};

use super::{PROJECT_FILE, PackageFile};
use crate::check::{Check, Finding, Ledger};
use crate::contract::Contract;
use crate::graph::VerifiedGraph;
use crate::identity::ReleaseVersion;

const NAME: &str = "__version__";

/// The largest source parsed, in bytes. It bounds the parser's stack (see [`literal`]).
const MAX_SOURCE: usize = 256 << 10;

/// Records both checks of the version. What the commit declares stands in for a version nobody expected.
pub(super) fn record(
    files: &[PackageFile],
    graph: &VerifiedGraph,
    contract: &Contract,
    expected: Option<&ReleaseVersion>,
    ledger: &mut Ledger,
) {
    let declared = record_source(files, contract, expected.map(ReleaseVersion::as_str), ledger);
    let Some(expected) = expected.map(|version| version.to_string()).or(declared) else { return };
    record_project(graph, &expected, ledger);
}

fn record_source(
    files: &[PackageFile],
    contract: &Contract,
    expected: Option<&str>,
    ledger: &mut Ledger,
) -> Option<String> {
    let path = format!("{}/__init__.py", contract.package);
    let wanted = format!("{NAME} = \"{}\", assigned once", expected.unwrap_or("…"));
    let found = match files.iter().find(|file| file.path.as_str() == path) {
        None => Err("no such file in the commit".to_owned()),
        Some(file) => match literal(file.content.to_vec()) {
            Ok(found) => found,
            Err(error) => {
                let hint = "free memory for the parser and run the gate again";
                ledger.undecided(Check::VersionSource, Finding::new(path, wanted, error.to_string(), hint));
                return None;
            }
        },
    };
    let finding = match &found {
        Ok(version) if expected.is_none_or(|expected| expected == version) => None,
        Ok(version) => {
            let hint = version_hint(expected.unwrap_or_default(), version);
            Some(Finding::new(path, wanted, format!("{NAME} = {version:?}"), hint))
        }
        Err(why) => {
            let hint = "certify a commit that declares its version as one string literal";
            Some(Finding::new(path, wanted, why, hint))
        }
    };
    ledger.record(Check::VersionSource, finding.into_iter().collect());
    found.ok()
}

/// PEP 621 `project.version`, unless the file or the member is absent.
fn record_project(graph: &VerifiedGraph, expected: &str, ledger: &mut Ledger) {
    let wanted = format!("project.version = \"{expected}\", or none");
    let content = match graph.entry(PROJECT_FILE) {
        Ok(Some(entry)) => graph.blob(entry.id),
        Ok(None) => return ledger.record(Check::VersionProject, vec![]),
        Err(error) => Err(error),
    };
    let content = match content {
        Ok(content) => content,
        Err(error) => {
            let hint = "run the gate again; if it stays, the file is larger than --limit-file-bytes";
            let finding = Finding::new(PROJECT_FILE, wanted, error.to_string(), hint);
            return ledger.undecided(Check::VersionProject, finding);
        }
    };
    let finding = match project_version(&content) {
        Ok(None) => None,
        Ok(Some(version)) if version == expected => None,
        Ok(Some(version)) => {
            let actual = format!("project.version = {version:?}");
            Some(Finding::new(PROJECT_FILE, wanted, actual, version_hint(expected, &version)))
        }
        Err(why) => {
            Some(Finding::new(PROJECT_FILE, wanted, why, "certify a commit whose pyproject.toml is valid (PEP 621)"))
        }
    };
    ledger.record(Check::VersionProject, finding.into_iter().collect());
}

fn version_hint(expected: &str, found: &str) -> String {
    let respelled = expected.parse::<ReleaseVersion>().is_ok_and(|expected| expected.is_respelled_as(found));
    if respelled {
        format!("the same release, spelled otherwise: use --expected-version {found}")
    } else {
        format!("check out the commit of release {expected}, or expect the version this commit declares")
    }
}

fn project_version(content: &[u8]) -> Result<Option<String>, String> {
    let text = std::str::from_utf8(content).map_err(|error| format!("not UTF-8: {error}"))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| format!("not TOML: {}", error.message()))?;
    match table.get("project").and_then(|project| project.get("version")) {
        None => Ok(None),
        Some(toml::Value::String(version)) => Ok(Some(version.clone())),
        Some(other) => Err(format!("project.version is a {}, not a string", other.type_str())),
    }
}

/// The value of the only `__version__` a module binds, which must be one string literal assigned at its top level; else why not.
///
/// The parser recurses with the nesting of its input, so it runs on a stack sized by that input: a hostile source can use it
/// up as little as a long one.
///
/// # Errors
/// The thread could not be started.
pub fn literal(source: Vec<u8>) -> std::io::Result<Result<String, String>> {
    if source.len() > MAX_SOURCE {
        return Ok(Err(format!("a file of {} bytes, where at most {MAX_SOURCE} are parsed", source.len())));
    }
    let stack = (1 << 20) + source.len() * (4 << 10);
    let parser = std::thread::Builder::new().stack_size(stack).spawn(move || parse(&source))?;
    Ok(parser.join().unwrap_or_else(|_| Err("source the parser cannot read".into())))
}

fn parse(source: &[u8]) -> Result<String, String> {
    let text = std::str::from_utf8(source).map_err(|error| format!("not UTF-8: {error}"))?;
    if let Some(encoding) = declared_encoding(text) {
        return Err(format!("a declared source encoding {encoding:?}; only UTF-8 is read"));
    }
    let module = rustpython_ruff_python_parser::parse_module(text).map_err(|error| format!("not Python: {error}"))?;
    let mut bindings = Bindings::default();
    for statement in &module.syntax().body {
        bindings.visit_stmt(statement);
    }
    let assigned = module.syntax().body.iter().filter_map(|statement| match statement {
        ast::Stmt::Assign(ast::StmtAssign { targets, value, .. }) => match targets.as_slice() {
            [ast::Expr::Name(name)] if name.id == NAME => Some(&**value),
            _ => None,
        },
        ast::Stmt::AnnAssign(ast::StmtAnnAssign { target, value: Some(value), .. }) => match &**target {
            ast::Expr::Name(name) if name.id == NAME => Some(&**value),
            _ => None,
        },
        _ => None,
    });
    let assigned: Vec<_> = assigned.collect();
    match (assigned.as_slice(), bindings.count) {
        ([], 0) => Err(format!("no {NAME}")),
        ([ast::Expr::StringLiteral(literal)], 1) if !literal.value.is_implicit_concatenated() => {
            Ok(literal.value.to_str().to_owned())
        }
        ([_], 1) => Err(format!("{NAME} assigned something other than one string literal")),
        (_, 1) => Err(format!("{NAME} bound otherwise than by one assignment at the top level")),
        (_, count) => Err(format!("{NAME} bound {count} times")),
    }
}

/// PEP 263: an encoding declared in one of the first two lines, unless it is UTF-8.
fn declared_encoding(text: &str) -> Option<&str> {
    text.lines().take(2).filter(|line| line.trim_start().starts_with('#')).find_map(|line| {
        let rest = line.split_once("coding").map(|(_, rest)| rest)?;
        let name = rest.strip_prefix([':', '='])?.trim_start();
        let end = name.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c))).unwrap_or(name.len());
        let name = &name[..end];
        let utf8 = ["utf-8", "utf8", "utf_8", "u8"].iter().any(|known| known.eq_ignore_ascii_case(name));
        (!name.is_empty() && !utf8).then_some(name)
    })
}

/// Counts what may bind the name: stores and deletions, and any other identifier (an import, a function, a capture, `global`).
#[derive(Default)]
struct Bindings {
    count: usize,
}

impl<'a> SourceOrderVisitor<'a> for Bindings {
    fn visit_expr(&mut self, expr: &'a ast::Expr) {
        match expr {
            ast::Expr::Name(name) if name.id == NAME && !matches!(name.ctx, ast::ExprContext::Load) => self.count += 1,
            // Another object's attribute binds no name here.
            ast::Expr::Attribute(attribute) => return self.visit_expr(&attribute.value),
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn visit_identifier(&mut self, identifier: &'a ast::Identifier) {
        if identifier.id == NAME {
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(source: &str) -> Result<String, String> {
        literal(source.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn one_literal_assigned_once_at_the_top_level() {
        for source in [
            "__version__ = '1.2'",
            "\u{feff}__version__ = \"1.2\"",
            "# -*- coding: utf-8 -*-\n__version__: str = '1.2'\nx = __version__ + other.__version__",
            "__all__ = ['__version__']\n__version__ = r'1.2'\nprint(f'{__version__}')",
            "__ｖersion__ = '1.2'",
        ] {
            assert_eq!(read(source).as_deref(), Ok("1.2"), "{source}");
        }
        for (source, why) in [
            ("", "no __version__"),
            ("x.__version__ = '1'", "no __version__"),
            ("__version__ = compute()", "__version__ assigned something other than one string literal"),
            ("__version__ = '1' '.2'", "__version__ assigned something other than one string literal"),
            ("__version__ = f'1.2'", "__version__ assigned something other than one string literal"),
            ("__version__ = b'1.2'", "__version__ assigned something other than one string literal"),
            ("__version__ = '1'\n__version__ = '2'", "__version__ bound 2 times"),
            ("__version__ = '1'\n__version__ += '2'", "__version__ bound 2 times"),
            ("__version__ = '1'\ndef f():\n    global __version__\n", "__version__ bound 2 times"),
            ("__version__ = '1'\ndel __version__", "__version__ bound 2 times"),
            ("__version__ = '1'\nfrom x import y as __version__", "__version__ bound 2 times"),
            ("__version__ = '1'\nif (__version__ := '2'): pass", "__version__ bound 2 times"),
            ("__version__ = '1'\ntry: pass\nexcept E as __version__: pass", "__version__ bound 2 times"),
            ("__version__ = '1'\nmatch x:\n    case __version__: pass", "__version__ bound 2 times"),
            ("if x:\n    __version__ = '1'", "__version__ bound otherwise than by one assignment at the top level"),
            ("a = __version__ = '1'", "__version__ bound otherwise than by one assignment at the top level"),
            ("from v import __version__", "__version__ bound otherwise than by one assignment at the top level"),
            ("def __version__(): pass", "__version__ bound otherwise than by one assignment at the top level"),
            ("# coding: utf-7\n__version__ = '1'", "a declared source encoding \"utf-7\"; only UTF-8 is read"),
        ] {
            assert_eq!(read(source), Err(why.to_owned()), "{source}");
        }
        assert!(read("__version__ = ").unwrap_err().starts_with("not Python: "));
        assert!(literal(b"\xff".to_vec()).unwrap().unwrap_err().starts_with("not UTF-8: "));
        let long = "#".repeat(MAX_SOURCE + 1);
        assert_eq!(read(&long), Err("a file of 262145 bytes, where at most 262144 are parsed".into()));
    }

    #[test]
    fn deep_nesting_does_not_use_up_the_stack() {
        let half = MAX_SOURCE / 2 - 20;
        for deep in [
            "-".repeat(2 * half) + "1",
            "(".repeat(half) + &")".repeat(half),
            "[".repeat(half),
            "lambda:".repeat(half / 4),
        ] {
            let source = format!("__version__ = '1'\n{deep}\n");
            let read = read(&source);
            assert!(read == Ok("1".into()) || read.unwrap_err().starts_with("not Python: "));
        }
    }

    proptest! {
        #[test]
        fn arbitrary_source_is_judged_without_a_panic(source in "\\PC{0,200}") {
            let _ = read(&source);
        }

        #[test]
        fn only_a_plain_literal_is_believed(value in "[a-z0-9.]{1,12}", other in "[a-z0-9.]{1,12}") {
            prop_assert_eq!(read(&format!("__version__ = {value:?}")), Ok(value.clone()));
            let (twice, sum) = (format!("__version__ = {value:?}\n__version__ = {other:?}"), format!("__version__ = {value:?} + {other:?}"));
            prop_assert!(read(&twice).is_err() && read(&sum).is_err());
        }
    }

    #[test]
    fn a_project_version_is_a_string_or_absent() {
        assert_eq!(project_version(b"[project]\nversion = \"1.2\""), Ok(Some("1.2".into())));
        assert_eq!(project_version(b"[project]\ndynamic = [\"version\"]"), Ok(None));
        assert_eq!(project_version(b""), Ok(None));
        assert_eq!(
            project_version(b"[project]\nversion = 1.2"),
            Err("project.version is a float, not a string".into())
        );
        assert!(project_version(b"[project").unwrap_err().starts_with("not TOML: "));
        assert!(project_version(b"\xff").unwrap_err().starts_with("not UTF-8: "));
    }
}
