//! Arguments and responses of both tools.

use super::super::json::Json;
use super::super::manifest::{LARGEST_ID, LARGEST_INTERVAL, STAGES, UNITS};
use super::super::vectors::{Question, Topic};
use super::Draft;
use super::dice::Dice;
use super::mutate::mutate;
use super::values::{anything, date_time, integer, name, near, number, spelt, string, tame_date_time, tame_integer};

pub(super) fn draft(dice: &mut Dice) -> Draft {
    let mut draft = match dice.below(16) {
        0 => list_arguments(dice),
        1..9 => schedule_arguments(dice),
        9..14 => list_response(dice),
        _ => schedule_response(dice),
    };
    if dice.one_in(6) {
        mutate(dice, &mut draft.value);
        draft.topic = Topic::Schema;
    }
    draft
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn list_arguments(dice: &mut Dice) -> Draft {
    let value = match dice.below(3) {
        0 => object([]),
        1 => object([(dice.pick(&["limit", "", "sync_stages", "user"]), anything(dice))]),
        _ => anything(dice),
    };
    Draft { topic: Topic::Schema, question: Question::Arguments { tool: "list_sync_jobs".into() }, value }
}

/// Good arguments with one member drawn wildly.
fn schedule_arguments(dice: &mut Dice) -> Draft {
    let wild = dice.below(8);
    let mut members = vec![("sync_stages", if wild == 0 { wild_stages(dice) } else { stages(dice) })];
    let mut topic = Topic::Schema;
    if wild == 1 || dice.one_in(3) {
        members.push(("job_name", if wild == 1 { name(dice, 200) } else { string("nightly") }));
    }
    if wild == 2 || wild == 3 || dice.one_in(3) {
        members.push((
            "schedule_at",
            match wild {
                2 | 3 => date_time(dice),
                _ if dice.one_in(3) => Json::Null,
                _ => string(tame_date_time(dice)),
            },
        ));
    }
    if wild == 4 || dice.one_in(3) {
        members.push(("recurrence", if wild == 4 { wild_recurrence(dice) } else { recurrence(dice) }));
    }
    if wild == 5 || wild == 6 || dice.one_in(3) {
        let ids = if wild == 5 || wild == 6 { wild_ids(dice) } else { Json::Array(vec![tame_integer(dice, 1, 99)]) };
        members.push(("proxmox_endpoint_ids", ids));
    }
    match wild {
        2 | 3 => topic = Topic::DateTime,
        4..7 => topic = Topic::Integer,
        7 if dice.one_in(2) => {
            let legacy = ["sync_types", "interval_value", "interval_unit", "netbox_endpoint_ids", "priority", "all"];
            members.push((dice.pick(&legacy), anything(dice)));
        }
        _ => {}
    }
    let value = Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
    Draft { topic, question: Question::Arguments { tool: "schedule_sync".into() }, value }
}

fn stages(dice: &mut Dice) -> Json {
    let mut names = STAGES.map(string);
    dice.shuffle(&mut names);
    let count = if dice.one_in(6) { STAGES.len() } else { 1 + dice.below(4) };
    Json::Array(names.into_iter().take(count).collect())
}

fn wild_stages(dice: &mut Dice) -> Json {
    let mut value = stages(dice);
    let Json::Array(items) = &mut value else { return value };
    let extra = match dice.below(6) {
        0 => string("all"),
        1 => items[dice.below(items.len())].clone(),
        2 => anything(dice),
        3 => string(near(dice, first_stage(items))),
        4 => return anything(dice),
        _ => return value,
    };
    items.insert(dice.below(items.len() + 1), extra);
    value
}

fn first_stage(items: &[Json]) -> &str {
    match items {
        [Json::String(name), ..] => name,
        _ => "storage",
    }
}

fn recurrence(dice: &mut Dice) -> Json {
    object([(dice.pick(&UNITS).name, tame_integer(dice, 1, 99))])
}

fn wild_recurrence(dice: &mut Dice) -> Json {
    let unit = dice.pick(&UNITS);
    let mut members = vec![(unit.name.to_owned(), integer(dice, 1, i128::from(unit.most())))];
    match dice.below(10) {
        0 => members.push((dice.pick(&UNITS).name.to_owned(), tame_integer(dice, 1, 9))),
        1 => members[0].0 = near(dice, unit.name),
        2 => members.push(("months".into(), tame_integer(dice, 1, 9))),
        3 => return anything(dice),
        _ => {}
    }
    // Twice the same unit is a repeated member, which is another question.
    members.dedup_by(|later, earlier| later.0 == earlier.0);
    Json::Object(members)
}

fn wild_ids(dice: &mut Dice) -> Json {
    if dice.one_in(12) {
        return anything(dice);
    }
    if dice.one_in(100) {
        return many_ids(dice);
    }
    let count = dice.below(4);
    let mut ids: Vec<_> = (0..count).map(|_| tame_integer(dice, 1, 1000)).collect();
    match dice.below(4) {
        0 if !ids.is_empty() => {
            // The same once more, or its neighbour, in another spelling.
            let value = if let Json::Number(token) = &ids[0] { token.parse::<i128>().unwrap_or(7) } else { 7 };
            let value = value + i128::from(dice.within(0, 1));
            ids.push(number(if dice.one_in(3) { value.to_string() } else { spelt(dice, value) }));
        }
        1 => {
            let large = i128::from(LARGEST_ID) - i128::from(dice.within(0, 2));
            ids.extend([number(large), number(large - i128::from(dice.within(0, 1)))]);
        }
        _ => ids.insert(dice.below(ids.len() + 1), integer(dice, 1, i128::from(LARGEST_ID))),
    }
    Json::Array(ids)
}

/// Many ids, one of which may be there already or be none; one list in four is longer than a released SDK looks at.
fn many_ids(dice: &mut Dice) -> Json {
    let count = match dice.below(40) {
        // More than a released SDK looks at. Lists nearly as long keep it busy past the deadline if it cannot sort them.
        0..10 => dice.pick(&[10_100, 10_200]),
        _ => 50 + dice.below(400),
    };
    let mut ids: Vec<_> = (0..count).map(|id| number(id + 1)).collect();
    match dice.below(6) {
        0 => ids.push(number(dice.pick(&["1", "1.0", "0", "9223372036854775808"]))),
        1 => {
            // Where values cannot be sorted, a released SDK compares each with each: minutes for thousands of them.
            ids.truncate(60);
            ids.push(anything(dice));
        }
        _ => {}
    }
    Json::Array(ids)
}

fn list_response(dice: &mut Dice) -> Draft {
    let wild = dice.below(10);
    let rows = if wild > 1 { 1 + dice.below(3) } else { dice.below(3) };
    let mut jobs: Vec<_> = (0..rows).map(|_| job(dice, None)).collect();
    let mut topic = Topic::Schema;
    if wild > 1 {
        let place = dice.below(jobs.len());
        jobs[place] = job(dice, Some(wild));
        topic = match wild {
            2..5 => Topic::Integer,
            5 | 6 => Topic::DateTime,
            _ => Topic::Schema,
        };
    }
    let count = if wild == 0 {
        topic = Topic::Integer;
        integer(dice, 0, i128::from(LARGEST_ID))
    } else {
        number(jobs.len())
    };
    let value = object([("count", count), ("scheduled_jobs", Json::Array(jobs))]);
    Draft { topic, question: Question::Response { tool: "list_sync_jobs".into() }, value }
}

/// A row, with the member of that number drawn wildly.
fn job(dice: &mut Dice, wild: Option<usize>) -> Json {
    let id = dice.within(1, 999);
    let key = |dice: &mut Dice, wild| if wild { integer(dice, 1, i128::from(LARGEST_ID)) } else { number(id) };
    let text = |dice: &mut Dice, wild, tame: &str| if wild { name(dice, 200) } else { string(tame) };
    let sync_types = match wild {
        Some(8) => wild_stages(dice),
        _ => Json::Array(vec![string(dice.pick(&["all", "storage", "devices"]))]),
    };
    let schedule = match wild {
        Some(5 | 6) => date_time(dice),
        _ if dice.one_in(2) => Json::Null,
        _ => string(tame_date_time(dice)),
    };
    let interval = match wild {
        Some(4) => integer(dice, 1, i128::from(LARGEST_INTERVAL)),
        _ if dice.one_in(2) => Json::Null,
        _ => tame_integer(dice, 1, 1440),
    };
    object([
        ("id", key(dice, wild == Some(2))),
        ("pk", key(dice, wild == Some(3))),
        ("name", text(dice, wild == Some(7), "nightly")),
        ("sync_types", sync_types),
        ("schedule", schedule),
        ("interval", interval),
        ("status", text(dice, wild == Some(9), "scheduled")),
    ])
}

fn schedule_response(dice: &mut Dice) -> Draft {
    let wild = dice.below(4);
    let ok = match wild {
        0 => dice.pick(&["true", "false", "1", "1.0", "0", "null", "\"true\""]),
        _ => "true",
    };
    let ok = Json::parse(ok).unwrap_or(Json::Null);
    let (topic, job_id) = match wild {
        1 | 2 => (Topic::Integer, integer(dice, 1, i128::from(LARGEST_ID))),
        _ if dice.one_in(4) => (Topic::Schema, Json::Null),
        _ => (Topic::Schema, tame_integer(dice, 1, 999)),
    };
    let message = if wild == 3 { name(dice, 200) } else { string("queued") };
    let value = object([("ok", ok), ("job_id", job_id), ("message", message)]);
    Draft { topic, question: Question::Response { tool: "schedule_sync".into() }, value }
}
