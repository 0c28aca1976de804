use super::*;
use access::Token;

fn settings() -> Settings {
    let token = |key: &str| Token { key: key.into(), secret: "s".repeat(40) };
    let credentials = Credentials { may_add_jobs: token("may"), may_not_add_jobs: token("maynot") };
    let now = || DateTime::parse("2099-01-01T00:00:00Z").unwrap();
    Settings { now, ..Settings::new(Contract::bridge_v1(), credentials) }
}

fn request(method: &str, path: &str, token: Option<&Token>, body: &str) -> Request {
    let mut headers = vec![("host".to_owned(), b"127.0.0.1:80".to_vec())];
    headers.extend(token.map(|token| ("AUTHORIZATION".to_owned(), token.header().into_bytes())));
    headers.push(("Content-Type".into(), b"application/json; charset=utf-8".to_vec()));
    let (method, target, body) = (method.into(), path.into(), body.as_bytes().to_vec());
    Request { method, target, headers, body, server: ([127, 0, 0, 1], 80).into() }
}

fn body(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap()
}

fn post(producer: &mut Producer, arguments: &str) -> (u16, Value) {
    let token = producer.settings.credentials.may_add_jobs.clone();
    let reply = producer.respond(&request("POST", SCHEDULE, Some(&token), arguments));
    (reply.status, body(&reply))
}

#[test]
fn every_list_and_every_receipt_satisfies_the_contract() {
    let mut producer = Producer::new(settings());
    let token = settings().credentials.may_add_jobs;
    let accepts = |tool: &str, reply: &Reply| {
        let question = Question::Response { tool: tool.into() };
        assert_eq!(Oracle::bridge_v1().judge_bytes(&question, &reply.body).reasons, []);
    };
    for arguments in [
        r#"{"sync_stages":["sdn"]}"#,
        r#"{"sync_stages":["sdn"],"recurrence":{"weeks":213044},"job_name":" x "}"#,
        r#"{"sync_stages":["sdn"],"schedule_at":"2099-01-15T03:00:00.5+01:00","proxmox_endpoint_ids":[9.0,7]}"#,
    ] {
        let reply = producer.respond(&request("POST", SCHEDULE, Some(&token), arguments));
        assert_eq!(reply.status, 201);
        accepts("schedule_sync", &reply);
        accepts("list_sync_jobs", &producer.respond(&request("GET", SCHEDULE, Some(&token), "")));
    }
    let [first, second, third] = producer.jobs().rows() else { panic!("three jobs") };
    assert_eq!((first.id, first.status, &first.schedule, first.interval), (1, "pending", &None, None));
    // The first run of a recurring job is now.
    assert_eq!((second.status, second.schedule.as_deref()), ("pending", Some("2099-01-01T00:00:00Z")));
    assert_eq!((second.name.as_str(), second.interval), ("x", Some(2_147_483_520)));
    assert_eq!((third.status, third.schedule.as_deref()), ("scheduled", Some("2099-01-15T02:00:00.5Z")));
    assert_eq!((third.pk, third.endpoints.as_deref()), (3, Some(&[9, 7][..])));
}

#[test]
fn a_time_that_is_not_in_the_future_and_an_endpoint_that_is_not_enabled_enqueue_nothing() {
    let mut producer = Producer::new(settings());
    let past = json!(["The scheduled time has to be in the future."]);
    for (at, errors) in [
        ("2099-01-01T00:00:00.000001Z", None),
        ("2099-01-01T00:00:00Z", Some(&past)),
        ("2099-01-01T00:30:00+01:00", Some(&past)),
    ] {
        let (status, body) = post(&mut producer, &json!({"sync_stages": ["sdn"], "schedule_at": at}).to_string());
        assert_eq!((status, body["errors"].get("schedule_at")), (if errors.is_some() { 400 } else { 201 }, errors));
    }
    let arguments =
        r#"{"sync_stages":["sdn"],"proxmox_endpoint_ids":[7,99,9,100],"schedule_at":"2098-01-01T00:00:00Z"}"#;
    let errors = json!({
        "proxmox_endpoint_ids": ["Unknown or disabled endpoint ID(s): [99, 100]"],
        "schedule_at": past,
    });
    assert_eq!(post(&mut producer, arguments), (400, json!({ "errors": errors })));
    assert_eq!(producer.jobs().rows().len(), 1);
}

