//! The published vector set: a TOML file in which one line is one vector.
//!
//! A `[[group]]` belongs to one contract. Its tables `accept` and `reject` hold `name = 'JSON text'`. Each entry of
//! its `ask` puts every one of these to one function of the SDK: the text takes the place of `<>` in the entry's
//! `frame` (without a frame it is the whole input). Where the question is `manifest`, the text is instead a JSON
//! Patch, whose result is the input: on the contract's own manifest, or on the one of `[manifests]` that the entry
//! names as its `base`. A vector's id is the entry's `id`, a slash, and the name.

use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;

use serde::Deserialize;

use super::json::{Json, JsonError};
use super::patch::{self, PatchError};

/// Which contract a vector belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum Topic {
    /// Integers keep their exact identity.
    #[serde(rename = "lossless-json-integer-identity")]
    Integer,
    /// Date-times follow the exact rule.
    #[serde(rename = "bounded-rfc3339-normalization")]
    DateTime,
    /// Payloads and manifests are held to the published schema.
    #[serde(rename = "bridge-v1-schema")]
    Schema,
}

impl Topic {
    /// The contract's name in reports and activation records.
    pub fn name(self) -> &'static str {
        match self {
            Topic::Integer => "lossless-json-integer-identity",
            Topic::DateTime => "bounded-rfc3339-normalization",
            Topic::Schema => "bridge-v1-schema",
        }
    }
}

/// Which function of the SDK the input is put to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// [`arguments`](super::Functions::arguments)
    Arguments {
        /// The tool, by its name in the manifest.
        tool: String,
    },
    /// [`response`](super::Functions::response)
    Response {
        /// The tool, by its name in the manifest.
        tool: String,
    },
    /// `model_validate` of the [`model`](super::Functions::model)
    Manifest,
}

/// What the contract says of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It must be let through.
    Accept,
    /// It must be rejected, with the SDK's own error.
    Reject,
}

impl Verdict {
    /// The verdict's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Accept => "accept",
            Verdict::Reject => "reject",
        }
    }
}

/// One input with the verdict the contract demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Its stable, unique id: lower-case ASCII letters, digits, `-` and `/`.
    pub id: String,
    /// The contract it belongs to.
    pub topic: Topic,
    /// Whom to ask.
    pub question: Question,
    /// What the answer has to be.
    pub expected: Verdict,
    /// JSON text in the grammar of [`super::json`]; 7 and 7.0 differ.
    pub input: String,
}

/// The vector file is not in order.
#[derive(Clone, Debug, thiserror::Error)]
pub enum VectorError {
    /// The file is not TOML of the documented shape.
    #[error("the vector file cannot be read")]
    Toml(#[from] toml::de::Error),
    /// A manifest the vectors vary is not JSON.
    #[error("the manifest {name:?} is not JSON")]
    Manifest {
        /// Its name in the file; empty for the contract's own.
        name: String,
        /// Why not.
        source: JsonError,
    },
    /// An entry names a manifest that is not there.
    #[error("there is no manifest {0:?} to vary")]
    Base(String),
    /// A frame has no place for the text, or several.
    #[error("expected exactly one <> in the frame of {0:?}")]
    Frame(String),
    /// Two vectors share an id.
    #[error("two vectors have the id {0:?}")]
    Duplicate(String),
    /// An input is not JSON.
    #[error("the input of {id:?} is not JSON")]
    Input {
        /// Which vector.
        id: String,
        /// Why not.
        source: JsonError,
    },
    /// A patch does not fit the manifest.
    #[error("the patch of {id:?} cannot be applied to the manifest")]
    Patch {
        /// Which vector.
        id: String,
        /// Why not.
        source: PatchError,
    },
}

/// A vector file with the manifest its vectors are about; read on first use.
#[derive(Debug)]
pub struct VectorFile {
    text: &'static str,
    manifest: &'static str,
    parsed: OnceLock<Result<Vec<Vector>, VectorError>>,
}

impl VectorFile {
    /// Both texts, unread.
    pub const fn new(text: &'static str, manifest: &'static str) -> Self {
        VectorFile { text, manifest, parsed: OnceLock::new() }
    }

