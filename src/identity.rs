//! What the caller says must be proven. Parsed once; a value of these types is well-formed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::contract::Contract;

/// A malformed identity argument: which part of it is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IdentityError(String);

/// A full SHA-1 commit id: 40 lower-case hexadecimal digits, nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CommitId(gix::ObjectId);

impl CommitId {
    /// The id as gix's type.
    pub fn object_id(self) -> gix::ObjectId {
        self.0
    }
}

impl FromStr for CommitId {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        let hex = |c: &char| matches!(c, '0'..='9' | 'a'..='f');
        if let Some((at, wrong)) = text.chars().enumerate().find(|(_, c)| !hex(c)) {
            let why = if wrong.is_ascii_hexdigit() { "; write the id in lower case" } else { "" };
            return Err(IdentityError(format!(
                "expected a commit id of 40 lower-case hexadecimal digits, found {wrong:?} at character {}{why}",
                at + 1
            )));
        }
        if text.len() != 40 {
            return Err(IdentityError(format!(
                "expected a full commit id of 40 hexadecimal digits, found {}; `git rev-parse HEAD` prints it in full",
                text.len()
            )));
        }
        match gix::ObjectId::from_hex(text.as_bytes()) {
            Ok(id) if !id.is_null() => Ok(CommitId(id)),
            Ok(_) => Err(IdentityError("expected a commit id, found the null id".into())),
            Err(error) => Err(IdentityError(format!("expected a commit id: {error}"))),
        }
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommitId({})", self.0)
    }
}

/// One exact released version (PEP 440), kept as spelled: no range, wildcard, branch name, `dev` or local part, no blanks
/// around it, at most 100 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseVersion {
    spelled: String,
    parsed: pep440_rs::Version,
}

impl ReleaseVersion {
    /// The longest accepted spelling, in characters (the activation record's bound).
    pub const MAX_CHARS: usize = 100;

    /// The version as it was spelled.
    pub fn as_str(&self) -> &str {
        &self.spelled
    }

    /// `other` names the same release in another spelling (PEP 440 equality), as `1.0` and `1.0.0` do.
    pub fn is_respelled_as(&self, other: &str) -> bool {
        other != self.spelled && pep440_rs::Version::from_str(other).is_ok_and(|other| other == self.parsed)
    }
}

impl FromStr for ReleaseVersion {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        let wrong =
            |why: &str| Err(IdentityError(format!("expected one exact released version such as 0.0.13, {why}")));
        if text.is_empty() {
            return wrong("found an empty string");
        }
        let length = text.chars().count();
        if length > Self::MAX_CHARS {
            return wrong(&format!("found {length} characters where at most {} are allowed", Self::MAX_CHARS));
        }
        if let Some((at, c)) = text.chars().enumerate().find(|(_, c)| !c.is_ascii_graphic()) {
            return wrong(&format!("found {c:?} at character {}", at + 1));
        }
        if let Some((at, c)) = text.chars().enumerate().find(|(_, c)| "<>=~^,*|;@".contains(*c)) {
            return wrong(&format!("found {c:?} at character {}: a range or wildcard names no release", at + 1));
        }
        let Ok(parsed) = pep440_rs::Version::from_str(text) else {
            return wrong(&format!(
                "found {text:?}, which is no PEP 440 version; a branch or tag name names no release"
            ));
        };
        if parsed.is_dev() {
            return wrong(&format!("found the development version {text:?}"));
        }
        if parsed.is_local() {
            return wrong(&format!("found {text:?}, whose part after + is local and was never released"));
        }
        Ok(ReleaseVersion { spelled: text.to_owned(), parsed })
    }
}

impl fmt::Display for ReleaseVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled)
    }
}

/// The path, inside the commit, of the module under test: exactly the contract's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleOrigin(String);

impl ModuleOrigin {
    /// Parses the argument against the contract that fixes it.
    ///
    /// # Errors
    /// Anything but the contract's own spelling.
    pub fn parse(text: &str, contract: &Contract) -> Result<Self, IdentityError> {
        if text == contract.module_origin {
            Ok(ModuleOrigin(text.to_owned()))
        } else {
            Err(IdentityError(format!(
                "expected the module origin {:?} of contract {}, found {text:?}",
                contract.module_origin, contract.name
            )))
        }
    }

    /// The path as spelled, with `/` between components.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModuleOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The identity to prove. Nothing during verification changes it.
#[derive(Clone, Debug)]
pub struct ExpectedIdentity {
    commit: CommitId,
    version: ReleaseVersion,
    module_origin: ModuleOrigin,
    environment_root: PathBuf,
}

impl ExpectedIdentity {
    /// Joins the four parts.
    ///
    /// # Errors
    /// The environment root is not absolute.
    pub fn new(
        commit: CommitId,
        version: ReleaseVersion,
        module_origin: ModuleOrigin,
        environment_root: PathBuf,
    ) -> Result<Self, IdentityError> {
        let environment_root = Self::absolute(environment_root)?;
        Ok(ExpectedIdentity { commit, version, module_origin, environment_root })
    }

    /// Checks an environment root: it must be absolute.
    ///
    /// # Errors
    /// It is not.
    pub fn absolute(environment_root: PathBuf) -> Result<PathBuf, IdentityError> {
        if environment_root.is_absolute() {
            return Ok(environment_root);
        }
        let found = environment_root.display().to_string();
        Err(IdentityError(format!("expected an absolute environment root, found {found:?}; `realpath` makes one")))
    }

    /// The commit.
    pub fn commit(&self) -> CommitId {
        self.commit
    }

