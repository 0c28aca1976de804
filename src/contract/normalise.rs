//! What an accepted text comes to: integers as integer literals, date-times in UTC, and the arguments of `schedule_sync` as
//! the server stores them.

use super::datetime::DateTime;
use super::json::{Json, Lookup};
use super::manifest::{STAGES, Tool, UNITS, contract_part};
use super::number::{self, Number};
use super::oracle::Oracle;
use super::schema::{Schema, Type};
use super::vectors::{Question, Verdict};

impl Oracle {
    /// The normalised form of a text; `None` if the contract refuses it. Of a manifest it is the part that carries the
    /// contract, members sorted.
    pub fn normalised(&self, question: &Question, text: &str) -> Option<Json> {
        if self.judge(question, text).verdict() == Verdict::Reject {
            return None;
        }
        let value = Json::parse(text).ok()?;
        match question {
            Question::Manifest => Some(contract_part(&value)),
            Question::Response { tool } => {
                let output = self.manifest().tool(tool)?.output.as_ref();
                Some(output.map_or_else(|| value.clone(), |schema| plain(&value, Some(schema))))
            }
            Question::Arguments { tool } => {
                let tool = self.manifest().tool(tool)?;
                let plain = plain(&value, Some(&tool.input));
                Some(if is_schedule_sync(self, tool) { stored(&plain) } else { plain })
            }
        }
    }
}

fn is_schedule_sync(oracle: &Oracle, tool: &Tool) -> bool {
    oracle.manifest().plugin == "proxbox" && tool.name == "schedule_sync"
}

/// The value with its integers as literals and its date-times in UTC, wherever the schema says that it is one.
fn plain(value: &Json, schema: Option<&Schema>) -> Json {
    let keywords = schema.and_then(Schema::keywords);
    match value {
        Json::Number(token) if keywords.is_some_and(|keywords| keywords.types.contains(&Type::Integer)) => {
            Json::Number(number::normalised(token))
        }
        Json::String(text) if keywords.is_some_and(|keywords| keywords.date_time) => {
            Json::String(DateTime::parse(text).map_or_else(|_| text.clone(), |instant| instant.to_string()))
        }
        Json::Array(items) => {
            let schema = keywords.and_then(|keywords| keywords.items.as_ref());
            Json::Array(items.iter().map(|item| plain(item, schema)).collect())
        }
        Json::Object(members) => {
            let below = |name: &str| keywords.and_then(|keywords| keywords.schema_of(name));
            Json::Object(members.iter().map(|(name, value)| (name.clone(), plain(value, below(name)))).collect())
        }
        scalar => scalar.clone(),
    }
}

/// Accepted arguments of `schedule_sync` as the server stores them, every member there: null is the default job name, no
/// schedule, no recurrence, every enabled endpoint.
fn stored(arguments: &Json) -> Json {
    let Json::Object(members) = arguments else { return arguments.clone() };
    let members = Lookup::new(members);
    let stages = match members.get("sync_stages") {
        // None is there twice, so as many as there are is all of them.
        Some(Json::Array(stages)) if stages.len() == STAGES.len() => Json::Array(vec![Json::String("all".into())]),
        stages => stages.cloned().unwrap_or(Json::Null),
    };
    let job_name = match members.get("job_name") {
        Some(Json::String(name)) if !trimmed(name).is_empty() => Json::String(trimmed(name).to_owned()),
        _ => Json::Null,
    };
    let or_null = |name: &str| members.get(name).cloned().unwrap_or(Json::Null);
    let interval = match members.get("recurrence") {
        Some(Json::Object(unit)) => unit.first().and_then(|(name, count)| minutes(name, count)).unwrap_or(Json::Null),
        _ => Json::Null,
    };
    let stored = [
        ("sync_types", stages),
        ("job_name", job_name),
        ("schedule_at", or_null("schedule_at")),
        ("interval", interval),
        ("proxmox_endpoint_ids", or_null("proxmox_endpoint_ids")),
    ];
    Json::Object(stored.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn minutes(unit: &str, count: &Json) -> Option<Json> {
    let unit = UNITS.iter().find(|known| known.name == unit)?;
    let Json::Number(token) = count else { return None };
    let minutes = Number::parse(token)?.to_u64()?.checked_mul(unit.minutes)?;
    Some(Json::Number(minutes.to_string()))
}

/// Without the white space at its edges, as the producer's Python counts white space: the separators U+001C to U+001F too.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(question: Question, text: &str) -> Option<String> {
        Oracle::bridge_v1().normalised(&question, text).map(|value| value.to_string())
    }

    fn arguments(text: &str) -> Option<String> {
        normalised(Question::Arguments { tool: "schedule_sync".into() }, text)
    }

    #[test]
    fn arguments_become_what_the_server_stores() {
        let all = STAGES.map(|stage| format!("{stage:?}"));
        let reversed: Vec<_> = all.iter().rev().cloned().collect();
        for (text, stored) in [
            (
                format!(r#"{{"sync_stages":[{}],"job_name":" \u001f\u3000a b\n "}}"#, reversed.join(",")),
                r#"{"sync_types":["all"],"job_name":"a b","schedule_at":null,"interval":null,"proxmox_endpoint_ids":null}"#,
            ),
            (
                format!(r#"{{"sync_stages":[{}],"job_name":"  "}}"#, all[..2].join(",")),
                r#"{"sync_types":["virtual-machines","storage"],"job_name":null,"schedule_at":null,"interval":null,"proxmox_endpoint_ids":null}"#,
            ),
            (
                r#"{"recurrence":{"hours":60e-1},"proxmox_endpoint_ids":[9.0,9223372036854775807],"schedule_at":"2100-01-01T00:59:60+01:00","sync_stages":["sdn"]}"#.into(),
                r#"{"sync_types":["sdn"],"job_name":null,"schedule_at":"2100-01-01T00:00:00Z","interval":360,"proxmox_endpoint_ids":[9,9223372036854775807]}"#,
            ),
            (
                r#"{"recurrence":{"weeks":213044},"sync_stages":["sdn"],"schedule_at":null}"#.into(),
                r#"{"sync_types":["sdn"],"job_name":null,"schedule_at":null,"interval":2147483520,"proxmox_endpoint_ids":null}"#,
            ),
        ] {
            assert_eq!(arguments(&text).as_deref(), Some(stored), "{text}");
        }
        assert_eq!(arguments("{}"), None);
    }

    #[test]
    fn responses_and_manifests_have_a_normal_form_too() {
        let list = Question::Response { tool: "list_sync_jobs".into() };
        let text = r#"{"count":1.0,"scheduled_jobs":[{"id":7e0,"pk":7,"name":"7.0","sync_types":[],"schedule":"2099-01-15t03:00:00.50+01:00","interval":null,"status":"2099-01-15t03:00:00Z"}]}"#;
        let plain = r#"{"count":1,"scheduled_jobs":[{"id":7,"pk":7,"name":"7.0","sync_types":[],"schedule":"2099-01-15T02:00:00.5Z","interval":null,"status":"2099-01-15t03:00:00Z"}]}"#;
        assert_eq!(normalised(list, text).as_deref(), Some(plain));
        assert_eq!(normalised(Question::Arguments { tool: "list_sync_jobs".into() }, " { } ").as_deref(), Some("{}"));
        let manifest = crate::contract::Contract::bridge_v1().manifest();
        let other = manifest.replace("Proxbox jobs", "Other words");
        assert_ne!(manifest, other);
        assert_eq!(normalised(Question::Manifest, manifest), normalised(Question::Manifest, &other));
    }
}
