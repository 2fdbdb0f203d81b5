//! A plugin that reads nothing: what is sent to it is bounded, its socket ends, and others are served.

use serde_json::json;
use svc::demo::plugin::document::Document;

use super::world::{World, approve, ready};
use crate::daemon::letters;
use crate::hostile::probes::Held;

/// Steps and bytes of each: as large as a card may be.
const STEPS: usize = 20;
const TEXT_BYTES: usize = 2_900;
/// More cards than any buffer of the system holds for a peer.
const CARDS: usize = 1_000;

#[test]
fn a_plugin_that_reads_nothing_is_away_soon_and_others_are_served() {
    let world =
        World::local(&[("SVC_RELAY_PROPOSALS_PER_MINUTE", "6000"), ("SVC_LOG_LEVEL", "info")]);
    let agent = world.agent();
    let mut deaf = world.paired(&agent);
    let session = deaf.session().unwrap();
    let (before, mut rss_kib) = (Held::of(&world.service.daemon), 0);
    let refused = (0..CARDS).find_map(|number| {
        let text = format!("{number} {}", "x".repeat(TEXT_BYTES));
        let step =
            json!({ "action": "set_text", "arguments": { "node": Document::TITLE, "text": text } });
        let answer = agent.bad("propose_design_steps", &json!({ "steps": vec![step; STEPS] }));
        if answer["status"] != "approval_pending" {
            return Some(answer);
        }
        agent.call("cancel_invocation", &json!({ "invocation": answer["steps"][0]["invocation"] }));
        letters::push(&world.service.daemon, &world.service.site.webhooks, number);
        rss_kib = rss_kib.max(Held::of(&world.service.daemon).rss_kib);
        None
    });
    let refused = refused.expect("no socket takes so much that is not read");
    assert_eq!(refused["code"], "session_away", "{refused}");
    assert!(rss_kib <= before.rss_kib + (64 << 10), "{rss_kib} KiB, {before:?}");
    // It reads again, and comes again.
    deaf.connect().unwrap();
    assert_eq!(ready(&mut deaf), (session, 2));
    agent.propose_title("Sign in");
    approve(&mut deaf);
}