    /// The file's text; reports carry the digest of its bytes.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// Its vectors.
    ///
    /// # Errors
    /// The file is not in order; never so for an embedded one, which a test reads.
    pub fn vectors(&self) -> Result<&[Vector], &VectorError> {
        self.parsed.get_or_init(|| parse(self.text, self.manifest)).as_deref()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    manifests: BTreeMap<String, String>,
    group: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    contract: Topic,
    ask: Vec<Ask>,
    #[serde(default)]
    accept: BTreeMap<String, String>,
    #[serde(default)]
    reject: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(tag = "question", rename_all = "lowercase", deny_unknown_fields)]
enum Ask {
    Arguments {
        id: String,
        tool: String,
        #[serde(default = "whole")]
        frame: String,
    },
    Response {
        id: String,
        tool: String,
        #[serde(default = "whole")]
        frame: String,
    },
    Manifest {
        id: String,
        #[serde(default)]
        base: String,
    },
}

fn whole() -> String {
    "<>".to_owned()
}

/// Reads a vector file; the vectors come group by group, accepted before rejected, by name.
///
/// # Errors
/// Any [`VectorError`].
pub fn parse(text: &str, manifest: &str) -> Result<Vec<Vector>, VectorError> {
    let file: File = toml::from_str(text)?;
    let named = file.manifests.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let mut bases = BTreeMap::new();
    for (name, text) in named.chain([("", manifest)]) {
        let base = Json::parse(text).map_err(|source| VectorError::Manifest { name: name.to_owned(), source })?;
        bases.insert(name, base);
    }
    let mut vectors = Vec::new();
    let mut ids = HashSet::new();
    for group in &file.group {
        for ask in &group.ask {
            let verdicts = [(Verdict::Accept, &group.accept), (Verdict::Reject, &group.reject)];
            for (expected, (name, text)) in verdicts.iter().flat_map(|(v, texts)| texts.iter().map(move |t| (*v, t))) {
                let vector = vector(group.contract, ask, expected, name, text, &bases)?;
                if !ids.insert(vector.id.clone()) {
                    return Err(VectorError::Duplicate(vector.id));
                }
                vectors.push(vector);
            }
        }
    }
    Ok(vectors)
}

fn vector(
    topic: Topic,
    ask: &Ask,
    expected: Verdict,
    name: &str,
    text: &str,
    bases: &BTreeMap<&str, Json>,
) -> Result<Vector, VectorError> {
    let (prefix, question) = match ask {
        Ask::Arguments { id, tool, .. } => (id, Question::Arguments { tool: tool.clone() }),
        Ask::Response { id, tool, .. } => (id, Question::Response { tool: tool.clone() }),
        Ask::Manifest { id, .. } => (id, Question::Manifest),
    };
    let id = format!("{prefix}/{name}");
    let input = match ask {
        Ask::Arguments { frame, .. } | Ask::Response { frame, .. } => {
            let input = framed(frame, text).ok_or_else(|| VectorError::Frame(prefix.clone()))?;
            if let Err(source) = Json::parse(&input) {
                return Err(VectorError::Input { id, source });
            }
            input
        }
        Ask::Manifest { base, .. } => {
            let mut varied = bases.get(base.as_str()).ok_or_else(|| VectorError::Base(base.clone()))?.clone();
            if let Err(source) = patch::apply(&mut varied, text) {
                return Err(VectorError::Patch { id, source });
            }
            varied.to_string()
        }
    };
    Ok(Vector { id, topic, question, expected, input })
}

fn framed(frame: &str, text: &str) -> Option<String> {
    let (before, after) = frame.split_once("<>")?;
    (!after.contains("<>")).then(|| [before, text, after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEAD: &str = "[[group]]\ncontract = 'bridge-v1-schema'\n";

    fn error(text: &str) -> VectorError {
        parse(&format!("{HEAD}{text}"), r#"{"a":1}"#).unwrap_err()
    }

    #[test]
    fn one_text_becomes_one_vector_for_every_ask() {
        let text = format!(
            "{HEAD}ask = [{{ id = 'x/a', question = 'arguments', tool = 't', frame = '[<>]' }}, \
             {{ id = 'x/r', question = 'response', tool = 'u' }}]\naccept.seven = '7.0'\nreject.eight = '8'\n\
             {HEAD}ask = [{{ id = 'm', question = 'manifest' }}, \
             {{ id = 'n', question = 'manifest', base = 'empty' }}]\n\
             accept.b = '[{{\"op\":\"add\",\"path\":\"/b\",\"value\":2.0}}]'"
        );
        let text = format!("manifests.empty = '{{ }}'\n{text}");
        let vectors = parse(&text, r#"{ "a": 1 }"#).unwrap();
        let told: Vec<_> = vectors.iter().map(|v| (v.id.as_str(), v.expected.name(), v.input.as_str())).collect();
        assert_eq!(
            told,
            [
                ("x/a/seven", "accept", "[7.0]"),
                ("x/a/eight", "reject", "[8]"),
                ("x/r/seven", "accept", "7.0"),
                ("x/r/eight", "reject", "8"),
                ("m/b", "accept", r#"{"a":1,"b":2.0}"#),
                ("n/b", "accept", r#"{"b":2.0}"#),
            ]
        );
        assert_eq!(vectors[0].question, Question::Arguments { tool: "t".into() });
        assert_eq!(vectors[2].question, Question::Response { tool: "u".into() });
        assert_eq!(vectors[4].question, Question::Manifest);
        assert!(vectors.iter().all(|vector| vector.topic == Topic::Schema));
    }

    #[test]
    fn a_file_out_of_order_is_refused_with_the_place() {
        let ask = "ask = [{ id = 'x', question = 'response', tool = 't', frame = '<>' }]\n";
        let manifest = "ask = [{ id = 'm', question = 'manifest' }]\n";
        for (text, message) in [
            (format!("{ask}accept.a = '7'\nreject.a = '8'"), r#"two vectors have the id "x/a""#),
            (format!("{ask}accept.a = '[7'"), r#"the input of "x/a" is not JSON"#),
            (ask.replace("<>", "<><>") + "accept.a = '7'", r#"expected exactly one <> in the frame of "x""#),
            (ask.replace("<>", "") + "accept.a = '7'", r#"expected exactly one <> in the frame of "x""#),
            (format!("{manifest}accept.a = '[7]'"), r#"the patch of "m/a" cannot be applied to the manifest"#),
            (manifest.replace(" }", ", base = 'b' }") + "accept.a = '[]'", r#"there is no manifest "b" to vary"#),
            (format!("{ask}refuse.a = '7'"), "the vector file cannot be read"),
            (ask.replace("response", "answer"), "the vector file cannot be read"),
            (ask.replace("frame", "form"), "the vector file cannot be read"),
        ] {
            assert_eq!(error(&text).to_string(), message, "{text}");
        }
        assert_eq!(parse("group = []", "{").unwrap_err().to_string(), r#"the manifest "" is not JSON"#);
        let named = parse("group = []\nmanifests.b = '{'", "{}").unwrap_err();
        assert_eq!(named.to_string(), r#"the manifest "b" is not JSON"#);
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,80}", frame in "(<>|[\\PC&&[^']]){0,6}", json in "[0-9\\[\\]{}\",:a]{0,12}") {
            let _ = parse(&text, "{}");
            let ask = format!("ask = [{{ id = 'x', question = 'response', tool = 't', frame = '{frame}' }}]\n");
            let ask = format!("{ask}accept.a = '{json}'");
            if let Ok(vectors) = parse(&format!("{HEAD}{ask}"), "{}") {
                prop_assert_eq!(&vectors[0].input, &frame.replacen("<>", &json, 1));
            }
        }
    }
}
