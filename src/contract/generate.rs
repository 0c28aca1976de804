//! Fresh vectors: inputs drawn from a seed, verdicts from the oracle.
//!
//! An input is a good one in which usually one place is drawn from the neighbourhood of a rule: on, just inside and just
//! outside every bound, spelt in every way a number has. So half of them are accepted, and most of the others are refused
//! for one reason only, which shows a rule that is missing. Every fourth is the one before it, spelt differently.

mod dice;
mod manifests;
mod mutate;
mod payloads;
mod render;
mod values;

use super::json::Json;
use super::oracle::Oracle;
use super::vectors::{Question, Topic, Vector};

use dice::Dice;
pub(super) use mutate::{node, nodes};
pub(super) use values::FOREIGN_ZEROS;

/// One vector in so many is a manifest: an SDK takes a hundred times as long over one.
pub const MANIFEST_EVERY: usize = 100;

/// An input before it has a verdict.
struct Draft {
    topic: Topic,
    question: Question,
    value: Json,
}

/// `count` vectors of the published contract, the same for the same seed. A longer series begins with the shorter one.
///
/// Ids are `generated/`, the function asked, and a running number of six digits or more.
pub fn generate(seed: u64, count: usize) -> Vec<Vector> {
    let oracle = Oracle::bridge_v1();
    let mut payloads = Dice::new(seed);
    // Manifests have a series of their own, so that how many there are changes no payload.
    let mut manifests = Dice::new(seed ^ 0x006d_616e_6966_6573);
    let mut earlier = None;
    let mut numbers = [0_u32; 3];
    let mut vectors = Vec::with_capacity(count);
    for index in 0..count {
        let manifest = index % MANIFEST_EVERY == MANIFEST_EVERY - 1;
        let (dice, draft) = if manifest {
            let draft = manifests::draft(&mut manifests);
            (&mut manifests, draft)
        } else {
            let draft = match earlier.take() {
                Some(draft) if payloads.one_in(4) => draft,
                _ => payloads::draft(&mut payloads),
            };
            (&mut payloads, draft)
        };
        let input = render::render(dice, &draft.value);
        let (place, area) = match &draft.question {
            Question::Arguments { .. } => (0, "arguments"),
            Question::Response { .. } => (1, "response"),
            Question::Manifest => (2, "manifest"),
        };
        let id = format!("generated/{area}/{:06}", numbers[place]);
        numbers[place] += 1;
        let expected = oracle.judge(&draft.question, &input).verdict();
        vectors.push(Vector { id, topic: draft.topic, question: draft.question.clone(), expected, input });
        if !manifest {
            earlier = Some(draft);
        }
    }
    vectors
}

#[cfg(test)]
mod tests;
