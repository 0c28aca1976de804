//! A manifest as JSON.

use super::super::json::Json;
use super::{Annotations, Manifest, SCHEMA_VERSION, Tool};

impl Manifest {
    /// The manifest as JSON, its members in the order of the published one.
    pub fn to_json(&self) -> Json {
        object([
            ("plugin", string(&self.plugin)),
            ("schema_version", string(SCHEMA_VERSION)),
            ("tools", Json::Array(self.tools.iter().map(Tool::to_json).collect())),
        ])
    }
}

impl Tool {
    fn to_json(&self) -> Json {
        let Annotations { destructive, idempotent, open_world, read_only } = self.annotations;
        let hints = [
            ("destructiveHint", destructive),
            ("idempotentHint", idempotent),
            ("openWorldHint", open_world),
            ("readOnlyHint", read_only),
        ];
        let members = [
            ("name", string(&self.name)),
            ("title", string(&self.title)),
            ("description", string(&self.description)),
            ("method", string(self.method.name())),
            ("path", string(&self.path)),
            ("effect", string(self.effect.name())),
            ("annotations", object(hints.map(|(name, hint)| (name, Json::Bool(hint))))),
            ("inputSchema", self.input.to_json()),
        ];
        let output = self.output.iter().map(|schema| ("outputSchema", schema.to_json()));
        object(members.into_iter().chain(output))
    }
}

fn string(text: &str) -> Json {
    Json::String(text.to_owned())
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
