//! The jobs that were enqueued.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::contract::datetime::DateTime;

const DEFAULT_NAME: &str = "Proxbox sync";

/// Accepted arguments as [`Oracle::normalised`](crate::contract::Oracle::normalised) leaves them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// The stages; `["all"]` for the complete set.
    pub sync_types: Vec<String>,
    /// Its name, trimmed; none for the default.
    pub job_name: Option<String>,
    /// In UTC; none for now.
    pub schedule_at: Option<String>,
    /// Minutes between two runs.
    pub interval: Option<u64>,
    /// The scope; none for every enabled endpoint.
    pub proxmox_endpoint_ids: Option<Vec<u64>>,
}

/// One row of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Counted from 1.
    pub id: u64,
    /// The same once more, as the list has it.
    pub pk: u64,
    /// Its name.
    pub name: String,
    /// The stages.
    pub sync_types: Vec<String>,
    /// When it runs, in UTC; none if at once.
    pub schedule: Option<String>,
    /// Minutes between two runs.
    pub interval: Option<u64>,
    /// `scheduled`, or `pending` for one that runs at once.
    pub status: &'static str,
    /// The scope, which the list does not carry.
    #[serde(skip)]
    pub endpoints: Option<Vec<u64>>,
}

/// All of them, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct Jobs(Vec<Job>);

impl Jobs {
    /// Their rows.
    pub fn rows(&self) -> &[Job] {
        &self.0
    }

    /// The body that lists them.
    pub(super) fn list(&self) -> Value {
        json!({"count": self.0.len(), "scheduled_jobs": self.0})
    }

    /// Adds one; the body that tells so.
    pub(super) fn enqueue(&mut self, stored: Stored, now: &DateTime) -> Value {
        let id = self.0.last().map_or(1, |job| job.id + 1);
        let Stored { sync_types, job_name, schedule_at, interval, proxmox_endpoint_ids: endpoints } = stored;
        // A recurring job has a first run; without a time of its own that is now.
        let schedule = schedule_at.clone().or_else(|| interval.map(|_| now.to_string()));
        let message = match (&schedule, interval) {
            (None, _) => "Sync job queued for immediate execution.".to_owned(),
            (Some(at), None) => format!("Sync job scheduled for {at}."),
            (Some(at), Some(minutes)) => format!("Sync job scheduled for {at}, then every {minutes} minutes."),
        };
        let status = if schedule_at.is_some() { "scheduled" } else { "pending" };
        let name = job_name.unwrap_or_else(|| DEFAULT_NAME.to_owned());
        self.0.push(Job { id, pk: id, name, sync_types, schedule, interval, status, endpoints });
        json!({"ok": true, "job_id": id, "message": message})
    }
}
