//! What the client did in every scenario, and the known differences that came of it.

use serde_json::Value;

use super::{Fault, add, list, presence, status, text};
use crate::check::Check;
use crate::pair::advisory::ADVISORIES;
use crate::pair::{Demand, demands};

/// An advisory of the client, in this program's words.
pub(super) fn is_known(told: &Value) -> bool {
    ADVISORIES.iter().any(|advisory| {
        told["id"] == advisory.id
            && told["specification"] == advisory.specification
            && told["observed"] == advisory.reason
            && told["smallest_input"] == advisory.reply
    })
}

/// Either nothing was played, or every scenario. Where the checks passed it went as it has to, but for the request that a reported
/// advisory repeats.
pub(super) fn faults(report: &Value, faults: &mut Vec<Fault>) {
    let (played, demands) = (list(&report["pair"]["scenarios"]), demands());
    let sandbox = &report["pair"]["sandbox"];
    if report["verdict"] == "passed" && sandbox.is_null() {
        return presence(faults, "audit.pair", "sandbox", sandbox, true);
    }
    if played.len() != demands.len() && (!played.is_empty() || report["verdict"] == "passed") {
        return add(faults, "audit.pair", format!("{} scenarios", demands.len()), played.len().to_string());
    }
    if let Some((demand, odd)) = demands.iter().zip(played).find(|(demand, played)| !follows(report, demand, played)) {
        add(faults, "audit.pair", format!("{} as the table has it", demand.id), odd.to_string());
    }
    let all_known = faults.iter().all(|fault| fault.id != "audit.advisories");
    if all_known && status(report, Check::PairDispatch) == "passed" {
        advisories(report, &demands, played, faults);
    }
}

fn requests(played: &Value) -> Vec<&str> {
    list(&played["requests"]).iter().map(text).collect()
}

/// The requests it has to send, the last of them twice.
fn is_repeated(demand: &Demand, requests: &[&str]) -> bool {
    requests.split_last().is_some_and(|(last, rest)| rest.last() == Some(last) && rest == demand.requests)
}

fn follows(report: &Value, demand: &Demand, played: &Value) -> bool {
    let requests = requests(played);
    let posts = requests.iter().filter(|request| request.starts_with("POST ")).count();
    let listed = played["id"] == demand.id && played["expected"] == *demand.expected && played["posts"] == posts;
    // A call that never ended counts for the transcript.
    let passed = [demand.check, Check::PairTranscript].iter().all(|&check| status(report, check) == "passed");
    let twice = is_repeated(demand, &requests) && (demand.again || demand.advisory.is_some());
    listed && (!passed || (played["observed"] == *demand.expected && (requests == demand.requests || twice)))
}

/// Each is told with as many scenarios as show it.
fn advisories(report: &Value, demands: &[Demand], played: &[Value], faults: &mut Vec<Fault>) {
    let shown = |id: &str| {
        let showing = demands
            .iter()
            .zip(played)
            .filter(|(demand, played)| demand.advisory == Some(id) && is_repeated(demand, &requests(played)));
        showing.count() as u64
    };
    let counts = ADVISORIES.iter().map(|advisory| (advisory.id, Some(shown(advisory.id))));
    let wanted: Vec<_> = counts.filter(|(_, count)| *count != Some(0)).collect();
    let told = list(&report["advisories"]).iter().filter(|told| is_known(told));
    let told: Vec<_> = told.map(|told| (text(&told["id"]), told["vectors"].as_u64())).collect();
    if told != wanted {
        add(faults, "audit.advisories", format!("{wanted:?}"), format!("{told:?}"));
    }
}
