//! The main job, and what goes wrong with it: a release that goes well, four that meet trouble, and
//! what an operator does about each.

use super::Teller;
use super::queries::parse;
use crate::api;
use crate::demo;
use crate::simulator;

/// A commit for each tag, so that every release is another one.
const COMMITS: [&str; 5] = [
    "1111111111111111111111111111111111111111",
    "2222222222222222222222222222222222222222",
    "3333333333333333333333333333333333333333",
    "4444444444444444444444444444444444444444",
    "5555555555555555555555555555555555555555",
];

impl Teller<'_> {
    pub(super) fn trouble(&mut self) -> Result<(), demo::Error> {
        self.a_release_goes_well()?;
        self.four_meet_trouble()?;
        self.an_operator_looks()?;
        self.a_doubt_is_never_replayed()?;
        self.a_refusal_is_replayed_once()?;
        self.the_rest_is_mended()?;
        self.say("One dead letter is left: the one that must not be replayed.")?;
        self.run(&["dead-letters", "list"], 0)?;
        self.expect_letters(&[("forge_dispatch_uncertain", false)])
    }

    fn a_release_goes_well(&mut self) -> Result<(), demo::Error> {
        self.say("A developer pushes the tag v1.0.0. The forge sends a signed webhook:")?;
        let webhook = self.tag("v1.0.0", COMMITS[0]);
        let (id, status, outcome) = self.stage.deliver(&webhook)?;
        self.show(&format!("POST /webhooks/forge -> {status} {outcome}"))?;
        self.expect("the webhook", &(202, "accepted".to_owned()), &(status, outcome))?;
        self.await_status("v1.0.0", "in_progress")?;
        self.say("The webhook became a job, and the job created a release: the check run is created, the workflow dispatched, and the check run set to in progress. Sending the same delivery again changes nothing:")?;
        let (status, outcome) = self.stage.deliver_as(&id, &webhook)?;
        self.show(&format!("POST /webhooks/forge -> {status} {outcome}"))?;
        self.expect("the same delivery", &(200, "duplicate".to_owned()), &(status, outcome))
    }

    fn four_meet_trouble(&mut self) -> Result<(), demo::Error> {
        self.say("Four more tags are pushed. The forge refuses the first dispatch, the connection is lost in the middle of the second, the third check run cannot be updated, and the installation is suspended before the fourth.")?;
        self.stage.forge.plan(simulator::Call::Dispatch, simulator::Fault::Validation422);
        self.push_and_fail("v1.1.0", COMMITS[1], "forge_dispatch_rejected")?;
        self.stage.forge.plan(simulator::Call::Dispatch, simulator::Fault::CutAfterEffect);
        self.push_and_fail("v1.2.0", COMMITS[2], "forge_dispatch_uncertain")?;
        self.stage.forge.plan(simulator::Call::CheckRunUpdate, simulator::Fault::Validation422);
        self.push_and_fail("v1.3.0", COMMITS[3], "forge_check_run_update_failed")?;
        let suspend = self.stage.webhooks.installation("suspend");
        self.deliver("installation.suspend", &suspend)?;
        self.push_and_fail("v1.4.0", COMMITS[4], "installation_suspended")
    }

    fn an_operator_looks(&mut self) -> Result<(), demo::Error> {
        self.say("An operator is paged, and lists installations and dead letters:")?;
        self.run(&["installations", "list"], 0)?;
        self.run(&["dead-letters", "list"], 0)?;
        self.expect_letters(&[
            ("installation_suspended", true),
            ("forge_check_run_update_failed", true),
            ("forge_dispatch_uncertain", false),
            ("forge_dispatch_rejected", true),
        ])
    }

    fn a_doubt_is_never_replayed(&mut self) -> Result<(), demo::Error> {
        self.say(
            "The dispatch whose connection was lost may have started a workflow run. Its replay is always refused:",
        )?;
        let id = self.letter("forge_dispatch_uncertain")?.item_id;
        self.run(&["dead-letters", "show", "outbox", &id], 0)?;
        self.run(&["replay", "outbox", &id], 5)?;
        Ok(())
    }

    fn a_refusal_is_replayed_once(&mut self) -> Result<(), demo::Error> {
        self.say("The dispatch that was refused had no effect. With one key it is replayed once, however often that is requested:")?;
        let id = self.letter("forge_dispatch_rejected")?.item_id;
        self.run(&["replay", "outbox", &id, "--dry-run"], 0)?;
        let key = ["--idempotency-key", "demo-operation-1"];
        let first = self.replay(&["replay", "outbox", &id, key[0], key[1]], "replayed")?;
        let second = self.replay(&["replay", "outbox", &id, key[0], key[1]], "already_applied")?;
        self.expect("the audit event of the same key", &first, &second)?;
        self.await_status("v1.1.0", "in_progress")?;
        self.say("The same key for another item is refused:")?;
        let other = self.letter("forge_check_run_update_failed")?.item_id;
        self.run(&["replay", "outbox", &other, key[0], key[1]], 7)?;
        Ok(())
    }

    fn the_rest_is_mended(&mut self) -> Result<(), demo::Error> {
        self.say("The state of a check run can be set again; a job whose transaction was not committed can run again once its cause of failure is gone:")?;
        let update = self.letter("forge_check_run_update_failed")?.item_id;
        self.replay(&["replay", "outbox", &update], "replayed")?;
        self.await_status("v1.3.0", "in_progress")?;
        let unsuspend = self.stage.webhooks.installation("unsuspend");
        self.deliver("installation.unsuspend", &unsuspend)?;
        self.await_installation("active")?;
        let job = self.letter("installation_suspended")?.item_id;
        self.replay(&["replay", "job", &job], "replayed")?;
        self.await_status("v1.4.0", "in_progress")
    }

    /// The forge's own record: one workflow run for each tag, the doubtful one included.
    pub(super) fn every_workflow_ran_once(&mut self) -> Result<(), demo::Error> {
        let mut tags: Vec<String> =
            self.stage.forge.workflow_runs().into_iter().map(|run| run.git_ref).collect();
        tags.sort();
        let shown = tags.join(", ");
        self.say("The forge's own record of the workflow runs it started:")?;
        self.show(&shown)?;
        self.expect(
            "the workflow runs on the forge",
            &["v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0", "v1.4.0"].map(str::to_owned).to_vec(),
            &tags,
        )
    }

    /// Pushes a tag and waits for the dead letter it must end in.
    fn push_and_fail(&mut self, tag: &str, commit: &str, reason: &str) -> Result<(), demo::Error> {
        let webhook = self.tag(tag, commit);
        self.deliver(&format!("push {tag}"), &webhook)?;
        self.await_letter(reason)
    }

    pub(super) fn deliver(
        &mut self,
        what: &str,
        webhook: &simulator::Webhook,
    ) -> Result<(), demo::Error> {
        let (_, status, outcome) = self.stage.deliver(webhook)?;
        self.show(&format!("POST /webhooks/forge ({what}) -> {status} {outcome}"))?;
        self.expect(what, &(202, "accepted".to_owned()), &(status, outcome))
    }

    fn await_installation(&mut self, state: &str) -> Result<(), demo::Error> {
        self.wait("the installation's state", |stage| {
            let ran = stage.svcctl(&["installations", "list", "-o", "json"])?;
            Ok(ran.stdout.contains(&format!("\"{state}\"")).then_some(()))
        })
    }

    /// Replays and returns the audit event; the outcome must be as told.
    fn replay(&mut self, arguments: &[&str], outcome: &str) -> Result<String, demo::Error> {
        let shown = self.run(&[arguments, &["-o", "json"]].concat(), 0)?;
        let replayed: api::AppliedBody = parse(&shown, "the replay's answer")?;
        self.expect("the replay", &outcome, &replayed.outcome.as_ref())?;
        Ok(replayed.audit_event_id.to_string())
    }

    fn tag(&self, tag: &str, commit: &str) -> simulator::Webhook {
        self.stage.webhooks.push_tag(tag, commit)
    }
}
