//! Where every released SDK is known to differ from the letter of the specification, or where the specification is silent.
//!
//! An advisory is a reading: what such an SDK makes of an input before it judges it, or that it refuses it out of hand. A
//! difference falls under an advisory only if the readings explain it in full; any other difference refuses the SDK.

mod readings;

use super::json::Json;
use super::oracle::Oracle;
use super::vectors::{Question, Verdict};

/// A known difference.
#[derive(Debug)]
pub struct Advisory {
    /// Its stable id.
    pub id: &'static str,
    /// What the released SDKs do, and why that is not held against them.
    pub reason: &'static str,
    /// The sentence of the specification it is measured by, or that there is none.
    pub specification: &'static str,
    /// Which function shows it.
    question: Asked,
    /// A smallest input that shows it.
    pub smallest_input: &'static str,
    reading: fn(&Question, &mut Json) -> Reading,
}

#[derive(Clone, Copy, Debug)]
enum Asked {
    Arguments,
    Response,
    Manifest,
}

/// What an SDK makes of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// What it is.
    AsIs,
    /// Something else, by now.
    Otherwise,
    /// It refuses it without looking further.
    Refused,
}

impl Advisory {
    /// The question to put [`Advisory::smallest_input`] to.
    pub fn question(&self) -> Question {
        let tool = || "schedule_sync".to_owned();
        match self.question {
            Asked::Arguments => Question::Arguments { tool: tool() },
            Asked::Response => Question::Response { tool: tool() },
            Asked::Manifest => Question::Manifest,
        }
    }
}

/// All of them, in the order in which a released SDK goes about it.
pub static ADVISORIES: [Advisory; 10] = [
    Advisory {
        id: "repeated-member",
        reason: "The last of several members of one name counts, as in Python's json; the first ones go unseen. The functions get objects in which only one is left.",
        specification: "Silent: nothing is said of repeated members. RFC 8259, 4: names within an object should be unique.",
        question: Asked::Response,
        smallest_input: r#"{"ok":0,"ok":true,"job_id":1,"message":""}"#,
        reading: readings::last_member_counts,
    },
    Advisory {
        id: "rounded-number",
        reason: "A number with a point or an exponent is read as a double before anybody asks whether it is an integer, so that what it rounds to counts. The functions get what the parser left.",
        specification: "Booleans, strings, nonintegral/non-finite values, and signed-64 overflow also reject.",
        question: Asked::Arguments,
        smallest_input: r#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":[1.0000000000000001]}"#,
        reading: readings::rounded_to_a_double,
    },
    Advisory {
        id: "foreign-fraction-digits",
        reason: "Digits of other scripts pass behind the sixth digit of a second's fraction, where Python's datetime no longer looks.",
        specification: "Strict RFC 3339 date-time with an explicit Z or numeric offset, and it must resolve to a future representable instant.",
        question: Asked::Arguments,
        smallest_input: r#"{"sync_stages":["sdn"],"schedule_at":"2099-01-01T00:00:00.000000٢Z"}"#,
        reading: readings::foreign_fraction_digits,
    },
    Advisory {
        id: "payload-bounds",
        reason: "Arguments and responses of more than 10,000 values or 262,144 bytes are refused, whatever they hold.",
        specification: "Silent: no bound is said for a list of endpoint ids, for the listed jobs or for a message.",
        question: Asked::Arguments,
        smallest_input: readings::MANY_IDS,
        reading: readings::payload_bounds,
    },
    Advisory {
        id: "member-names-of-python",
        reason: "The names that the descriptor's members have in the SDK's models are accepted beside the published ones, such as input_schema for inputSchema.",
        specification: "A generic descriptor-protocol change requires a new bridge schema version.",
        question: Asked::Manifest,
        smallest_input: readings::tool!(
            r#""name":"a","title":"t","description":"d","path":"a/","method":"POST","input_schema":{"type":"object","additionalProperties":false}"#
        ),
        reading: readings::member_names_of_python,
    },
    Advisory {
        id: "trimmed-strings",
        reason: "White space at the edges of a manifest's strings is removed before they are judged, so that a padded name, path or method passes, and a title of white space alone is refused as empty.",
        specification: "The manifest declares relative paths such as sync/schedule/; a conforming SDK must resolve them below /api/plugins/proxbox/ and reject path or origin escape.",
        question: Asked::Manifest,
        smallest_input: readings::tool!(
            r#""name":"a","title":"t","description":"d","path":" a/","method":"POST","inputSchema":{"type":"object","additionalProperties":false}"#
        ),
        reading: readings::trimmed_strings,
    },
    Advisory {
        id: "method-case",
        reason: "A method in lower case is accepted as the one in upper case.",
        specification: "Silent: the methods are written GET and POST, and nothing is said of another spelling.",
        question: Asked::Manifest,
        smallest_input: readings::tool!(
            r#""name":"a","title":"t","description":"d","path":"a/","method":"post","inputSchema":{"type":"object","additionalProperties":false}"#
        ),
        reading: readings::method_case,
    },
    Advisory {
        id: "open-output-schema",
        reason: "The schema of a tool's answers need not be a closed object's.",
        specification: "Discover the manifest, validate it, confine paths to the plugin API root, … validate inputs/outputs.",
        question: Asked::Manifest,
        smallest_input: readings::tool!(
            r#""name":"a","title":"t","description":"d","path":"a/","method":"POST","inputSchema":{"type":"object","additionalProperties":false},"outputSchema":{}"#
        ),
        reading: readings::open_output_schema,
    },
    Advisory {
        id: "descriptor-bounds",
        reason: "Names have to be identifiers of at most 64 characters; paths have at most 1,024 characters, manifests 64 tools, schemas 65,536 bytes, 2,048 values and 16 levels.",
        specification: "Silent: no grammar is said for names, and no bounds for descriptors.",
        question: Asked::Manifest,
        smallest_input: readings::tool!(
            r#""name":"A","title":"t","description":"d","path":"a/","method":"POST","inputSchema":{"type":"object","additionalProperties":false}"#
        ),
        reading: readings::descriptor_bounds,
    },
    Advisory {
        id: "query-encodable",
        reason: "The arguments of a tool that reads have to fit into a query: scalars, or arrays of scalars, of declared types.",
        specification: "Silent: it is not said how a reading tool's arguments are sent.",
        question: Asked::Manifest,
        smallest_input: r#"{"plugin":"p","schema_version":"1","tools":[{"name":"a","title":"t","description":"d","path":"a/","method":"GET","effect":"read","annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true},"inputSchema":{"type":"object","additionalProperties":false,"properties":{"a":true}}}]}"#,
        reading: readings::query_encodable,
    },
];

