//! The registry of agent cards, the real binaries: bytes over real sockets, what `svcctl` makes of
//! answers and refusals, a restart, and a log without a word of a card.

use std::fs;

use rustix::process::Signal;

use crate::daemon::TOKEN;
use crate::daemon::ask::{Answer, Ask, Endpoint};
use crate::daemon::process::Daemon;
use crate::daemon::site::{Ended, Site};

const LIST: &str = "/api/v1/agent-cards";
/// A card in an unusual layout.
const ODD: &str = "\r\n\t{ \"version\" :\"canarytext\",\"protocolVersion\":\"0.3\",\r\n\"name\":\"\\u00e4ä𝄞\",\n\n\
    \"description\":\"canarytext\",\"url\":\"https://canarytext.example/\" } \n\n";

pub(super) struct Stage {
    site: Site,
    daemon: Daemon,
}

impl Stage {
    pub(super) fn new() -> Self {
        let site = Site::new();
        let daemon = site.start();
        Self { site, daemon }
    }

    pub(super) fn svcctl(&self, words: &[&str]) -> Ended {
        let url = format!("unix:{}", self.site.socket().display());
        self.site.svcctl(&url, &[&["cards"], words].concat())
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.site.path(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn ended(ended: &Ended, code: i32) -> &str {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    &ended.stdout
}

#[test]
fn what_is_pushed_is_shown_byte_for_byte_also_after_a_restart() {
    let mut stage = Stage::new();
    let file = stage.file("odd.json", ODD);
    let pushed = stage.svcctl(&["push", &file, "-o", "json"]);
    let card: svc::api::AgentCard = serde_json::from_str(ended(&pushed, 0)).unwrap();
    assert_eq!((card.name.as_str(), card.variant.as_str()), ("odd", "legacy"));
    assert_eq!(usize::try_from(card.size), Ok(ODD.len()));
    for format in ["table", "json", "ndjson"] {
        assert_eq!(ended(&stage.svcctl(&["show", "odd", "-o", format]), 0), ODD);
    }
    assert_eq!(stage.daemon.end(Signal::TERM).code(), Some(0));
    stage.daemon = stage.site.start();
    assert_eq!(ended(&stage.svcctl(&["show", "odd"]), 0), ODD);
    let listed = stage.svcctl(&["list", "-o", "ndjson"]);
    let again: svc::api::AgentCard = serde_json::from_str(ended(&listed, 0)).unwrap();
    assert_eq!(again, card);
}

#[test]
fn an_entity_tag_is_taken_as_it_is_shown() {
    let stage = Stage::new();
    let (odd, other) =
        (stage.file("odd.json", ODD), stage.file("other.json", &ODD.replace('𝄞', "")));
    ended(&stage.svcctl(&["push", &odd, "--create"]), 0);
    let answer = stage.daemon.control.ask(&Ask::get(&format!("{LIST}/odd")));
    let tag = answer.header("etag").to_owned();
    ended(&stage.svcctl(&["push", &other, "--name", "odd", "--if-match", &tag]), 0);
    let late = stage.svcctl(&["push", &odd, "--if-match", &tag]);
    ended(&late, 9);
    assert!(late.stderr.contains("svcctl cards show odd"), "{late:?}");
    ended(&stage.svcctl(&["delete", "odd", "--if-match", &tag]), 9);
    ended(&stage.svcctl(&["delete", "odd", "--if-match", "W/x"]), 64);
    ended(&stage.svcctl(&["push", &odd, "--create", "--if-match", &tag]), 64);
    let gone = stage.svcctl(&["delete", "odd", "-o", "json"]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(ended(&gone, 0)).unwrap()["outcome"],
        "deleted"
    );
    ended(&stage.svcctl(&["show", "odd"]), 6);
}

#[test]
fn an_invalid_card_is_told_as_validate_tells_it() {
    let stage = Stage::new();
    let file = stage.file("bad.json", &ODD.replace("0.3", "0.4"));
    let told = ended(&stage.svcctl(&["validate", &file]), 1).to_owned();
    let refused = stage.svcctl(&["push", &file]);
    let told = told.strip_suffix("1 card: 0 valid, 1 not valid; 1 finding\n").unwrap();
    assert_eq!(ended(&refused, 1), told);
    assert!(refused.stderr.contains("invalid_card, HTTP 422"), "{refused:?}");
    let refused = stage.svcctl(&["push", &file, "-o", "json"]);
    let problem: serde_json::Value = serde_json::from_str(&refused.stderr).unwrap();
    assert_eq!(problem["report"]["findings"][0]["code"], "card/unknown-version");
    assert_eq!(ended(&refused, 1), "");
}

#[test]
fn all_pages_are_gathered() {
    let stage = Stage::new();
    let file = stage.file("odd.json", ODD);
    let names: Vec<String> = (0..7).map(|number| format!("card-{number}")).collect();
    for name in &names {
        ended(&stage.svcctl(&["push", &file, "--name", name]), 0);
    }
    let listed = stage.svcctl(&["list", "--all", "--limit", "2", "-o", "ndjson"]);
    let found = ended(&listed, 0)
        .lines()
        .map(|line| serde_json::from_str::<svc::api::AgentCard>(line).unwrap().name.to_string());
    assert_eq!(found.collect::<Vec<_>>(), names);
    let page = stage.svcctl(&["list", "--limit", "2", "--after", "card-3"]);
    assert!(page.stderr.contains("--limit 2 --after card-5"), "{page:?}");
    ended(&page, 0);
}

fn write(endpoint: &Endpoint, ask: Ask) -> Answer {
    endpoint.ask(&ask.header("Content-Type", "application/json").bearer())
}

#[test]
fn answers_without_a_body_are_whole_on_both_surfaces() {
    let stage = Stage::new();
    for endpoint in stage.daemon.operator_endpoints() {
        let path = format!("{LIST}/odd");
        assert_eq!(write(&endpoint, Ask::new("PUT", &path).body(ODD)).status, 201);
        let shown = endpoint.ask(&Ask::get(&path));
        assert_eq!((shown.status, shown.text().as_str()), (200, ODD));
        let tag = shown.header("etag").to_owned();
        let head = endpoint.ask(&Ask::new("HEAD", &path));
        assert_eq!((head.status, head.header("etag"), head.body.len()), (200, tag.as_str(), 0));
        assert_eq!(head.header("content-length"), ODD.len().to_string());
        let known = endpoint.ask(&Ask::get(&path).header("If-None-Match", &tag));
        assert_eq!((known.status, known.header("etag"), known.body.len()), (304, tag.as_str(), 0));
        let large = write(&endpoint, Ask::new("PUT", &path).body(vec![b' '; (1 << 20) + 1]));
        large.assert_problem(413, "payload_too_large", "");
        let unknown = endpoint.ask(&Ask::new("PUT", &path).body(ODD));
        unknown.assert_problem(401, "unauthenticated", "");
        let gone = write(&endpoint, Ask::new("DELETE", &path));
        assert_eq!((gone.status, gone.body.len()), (204, 0));
        endpoint.ask(&Ask::get(&path)).assert_problem(404, "not_found", "");
    }
}

#[test]
fn no_word_of_a_card_and_no_name_is_in_the_log_or_the_metrics() {
    let mut stage = Stage::new();
    let file = stage.file("canaryname.json", ODD);
    let bad = stage.file("bad.json", &ODD.replace("0.3", "canarytext"));
    ended(&stage.svcctl(&["push", &file]), 0);
    ended(&stage.svcctl(&["push", &bad, "--name", "canaryname"]), 1);
    ended(&stage.svcctl(&["validate", &bad]), 1);
    ended(&stage.svcctl(&["push", &file, "--create"]), 9);
    ended(&stage.svcctl(&["show", "canaryname"]), 0);
    ended(&stage.svcctl(&["delete", "canaryname"]), 0);
    for endpoint in stage.daemon.operator_endpoints() {
        let lines = format!("{}\n", ODD.replace(['\r', '\n'], " "));
        let asked = Ask::post(&format!("{LIST}/validate"));
        let answer =
            endpoint.ask(&asked.header("Content-Type", "application/x-ndjson").body(lines));
        assert_eq!(answer.status, 200);
        endpoint.ask(&Ask::new("PUT", &format!("{LIST}/CANARYNAME")).bearer());
    }
    let metrics = stage.daemon.metrics();
    assert_eq!(stage.daemon.end(Signal::TERM).code(), Some(0));
    let log = stage.daemon.log();
    for event in ["agent_card.registered", "agent_card.removed"] {
        assert!(log.contains(event), "{event}");
    }
    for mark in ["canaryname", "canarytext", TOKEN] {
        assert!(!log.to_lowercase().contains(mark) && !metrics.contains(mark), "{mark}");
    }
    let pages = stage.site.bytes();
    let held = pages.windows(10).any(|window| window == b"canarytext");
    assert!(!held, "what was removed is gone from the pages too");
}
