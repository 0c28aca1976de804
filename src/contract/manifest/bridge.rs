//! The contract of the Proxbox bridge, version 1 (`SPECIFICATION.txt`): the one place where its names and numbers are said.
//! Titles and descriptions are our own words; they carry no contract.

use super::super::json::Json;
use super::super::number::Number;
use super::super::schema::{Keywords, Schema, Type};
use super::{Annotations, Effect, Manifest, Method, Tool};

/// The thirteen stages of a synchronization, in the order they run.
pub const STAGES: [&str; 13] = [
    "virtual-machines",
    "storage",
    "vm-disks",
    "vm-backups",
    "vm-snapshots",
    "devices",
    "network-interfaces",
    "vm-interfaces",
    "ip-addresses",
    "sdn",
    "backup-routines",
    "replications",
    "task-history",
];

/// The largest primary key: signed 64 bits.
pub const LARGEST_ID: u64 = 9_223_372_036_854_775_807;

/// The largest interval in minutes that a NetBox job stores.
pub const LARGEST_INTERVAL: u64 = 2_147_483_647;

/// A unit of recurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its member in the arguments.
    pub name: &'static str,
    /// Minutes in one.
    pub minutes: u64,
}

/// The units, in the order the contract lists them.
pub const UNITS: [Unit; 4] = [
    Unit { name: "days", minutes: 1440 },
    Unit { name: "hours", minutes: 60 },
    Unit { name: "minutes", minutes: 1 },
    Unit { name: "weeks", minutes: 10_080 },
];

impl Unit {
    /// The most of this unit that stays within [`LARGEST_INTERVAL`].
    pub const fn most(self) -> u64 {
        LARGEST_INTERVAL / self.minutes
    }
}

impl Manifest {
    /// The producer's manifest but for its prose.
    pub fn bridge_v1() -> Manifest {
        Manifest { plugin: "proxbox".into(), tools: vec![list_sync_jobs(), schedule_sync()] }
    }
}

fn list_sync_jobs() -> Tool {
    Tool {
        name: "list_sync_jobs".into(),
        title: "Proxbox jobs".into(),
        description:
            "Shows the synchronization jobs of Proxbox that the calling NetBox user may see: running, failed and \
                      repeating ones."
                .into(),
        method: Method::Get,
        path: "sync/schedule/".into(),
        effect: Effect::Read,
        annotations: Annotations { destructive: false, idempotent: true, open_world: false, read_only: true },
        input: object(&[], []),
        output: Some(object(
            &["count", "scheduled_jobs"],
            [("count", integer(0, LARGEST_ID)), ("scheduled_jobs", array(job()))],
        )),
    }
}

fn job() -> Schema {
    object(
        &["id", "pk", "name", "sync_types", "schedule", "interval", "status"],
        [
            ("id", integer(1, LARGEST_ID)),
            ("interval", or_null(integer(1, LARGEST_INTERVAL))),
            ("name", or_null(typed(Type::String))),
            ("pk", integer(1, LARGEST_ID)),
            ("schedule", date_time_or_null()),
            ("status", typed(Type::String)),
            ("sync_types", array(typed(Type::String))),
        ],
    )
}

fn schedule_sync() -> Tool {
    Tool {
        name: "schedule_sync".into(),
        title: "Start or plan a Proxbox run".into(),
        description: "Enqueues one Proxbox synchronization: at once, at a given time, or at a fixed interval. A run may \
                      remove NetBox records that no longer exist in Proxmox. Name every stage to run; naming all thirteen \
                      is the full synchronization. Endpoint preparation, cluster and node inventory, firewall, datacenter \
                      and template passes happen whatever stages are named. Sending the same request twice may enqueue it \
                      twice. Without endpoint ids every enabled endpoint takes part."
            .into(),
        method: Method::Post,
        path: "sync/schedule/".into(),
        effect: Effect::Destructive,
        annotations: Annotations { destructive: true, idempotent: false, open_world: true, read_only: false },
        input: object(
            &["sync_stages"],
            [
                ("sync_stages", some_of(stage())),
                ("job_name", Keywords { max_length: Some(200), ..keywords(Type::String) }.into()),
                ("schedule_at", date_time_or_null()),
                ("recurrence", recurrence()),
                ("proxmox_endpoint_ids", some_of(endpoint_id())),
            ],
        ),
        output: Some(object(
            &["ok", "job_id", "message"],
            [
                ("job_id", or_null(integer(1, LARGEST_ID))),
                ("message", typed(Type::String)),
                ("ok", Keywords { constant: Some(Json::Bool(true)), ..Keywords::default() }.into()),
            ],
        )),
    }
}

