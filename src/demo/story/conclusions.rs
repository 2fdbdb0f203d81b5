//! How releases end: by the signed result of their own workflow run, or badly. What the
//! daemon is not told, it finds out by itself.

use super::Teller;
use super::queries::{check_run, list};
use crate::api;
use crate::demo;
use crate::demo::stage::{SHORTENED, result_path};
use crate::simulator::{self, RunState};

impl Teller<'_> {
    pub(super) fn conclusions(&mut self) -> Result<(), demo::Error> {
        self.a_result_makes_a_release_succeed()?;
        self.an_end_is_not_shown()?;
        self.the_others_tell_nothing()?;
        self.green_is_not_enough()?;
        self.an_uncertain_effect_is_resolved()?;
        self.a_check_run_is_repaired()?;
        self.deadlines_pass()?;
        self.all_have_ended()
    }

    fn a_result_makes_a_release_succeed(&mut self) -> Result<(), demo::Error> {
        self.say("The checks of v1.0.0 are finished. Its workflow run sends the result with its identity token. Before that, another run tries the same with its own token:")?;
        self.send_result("v1.0.0", "v1.1.0", "accepted", (401, "unauthenticated"))?;
        self.expect_release("v1.0.0", "running", None)?;
        self.send_result("v1.0.0", "v1.0.0", "accepted", (200, "recorded"))?;
        self.await_conclusion("v1.0.0", "success")?;
        self.show_release("v1.0.0", "succeeded", None)
    }

    fn an_end_is_not_shown(&mut self) -> Result<(), demo::Error> {
        self.say("The run of v1.4.0 sends its result as well, but the forge refuses to update the check run. The release has succeeded, and the forge still shows it in progress:")?;
        self.stage.forge.plan(simulator::Call::CheckRunUpdate, simulator::Fault::Validation422);
        self.send_result("v1.4.0", "v1.4.0", "accepted", (200, "recorded"))?;
        self.await_letter("forge_check_run_update_failed")?;
        self.show_release("v1.4.0", "succeeded", None)?;
        let shown = check_run(self.stage, "v1.4.0").map_or_else(String::new, |run| run.status);
        self.show(&format!("the check run of v1.4.0 on the forge: {shown}"))?;
        self.expect("the check run of v1.4.0", &"in_progress", &shown.as_str())
    }

    fn the_others_tell_nothing(&mut self) -> Result<(), demo::Error> {
        self.say("Now svcd receives no webhooks and no results. The run of v1.1.0 succeeds on the forge but sends no result; the run of v1.3.0 never ends; it is still unknown whether v1.2.0 has a run.")?;
        let (green, stuck) = (self.workflow_run("v1.1.0")?, self.workflow_run("v1.3.0")?);
        self.stage.forge.set_run(green.id, RunState::Completed("success"));
        self.stage.forge.set_run(stuck.id, RunState::InProgress);
        self.say("svcd queries the forge itself, first after 5 minutes and then for half an hour. It is restarted on the same store, with its intervals shortened for this demonstration:")?;
        for (name, value) in SHORTENED {
            self.show(&format!("{name}={value}"))?;
        }
        self.stage.restart_shortened()
    }

    fn green_is_not_enough(&mut self) -> Result<(), demo::Error> {
        self.await_release(
            "the daemon to see that the run of v1.1.0 has ended",
            "v1.1.0",
            "reporting",
        )?;
        self.say("It has found the problems. v1.1.0 is green on the forge, but without its result it has not succeeded:")?;
        self.run(&["reconcile", "list"], 0)?;
        self.show_release("v1.1.0", "reporting", None)
    }

    fn an_uncertain_effect_is_resolved(&mut self) -> Result<(), demo::Error> {
        self.say("Exactly one run on the forge names the attempt of v1.2.0, so the dispatch took effect, and the dead letter ends. The result of the run accepts the release at a risk:")?;
        self.await_no_letter("forge_dispatch_uncertain")?;
        self.send_result("v1.2.0", "v1.2.0", "accepted_at_risk", (200, "recorded"))?;
        self.await_conclusion("v1.2.0", "neutral")?;
        self.expect_release("v1.2.0", "succeeded", None)
    }

    fn a_check_run_is_repaired(&mut self) -> Result<(), demo::Error> {
        self.say("The check run of v1.4.0 is set to the final state of the release, and the dead letter of the refused update ends:")?;
        self.await_conclusion("v1.4.0", "success")?;
        self.await_no_letter("forge_check_run_update_failed")?;
        self.show_release("v1.4.0", "succeeded", None)?;
        self.say("Every unknown outcome is resolved, so no dead letter is left:")?;
        self.run(&["dead-letters", "list"], 0)?;
        self.expect_letters(&[])
    }

    fn deadlines_pass(&mut self) -> Result<(), demo::Error> {
        self.say(
            "The deadlines are 4 seconds after the first query. v1.1.0 is green, but has sent no result:",
        )?;
        self.await_release("the deadline of v1.1.0", "v1.1.0", "failed")?;
        self.await_conclusion("v1.1.0", "failure")?;
        self.show_release("v1.1.0", "failed", Some("forge_result_callback_missing"))?;
        self.say("v1.3.0 is still running on the forge. svcd stops waiting for it:")?;
        self.await_release("the deadline of v1.3.0", "v1.3.0", "timed_out")?;
        self.await_conclusion("v1.3.0", "timed_out")?;
        self.show_release("v1.3.0", "timed_out", Some("forge_workflow_deadline_exceeded"))?;
        self.say("A result that arrives now is too late. It changes nothing, and is recorded as an audit event:")?;
        self.send_result("v1.1.0", "v1.1.0", "accepted", (409, "result_conflict"))?;
        self.expect_release("v1.1.0", "failed", Some("forge_result_callback_missing"))
    }

    fn all_have_ended(&mut self) -> Result<(), demo::Error> {
        self.say("The state of the five releases, what was reconciled, and who did what:")?;
        self.run(&["releases", "list"], 0)?;
        self.everything_was_reconciled()?;
        self.run(&["audit", "list"], 0)?;
        let events: Vec<api::AuditEvent> = list(self.stage, &["audit", "list"])?;
        let found: Vec<&str> = events.iter().map(|event| event.event.as_str()).collect();
        let replayed = "control_plane.dead_letter_replayed";
        let refused = "control_plane.release_result_refused";
        self.expect("the audit events", &vec![refused, replayed, replayed, replayed], &found)
    }

    /// On a slow machine more may have been looked at than these four.
    fn everything_was_reconciled(&mut self) -> Result<(), demo::Error> {
        let command = ["reconcile", "list", "--status", "completed"];
        self.run(&command, 0)?;
        let items: Vec<api::ReconciliationItem> = list(self.stage, &command)?;
        for (reason, outcome) in [
            ("running_stale", "forge_result_callback_missing"),
            ("running_stale", "forge_workflow_deadline_exceeded"),
            ("dispatch_uncertain", "effect_proved"),
            ("reporting_stale", "publication_reconciled"),
        ] {
            let is_it = |item: &api::ReconciliationItem| {
                item.reason == reason && item.outcome_code.as_deref() == Some(outcome)
            };
            self.expect(
                &format!("{reason} that came to {outcome}"),
                &true,
                &items.iter().any(is_it),
            )?;
        }
        Ok(())
    }

    /// Sends the result of a tag's run with the token of the run of `signer`.
    fn send_result(
        &mut self,
        tag: &str,
        signer: &str,
        decision: &str,
        expected: (u16, &str),
    ) -> Result<(), demo::Error> {
        let (run, by) = (self.workflow_run(tag)?, self.workflow_run(signer)?);
        let (status, word) = self.stage.send_result(&run, &by, decision)?;
        self.show(&format!("POST {}", result_path(&run)))?;
        self.show(&format!("  ({decision}, signed by the run of {signer}) -> {status} {word}"))?;
        self.expect(&format!("the result of {tag}"), &expected, &(status, word.as_str()))
    }
}