#[test]
fn what_the_contract_refuses_is_told_by_field() {
    let mut producer = Producer::new(settings());
    for (arguments, errors) in [
        ("{}", json!({"sync_stages": ["This field is required."]})),
        ("[]", json!({"non_field_errors": ["expected object, found an array of 0"]})),
        ("", json!({"non_field_errors": ["expected a value at byte 0, found the end"]})),
        (
            r#"{"sync_stages":["all"],"a/b":1,"proxmox_endpoint_ids":[true]}"#,
            json!({
                "sync_stages": [
                    "/0: expected one of \"virtual-machines\", \"storage\", \"vm-disks\", \"vm-backups\", \"vm-snapshots\", \
                     \"devices\", \"network-interfaces\", \"vm-interfaces\", \"ip-addresses\", \"sdn\", \"backup-routines\", \
                     \"replications\", \"task-history\", found \"all\""
                ],
                "a/b": ["expected no such member, found 1"],
                "proxmox_endpoint_ids": ["/0: expected integer, found true"],
            }),
        ),
    ] {
        assert_eq!(post(&mut producer, arguments), (400, json!({ "errors": errors })), "{arguments}");
    }
    assert_eq!(producer.jobs().rows(), []);
}

#[test]
fn a_refused_caller_is_told_nothing_of_methods_and_arguments() {
    let mut producer = Producer::new(settings());
    let Credentials { may_add_jobs, may_not_add_jobs } = settings().credentials;
    let stranger = Token { key: "other".into(), secret: "s".repeat(40) };
    let mut twice = request("GET", SCHEDULE, Some(&may_add_jobs), "");
    twice.headers.extend(request("GET", SCHEDULE, Some(&may_add_jobs), "").headers.drain(1..2));
    let mut rebound = request("GET", SCHEDULE, Some(&may_add_jobs), "");
    rebound.headers[0].1 = b"example.com:80".to_vec();
    let mut plain = request("POST", SCHEDULE, Some(&may_add_jobs), "{}");
    plain.headers.retain(|(name, _)| name != "Content-Type");
    for (request, status, detail) in [
        (request("PUT", SCHEDULE, None, ""), 401, "Authentication credentials were not provided."),
        (request("POST", SCHEDULE, Some(&stranger), "{}"), 401, "Invalid v2 token"),
        (twice, 401, "More than one credential."),
        (
            request("POST", SCHEDULE, Some(&may_not_add_jobs), "{"),
            403,
            "You do not have permission to perform this action.",
        ),
        (
            request("DELETE", SCHEDULE, Some(&may_not_add_jobs), ""),
            403,
            "You do not have permission to perform this action.",
        ),
        (request("DELETE", SCHEDULE, Some(&may_add_jobs), ""), 405, "Method \"DELETE\" not allowed."),
        (request("POST", MANIFEST, Some(&may_add_jobs), "{}"), 405, "Method \"POST\" not allowed."),
        (request("GET", "/api/plugins/proxbox/mcp", Some(&may_add_jobs), ""), 404, "Not found."),
        (rebound, 400, "The Host header names another server."),
        (plain, 415, "Unsupported media type in request."),
    ] {
        let reply = producer.respond(&request);
        assert_eq!((reply.status, body(&reply)), (status, json!({ "detail": detail })), "{request:?}");
    }
    let reply = producer.respond(&request("HEAD", SCHEDULE, Some(&may_add_jobs), ""));
    let length = body_length(&reply);
    assert_eq!((reply.status, reply.body.as_slice(), length), (200, &b""[..], "31".into()));
}

fn body_length(reply: &Reply) -> String {
    reply.headers.iter().find(|(name, _)| name == "Content-Length").unwrap().1.clone()
}

#[test]
fn a_token_is_not_shown_by_accident() {
    let credentials = settings().credentials;
    assert!(!format!("{credentials:?}").contains(&credentials.may_add_jobs.secret));
    let (one, other) = (Token::fresh().unwrap(), Token::fresh().unwrap());
    assert_eq!((one.key.len(), one.secret.len()), (12, 40));
    assert!(one.key != other.key && one.secret != other.secret);
}