/// What the released SDKs say of an input, as far as the advisories know.
pub fn released(question: &Question, text: &str) -> Verdict {
    let all: Vec<_> = ADVISORIES.iter().collect();
    read_with(&all, question, text).0
}

/// The advisories that a difference about this input falls under: each that explains it alone, or else all that it takes
/// together. Empty where no reading leads to another verdict, so that a difference there is a new one.
pub fn advisories(question: &Question, text: &str) -> Vec<&'static Advisory> {
    let demanded = Oracle::bridge_v1().judge(question, text).verdict();
    let differs = |advisories: &[&'static Advisory]| read_with(advisories, question, text).0 != demanded;
    let alone: Vec<_> = ADVISORIES.iter().filter(|advisory| differs(&[advisory])).collect();
    if !alone.is_empty() {
        return alone;
    }
    let all: Vec<_> = ADVISORIES.iter().collect();
    let (verdict, involved) = read_with(&all, question, text);
    if verdict == demanded { Vec::new() } else { involved }
}

/// The verdict after these readings, and which of them changed something.
fn read_with(advisories: &[&'static Advisory], question: &Question, text: &str) -> (Verdict, Vec<&'static Advisory>) {
    let oracle = Oracle::bridge_v1();
    let Ok(mut value) = Json::parse(text) else {
        return (oracle.judge(question, text).verdict(), Vec::new());
    };
    let mut involved = Vec::new();
    let mut refused = false;
    for &advisory in advisories {
        let reading = (advisory.reading)(question, &mut value);
        if reading != Reading::AsIs {
            involved.push(advisory);
        }
        refused |= reading == Reading::Refused;
    }
    let verdict = oracle.judge(question, &value.to_string()).verdict();
    (if refused { Verdict::Reject } else { verdict }, involved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Contract;

    #[test]
    fn the_smallest_input_of_each_shows_it_and_no_other() {
        for advisory in &ADVISORIES {
            let question = advisory.question();
            let ids: Vec<_> =
                advisories(&question, advisory.smallest_input).into_iter().map(|found| found.id).collect();
            assert_eq!(ids, [advisory.id]);
            let demanded = Oracle::bridge_v1().judge(&question, advisory.smallest_input).verdict();
            assert_ne!(released(&question, advisory.smallest_input), demanded, "{}", advisory.id);
            assert!(!advisory.reason.is_empty() && !advisory.specification.is_empty());
        }
        let mut ids: Vec<_> = ADVISORIES.iter().map(|advisory| advisory.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ADVISORIES.len());
    }

    #[test]
    fn the_published_vectors_fall_under_none() {
        for vector in Contract::bridge_v1().vectors().unwrap() {
            assert!(advisories(&vector.question, &vector.input).is_empty(), "{}", vector.id);
        }
    }
}
