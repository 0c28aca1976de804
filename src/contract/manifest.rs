//! The manifest, typed: what it may say, and what the producer's says.

mod bridge;
mod compare;
mod read;
mod write;

use super::schema::Schema;

pub use bridge::{LARGEST_ID, LARGEST_INTERVAL, STAGES, UNITS, Unit};
pub use compare::{Difference, contract_part, differences};

/// The protocol version of the descriptors, a string.
pub const SCHEMA_VERSION: &str = "1";

/// A manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The plugin's slug.
    pub plugin: String,
    /// At least one, named differently.
    pub tools: Vec<Tool>,
}

/// A tool's descriptor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Unique in its manifest.
    pub name: String,
    /// Prose of 1 to 200 code points.
    pub title: String,
    /// Prose of 1 to 2,000 code points.
    pub description: String,
    /// How it is asked.
    pub method: Method,
    /// Relative to the plugin's API root.
    pub path: String,
    /// What it does.
    pub effect: Effect,
    /// What it says it does.
    pub annotations: Annotations,
    /// What its arguments have to be: an object, closed.
    pub input: Schema,
    /// What its answers have to be: an object, closed.
    pub output: Option<Schema>,
}

/// An HTTP method a tool may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 6] = [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }

    /// It changes nothing.
    pub fn reads(self) -> bool {
        matches!(self, Method::Get | Method::Head)
    }
}

/// What calling a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Effect {
    Read,
    Write,
    Destructive,
}

impl Effect {
    /// All of them.
    pub const ALL: [Effect; 3] = [Effect::Read, Effect::Write, Effect::Destructive];

    /// Its name in a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::Destructive => "destructive",
        }
    }
}

/// A tool's hints, as MCP has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Annotations {
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
    pub read_only: bool,
}

impl Manifest {
    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}
