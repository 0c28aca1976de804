//! The scenarios.

mod discovery;
mod dispatch;

use super::scenario::{Caller, Ends, Scenario};
use crate::check::Check;

/// All of them, grouped by check.
pub(super) fn scenarios() -> Vec<&'static Scenario> {
    discovery::TABLE.iter().chain(dispatch::TABLE).chain(ACCESS).chain(NUMBERS).collect()
}

const fn access(id: &'static str, caller: Caller, login_required: bool, ends: Ends) -> Scenario {
    Scenario::of(id, Check::PairDispatch, r#"{"sync_stages":["sdn"]}"#, ends).by(caller, login_required)
}

/// "Expected authorization outcomes after consumer activation", row by row; what the manifest answers shows in how far a call gets.
const ACCESS: &[Scenario] = &[
    access("access.list", Caller::MayAddJobs, true, Ends::Accepted(200)).listing(),
    access("access.submit", Caller::MayAddJobs, true, Ends::Accepted(201)),
    access("access.open-list", Caller::MayAddJobs, false, Ends::Accepted(200)).listing(),
    access("access.open-submit", Caller::MayAddJobs, false, Ends::Accepted(201)),
    access("access.without-permission-list", Caller::MayNotAddJobs, true, Ends::Status(403)).listing(),
    access("access.without-permission-submit", Caller::MayNotAddJobs, true, Ends::Status(403)),
    access("access.anonymous-list", Caller::Anonymous, true, Ends::NotDiscovered)
        .listing()
        .asking(1, Ends::NotDiscovered),
    access("access.anonymous-submit", Caller::Anonymous, true, Ends::NotDiscovered).asking(1, Ends::NotDiscovered),
    access("access.open-anonymous-list", Caller::Anonymous, false, Ends::Status(403)).listing(),
    access("access.open-anonymous-submit", Caller::Anonymous, false, Ends::Status(403)),
];

const fn numbers(id: &'static str, arguments: &'static str, ends: Ends) -> Scenario {
    Scenario::of(id, Check::PairNumbers, arguments, ends)
}

/// What goes out is what was asked, number by number; what the contract refuses does not go out at all.
const NUMBERS: &[Scenario] = &[
    numbers(
        "numbers.largest-id",
        r#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":[9223372036854775807]}"#,
        Ends::Accepted(201),
    ),
    numbers(
        "numbers.beyond-doubles",
        r#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":[9007199254740993,9007199254740992]}"#,
        Ends::Accepted(201),
    ),
    numbers(
        "numbers.integral-forms",
        r#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":[7.0,9e0,110e-1],"recurrence":{"hours":6.0}}"#,
        Ends::Accepted(201),
    ),
    numbers(
        "numbers.safe-double",
        r#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":[9007199254740991.0]}"#,
        Ends::Accepted(201),
    ),
    numbers(
        "numbers.strings",
        r#"{"sync_stages":["storage","sdn"],"job_name":" a\u0000\"\\/é\u2028😀 ","schedule_at":"2100-01-01T00:59:60.5+01:00"}"#,
        Ends::Accepted(201),
    ),
    numbers("numbers.null", r#"{"sync_stages":["sdn"],"schedule_at":null}"#, Ends::Accepted(201)),
    numbers(
        "numbers.unsafe-double",
        r#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":[9007199254740992.0]}"#,
        Ends::ArgumentsRefused,
    ),
    numbers("numbers.no-scope", r#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":[]}"#, Ends::ArgumentsRefused),
    numbers("numbers.all-sentinel", r#"{"sync_stages":["all"]}"#, Ends::ArgumentsRefused),
    numbers("numbers.legacy-field", r#"{"sync_stages":["sdn"],"netbox_endpoint_ids":[1]}"#, Ends::ArgumentsRefused),
    numbers(
        "numbers.naive-time",
        r#"{"sync_stages":["sdn"],"schedule_at":"2099-01-15T03:00:00"}"#,
        Ends::ArgumentsRefused,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Oracle, Question, Verdict};

    #[test]
    fn ids_are_unique_and_begin_with_their_subject() {
        let mut ids: Vec<_> = scenarios().iter().map(|scenario| scenario.id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
        for scenario in scenarios() {
            let subject = scenario.id.split('.').next().unwrap();
            let check = match subject {
                "discovery" => Check::PairDiscovery,
                "dispatch" | "access" => Check::PairDispatch,
                "numbers" => Check::PairNumbers,
                other => panic!("{other}"),
            };
            assert_eq!(scenario.check, check, "{}", scenario.id);
        }
    }

    #[test]
    fn what_is_asked_is_what_the_contract_says_of_it() {
        for scenario in scenarios() {
            let question = Question::Arguments { tool: scenario.tool.into() };
            let accepted = Oracle::bridge_v1().judge(&question, scenario.arguments).verdict() == Verdict::Accept;
            assert_eq!(accepted, scenario.ends != Ends::ArgumentsRefused, "{}", scenario.id);
        }
    }

    /// A change that comes to nothing would have a scenario ask for nothing.
    #[test]
    fn every_change_changes_the_reply_but_for_the_sound_ones() {
        use crate::contract::Contract;
        use crate::pair::scenario::{CALL, Place};
        use crate::producer::access::Credentials;
        use crate::producer::http::Request;
        use crate::producer::{Producer, SCHEDULE, Settings};

        let credentials = Credentials::fresh().unwrap();
        let server = ([127, 0, 0, 1], 1).into();
        let request = |method: &str, target: &str, body: &str| {
            let header = credentials.may_add_jobs.header().into_bytes();
            let kind = b"application/json".to_vec();
            let named = |name: &str, value| (name.to_owned(), value);
            let host = named("Host", b"127.0.0.1:1".to_vec());
            let headers = vec![host, named("Authorization", header), named("Content-Type", kind)];
            Request { method: method.into(), target: target.into(), headers, body: body.into(), server }
        };
        let mut sound = Vec::new();
        for scenario in scenarios() {
            let Some((page, change)) = scenario.served else { continue };
            assert!(CALL.contains(&page));
            let settings = Settings::new(Contract::bridge_v1(), credentials.clone());
            let mut producer = Producer::new(Settings { endpoints: scenario.endpoints(), ..settings });
            let submits = page == SCHEDULE && scenario.lines().iter().any(|line| line.starts_with("POST"));
            let request = if submits { request("POST", page, scenario.arguments) } else { request("GET", page, "") };
            let reply = producer.respond(&request);
            let place = Place { request: &request, elsewhere: ([127, 0, 0, 1], 2).into() };
            if change(reply.clone(), &place) == reply {
                sound.push(scenario.id);
            }
        }
        assert_eq!(sound, ["discovery.active", "discovery.blocked", "dispatch.201"]);
    }
}