fn stage() -> Schema {
    let names = STAGES.iter().map(|&name| Json::String(name.into())).collect();
    Keywords { enumeration: Some(names), ..keywords(Type::String) }.into()
}

fn recurrence() -> Schema {
    Keywords {
        description: Some("One unit with its count; leave it out to run once.".into()),
        additional_properties: Some(Schema::Bool(false)),
        min_properties: Some(1),
        max_properties: Some(1),
        properties: Some(UNITS.iter().map(|unit| (unit.name.into(), integer(1, unit.most()))).collect()),
        ..keywords(Type::Object)
    }
    .into()
}

fn endpoint_id() -> Schema {
    Keywords {
        description: Some(
            "NetBox primary key. Write large ones as plain integers: a number with a point or an exponent counts only up \
             to 9007199254740991."
                .into(),
        ),
        ..bounded(1, LARGEST_ID)
    }
    .into()
}

fn keywords(kind: Type) -> Keywords {
    Keywords { types: vec![kind], ..Keywords::default() }
}

fn typed(kind: Type) -> Schema {
    keywords(kind).into()
}

fn bounded(least: u64, most: u64) -> Keywords {
    Keywords { minimum: Some(Number::from(least)), maximum: Some(Number::from(most)), ..keywords(Type::Integer) }
}

fn integer(least: u64, most: u64) -> Schema {
    bounded(least, most).into()
}

fn date_time_or_null() -> Schema {
    or_null(Keywords { date_time: true, ..keywords(Type::String) }.into())
}

fn or_null(schema: Schema) -> Schema {
    match schema {
        Schema::Keywords(mut keywords) => {
            keywords.types.push(Type::Null);
            keywords.types_listed = true;
            Schema::Keywords(keywords)
        }
        schema @ Schema::Bool(_) => schema,
    }
}

fn array(items: Schema) -> Schema {
    Keywords { items: Some(items), ..keywords(Type::Array) }.into()
}

/// At least one, none twice.
fn some_of(items: Schema) -> Schema {
    Keywords { min_items: Some(1), unique_items: Some(true), items: Some(items), ..keywords(Type::Array) }.into()
}

/// A closed object.
fn object<const N: usize>(required: &[&str], properties: [(&str, Schema); N]) -> Schema {
    let names: Vec<_> = required.iter().map(|&name| name.to_owned()).collect();
    Keywords {
        additional_properties: Some(Schema::Bool(false)),
        required: (!names.is_empty()).then_some(names),
        properties: Some(properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()),
        ..keywords(Type::Object)
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recurrence_maxima_are_those_of_the_specification() {
        let most = UNITS.map(|unit| (unit.name, unit.most()));
        assert_eq!(most, [("days", 1_491_308), ("hours", 35_791_394), ("minutes", 2_147_483_647), ("weeks", 213_044)]);
    }

    #[test]
    fn the_committed_manifest_is_the_generated_one() {
        let generated = format!("{:#}\n", Manifest::bridge_v1().to_json());
        let committed = crate::contract::Contract::bridge_v1().manifest();
        assert!(generated == committed, "write it anew: cargo run -- manifest > fixtures/bridge_v1/manifest.json");
    }
}