    /// The version that commit must declare.
    pub fn version(&self) -> &ReleaseVersion {
        &self.version
    }

    /// The module under test.
    pub fn module_origin(&self) -> &ModuleOrigin {
        &self.module_origin
    }

    /// The virtual environment, absolute.
    pub fn environment_root(&self) -> &Path {
        &self.environment_root
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn commit_error(text: &str) -> String {
        text.parse::<CommitId>().unwrap_err().to_string()
    }

    fn version_error(text: &str) -> String {
        text.parse::<ReleaseVersion>().unwrap_err().to_string()
    }

    #[test]
    fn a_commit_id_is_forty_lower_case_digits() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(id.parse::<CommitId>().unwrap().to_string(), id);
        assert_eq!(
            commit_error(&id.to_uppercase()),
            "expected a commit id of 40 lower-case hexadecimal digits, found 'A' at character 11; write the id in lower case"
        );
        assert_eq!(
            commit_error("main"),
            "expected a commit id of 40 lower-case hexadecimal digits, found 'm' at character 1"
        );
        assert_eq!(
            commit_error(&id[..7]),
            "expected a full commit id of 40 hexadecimal digits, found 7; `git rev-parse HEAD` prints it in full"
        );
        assert_eq!(
            commit_error(&format!("{id}{}", &id[..24])),
            "expected a full commit id of 40 hexadecimal digits, found 64; `git rev-parse HEAD` prints it in full"
        );
        assert_eq!(commit_error(&"0".repeat(40)), "expected a commit id, found the null id");
        assert!(commit_error(&format!("{id}\n")).contains("'\\n' at character 41"));
        assert!(commit_error(&format!(" {id}")).contains("' ' at character 1"));
    }

    #[test]
    fn a_version_is_one_exact_release_as_spelled() {
        for text in ["0.0.13", "1.0rc1", "1!2.0.post3", "v0.0.13", "2024.1", &format!("1.{}", "0".repeat(98))] {
            assert_eq!(text.parse::<ReleaseVersion>().unwrap().as_str(), text);
        }
        let start = "expected one exact released version such as 0.0.13, ";
        for (text, why) in [
            ("", "found an empty string"),
            (">=0.0.11", "found '>' at character 1: a range or wildcard names no release"),
            ("0.0.*", "found '*' at character 5: a range or wildcard names no release"),
            ("main", "found \"main\", which is no PEP 440 version; a branch or tag name names no release"),
            (" 0.0.13", "found ' ' at character 1"),
            ("0.0.13\n", "found '\\n' at character 7"),
            ("0.0.\u{661}", "found '\u{661}' at character 5"),
            ("0.0.13.dev1", "found the development version \"0.0.13.dev1\""),
            ("0.0.13+abc", "found \"0.0.13+abc\", whose part after + is local and was never released"),
            (&format!("1.{}", "0".repeat(99)), "found 101 characters where at most 100 are allowed"),
        ] {
            assert_eq!(version_error(text), format!("{start}{why}"), "{text:?}");
        }
    }

    #[test]
    fn another_spelling_of_the_same_release_is_told_apart_from_another_release() {
        let version: ReleaseVersion = "0.0.13".parse().unwrap();
        assert!(version.is_respelled_as("v0.0.13"));
        assert!(version.is_respelled_as("0.0.13.0"));
        assert!(!version.is_respelled_as("0.0.13"));
        assert!(!version.is_respelled_as("0.0.12"));
        assert!(!version.is_respelled_as("main"));
    }

    #[test]
    fn the_module_origin_is_the_contracts_and_the_environment_root_absolute() {
        let contract = Contract::bridge_v1();
        assert!(ModuleOrigin::parse("netbox_sdk/plugin_bridge.py", contract).is_ok());
        assert_eq!(
            ModuleOrigin::parse("./netbox_sdk/plugin_bridge.py", contract).unwrap_err().to_string(),
            "expected the module origin \"netbox_sdk/plugin_bridge.py\" of contract proxbox-bridge-v1, \
             found \"./netbox_sdk/plugin_bridge.py\""
        );
        let new = |root: &str| {
            ExpectedIdentity::new(
                "0123456789abcdef0123456789abcdef01234567".parse().unwrap(),
                "0.0.13".parse().unwrap(),
                ModuleOrigin::parse("netbox_sdk/plugin_bridge.py", contract).unwrap(),
                root.into(),
            )
        };
        assert!(new("/venv").is_ok());
        assert_eq!(
            new("venv").unwrap_err().to_string(),
            "expected an absolute environment root, found \"venv\"; `realpath` makes one"
        );
    }

    proptest! {
        #[test]
        fn a_parsed_commit_id_prints_as_it_was_given(text in "[0-9a-f]{40}") {
            prop_assume!(text.bytes().any(|b| b != b'0'));
            prop_assert_eq!(text.parse::<CommitId>().unwrap().to_string(), text);
        }

        #[test]
        fn arbitrary_text_is_an_id_only_if_it_looks_like_one(text in "\\PC{0,64}") {
            let looks = text.len() == 40 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            prop_assert_eq!(text.parse::<CommitId>().is_ok(), looks);
        }

        #[test]
        fn an_accepted_version_is_printable_short_and_exact(text in "[!-~ ]{0,110}") {
            if let Ok(version) = text.parse::<ReleaseVersion>() {
                prop_assert_eq!(version.as_str(), text.as_str());
                prop_assert!(text.len() <= 100 && !text.contains(['<', '>', '=', '*', ' ', '+']));
            }
        }
    }
}
