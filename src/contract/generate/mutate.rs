//! One change anywhere in a value.

use super::super::json::Json;
use super::dice::Dice;
use super::values::{anything, near, number, spelt, string};

/// Changes one node; which one, and how, is chance.
pub(super) fn mutate(dice: &mut Dice, value: &mut Json) {
    let mut place = dice.below(nodes(value));
    if let Some(found) = node(value, &mut place) {
        change(dice, found);
    }
}

/// How many nodes a value has.
pub fn nodes(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(nodes).sum::<usize>(),
        Json::Object(members) => 1 + members.iter().map(|(_, value)| nodes(value)).sum::<usize>(),
        _ => 1,
    }
}

/// The node of that number, counted from the top.
pub fn node<'a>(value: &'a mut Json, place: &mut usize) -> Option<&'a mut Json> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Json::Array(items) => items.iter_mut().find_map(|item| node(item, place)),
        Json::Object(members) => members.iter_mut().find_map(|(_, value)| node(value, place)),
        _ => None,
    }
}

fn change(dice: &mut Dice, node: &mut Json) {
    if dice.one_in(4) {
        *node = anything(dice);
        return;
    }
    match node {
        Json::Null => *node = anything(dice),
        Json::Bool(value) => {
            *node = match dice.below(4) {
                0 => Json::Bool(!*value),
                1 => number(u8::from(*value)),
                2 => number(if *value { "1.0" } else { "0.0" }),
                _ => string(value.to_string()),
            }
        }
        Json::Number(token) => {
            let value: i128 = token.parse().unwrap_or(7);
            *node = match dice.below(4) {
                0 => number(value + 1),
                1 => number(value - 1),
                2 => number(spelt(dice, value)),
                _ => string(token.clone()),
            }
        }
        Json::String(text) => *text = near(dice, text),
        Json::Array(items) => match dice.below(5) {
            0 => items.clear(),
            1 => drop(items.pop()),
            2 => items.push(anything(dice)),
            3 if !items.is_empty() => {
                let again = items[dice.below(items.len())].clone();
                items.insert(dice.below(items.len() + 1), again);
            }
            _ => dice.shuffle(items),
        },
        Json::Object(members) => change_members(dice, members),
    }
}

fn change_members(dice: &mut Dice, members: &mut Vec<(String, Json)>) {
    let place = dice.below(members.len());
    match dice.below(8) {
        0..3 if !members.is_empty() => drop(members.remove(place)),
        3 | 4 if !members.is_empty() => members[place].0 = near(dice, &members[place].0),
        5 if !members.is_empty() && dice.one_in(4) => {
            let again = (members[place].0.clone(), anything(dice));
            members.insert(dice.below(members.len() + 1), again);
        }
        _ => {
            let name = dice.pick(&["", "id", "name", "type", "title", "value", "__proto__", "x", "dry_run"]);
            members.push((name.to_owned(), anything(dice)));
        }
    }
}
