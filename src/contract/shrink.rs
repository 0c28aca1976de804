//! From a text that shows something to a small one that still shows it.

use super::generate::{node, nodes};
use super::json::Json;

/// How many texts are tried at most: each may cost a question to an SDK.
pub const MOST_TRIALS: usize = 2_000;

/// So many parts are tried one by one; where there are more, halves come first.
const FEW: usize = 64;

/// The smallest text reached by leaving out and simplifying one place at a time for which `shows` still holds; `text`
/// itself if none does. Deterministic if `shows` is.
pub fn shrink(text: &str, mut shows: impl FnMut(&str) -> bool) -> String {
    let Ok(mut best) = Json::parse(text) else { return text.to_owned() };
    let mut smallest = text.to_owned();
    let mut trials = 0;
    let mut try_it = |candidate: &Json, smallest: &mut String| {
        let shorter = candidate.to_string();
        if trials == MOST_TRIALS || shorter.len() >= smallest.len() {
            return false;
        }
        trials += 1;
        let holds = shows(&shorter);
        if holds {
            *smallest = shorter;
        }
        holds
    };
    // White space and escapes first.
    try_it(&best.clone(), &mut smallest);
    loop {
        let before = smallest.len();
        let mut place = 0;
        while place < nodes(&best).min(MOST_TRIALS) {
            let mut counted = place;
            let original = node(&mut best, &mut counted).map(|node| node.clone());
            let mut again = false;
            for simpler in original.iter().flat_map(simpler) {
                let mut candidate = best.clone();
                let mut counted = place;
                if let Some(node) = node(&mut candidate, &mut counted) {
                    *node = simpler;
                }
                if try_it(&candidate, &mut smallest) {
                    best = candidate;
                    again = true;
                    break;
                }
            }
            place += usize::from(!again);
        }
        if smallest.len() == before {
            return smallest;
        }
    }
}

/// Values with less in them, the boldest first; at last what is inside.
fn simpler(value: &Json) -> Vec<Json> {
    match value {
        Json::Array(items) => without(items).map(Json::Array).chain(items.iter().take(FEW).cloned()).collect(),
        Json::Object(members) => {
            without(members).map(Json::Object).chain(members.iter().take(FEW).map(|(_, value)| value.clone())).collect()
        }
        Json::String(text) => {
            let characters: Vec<_> = text.chars().collect();
            without(&characters).map(|characters| Json::String(characters.into_iter().collect())).collect()
        }
        Json::Number(token) => {
            let characters: Vec<_> = token.chars().collect();
            let tokens = without(&characters).map(String::from_iter);
            tokens.filter_map(|token| Json::parse(&token).ok()).collect()
        }
        Json::Null | Json::Bool(_) => Vec::new(),
    }
}

/// Nothing, each half, and all but one.
fn without<T: Clone>(items: &[T]) -> impl Iterator<Item = Vec<T>> {
    let half = items.len() / 2;
    let parts = if items.is_empty() { vec![] } else { vec![vec![], items[..half].to_vec(), items[half..].to_vec()] };
    let singly = if items.len() <= FEW { items.len() } else { 0 };
    let all_but = |place: usize| [&items[..place], &items[place + 1..]].concat();
    parts.into_iter().chain((0..singly).map(all_but).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Oracle, Question, generate};

    #[test]
    fn what_is_left_is_what_shows_it() {
        let long = format!(r#" {{"a":[{}7.50,"x"],"b":"{}","c":{{"d":null}}}} "#, "1,".repeat(500), "y".repeat(300));
        assert_eq!(shrink(&long, |text| text.contains('5')), "5");
        assert_eq!(shrink(&long, |text| text.contains("\"d\"")), r#"{"d":null}"#);
        assert_eq!(shrink("{not JSON", |_| true), "{not JSON");
        assert_eq!(shrink("[1,2]", |_| false), "[1,2]");
        let mut trials = 0;
        shrink(&format!("[{}0]", "[1],".repeat(2_000)), |_| {
            trials += 1;
            false
        });
        assert!((1..=MOST_TRIALS).contains(&trials), "{trials}");
    }

    /// The use it is made for: a rule that an SDK lacks.
    #[test]
    fn a_missing_rule_is_shown_by_the_vector_that_is_nothing_else() {
        let question = Question::Arguments { tool: "schedule_sync".into() };
        let rules = |text: &str| -> Vec<&str> {
            Oracle::bridge_v1().judge(&question, text).reasons.iter().map(|reason| reason.rule).collect()
        };
        let vectors = generate(3, 4000);
        let shown = |rule: &'static str| {
            let fails = |text: &str| rules(text) == [rule];
            let vector = vectors.iter().find(|vector| vector.question == question && fails(&vector.input)).unwrap();
            shrink(&vector.input, fails)
        };
        let empty = shown("minItems");
        assert!(empty.contains("[]") && empty.len() < 70, "{empty}");
        let Json::Object(members) = Json::parse(&shown("maxLength")).unwrap() else { panic!() };
        let lengths: Vec<_> =
            members.iter().map(|(name, value)| (name.as_str(), value.to_string().chars().count())).collect();
        assert!(
            matches!(
                lengths[..],
                [("sync_stages", _), ("job_name", 203..)] | [("job_name", 203..), ("sync_stages", _)]
            ),
            "{lengths:?}"
        );
        assert!(shown("date-time").len() < 60, "{}", shown("date-time"));
    }
}
