//! What happens next to a release run, in a sentence; also for a code of a newer service.

use crate::api;
use crate::cli::output::Times;
use crate::cli::replay::advice::rerun;
use crate::domain::dead_letter::DeadLetterReason;

/// What is due is done then, while no connection to the forge can be made.
const CUT_OFF: &str =
    "once the forge can be reached again; svcd keeps trying, and svcctl status shows the cause";

const WHY_FAILED: &str = "svcctl status and the log of svcd say why";

/// Says whether the next step is a call to the forge, so that it waits while none can be made.
pub(super) fn calls_forge(release: &api::ReleaseRunDetail) -> bool {
    let code = release.next.code.as_ref();
    code.starts_with("send_") || code == "publish"
}

/// Returns the sentence. `is_cut_off` says that no connection to the forge can be made.
pub(super) fn sentence(release: &api::ReleaseRunDetail, is_cut_off: bool, times: Times) -> String {
    let next = &release.next;
    let at = match next.at {
        Some(_) if is_cut_off => CUT_OFF.to_owned(),
        at => at.map(|at| times.due(at)).unwrap_or_default(),
    };
    // Why they failed is stored only when the effect becomes a dead letter.
    let at = match next.failed_tries {
        _ if is_cut_off => at,
        0 => at,
        1 => format!("{at}; 1 try has failed ({WHY_FAILED})"),
        tries => format!("{at}; {tries} tries have failed ({WHY_FAILED})"),
    };
    let deadline = next.deadline_at.map(|at| times.due(at)).unwrap_or_default();
    match next.code.as_ref() {
        "send_check_run_create" => format!("the check run is created {at}"),
        "send_workflow_dispatch" => format!("the workflow is dispatched {at}"),
        "send_check_run_update" => format!("the check run is updated {at}"),
        "publish" => format!("the result is published to the check run {at}"),
        "awaits_answer" => {
            format!("a request to the forge is in progress; if no response arrives, svcd stops waiting for it {deadline}")
        }
        "awaits_result" if next.deadline_at.is_none() => {
            "svcd waits for the signed result of the workflow run".to_owned()
        }
        "awaits_result" => {
            format!("svcd waits for the signed result; it queries the forge {at}, and then repeatedly until the deadline ({deadline}); if the release is still undecided then, it ends without success")
        }
        "recheck" => {
            format!("svcd queries the forge {at}, and then repeatedly until the deadline ({deadline}); if the release is still undecided then, it ends without success")
        }
        "awaits_reconciliation" => {
            "the forge has not confirmed the check run; a reconciler will check it soon".to_owned()
        }
        "operator_replay" if is_updated_by_reconciler(release) => {
            "a reconciler tries to update the check run, and ends the dead letter if that succeeds; if not, an operator must repair the cause and replay it"
                .to_owned()
        }
        "operator_replay" => "an operator must repair the cause and replay the dead letter".to_owned(),
        "operator_rerequest" => {
            concat!("svcd looks for the workflow run; if the release fails and is still needed, ", rerun!())
                .to_owned()
        }
        "operator_investigate" => investigate(release).to_owned(),
        "ends_at_deadline" => {
            concat!("an operator closed the dead letter, so the release fails SVC_RECONCILIATION_DEADLINE_SECONDS (by default, 30 minutes) after the close; if it is still needed, ", rerun!())
                .to_owned()
        }
        "nothing" => "nothing: the release has ended".to_owned(),
        _ => "this svcctl does not know the next step; compare the versions: svcctl --version; svcd --version"
            .to_owned(),
    }
}

/// Says whether a reconciler does what the dead letter failed to do: once a release has ended, it looks at the check run,
/// until it has given that up.
fn is_updated_by_reconciler(detail: &api::ReleaseRunDetail) -> bool {
    let reason = DeadLetterReason::ForgeCheckRunUpdateFailed.as_str();
    let release = &detail.release_run;
    detail.next.reason_code.as_deref() == Some(reason)
        && release.finished_at.is_some()
        && release.last_publication_error.is_none()
}

fn investigate(release: &api::ReleaseRunDetail) -> &'static str {
    if release.next.dead_letter_id.is_some() {
        "an operator must examine the dead letter; it must not be replayed"
    } else if release.release_run.last_publication_error.is_some() {
        "an operator must look at the check run on the forge, because the result could not be published"
    } else {
        "an operator must look at the log of svcd: the release has not ended, but no next step is planned"
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::api::{Outlook, ReleaseRun};
    use crate::domain::release::next_step;
    use crate::domain::time::Timestamp;

    const NOW: Timestamp = Timestamp::from_micros(1_795_251_600_000_000);
    const TIMES: Times = Times { now: NOW, is_exact: false };

    fn release(code: &'static str, planned: bool) -> api::ReleaseRunDetail {
        let time = |seconds| NOW.plus(std::time::Duration::from_secs(seconds));
        api::ReleaseRunDetail {
            release_run: ReleaseRun {
                release_run_id: Uuid::nil().into(),
                repository: None,
                git_ref: String::new(),
                head_sha: String::new(),
                status: "running".into(),
                decision: None,
                conclusion: None,
                failure_reason: None,
                attempt_number: 1,
                attempt_failure_reason: None,
                workflow_run_id: None,
                check_run_id: None,
                forge_check_published_at: None,
                last_publication_error: None,
                created_at: time(0),
                updated_at: time(0),
                finished_at: None,
            },
            steps: Vec::new(),
            attempts: Vec::new(),
            next: Outlook {
                code: code.into(),
                at: planned.then(|| time(60)),
                deadline_at: planned.then(|| time(1_800)),
                dead_letter_id: None,
                reason_code: None,
                failed_tries: 0,
            },
        }
    }

    #[test]
    fn every_code_has_a_sentence_of_its_own() {
        let unknown = sentence(&release("of_tomorrow", false), false, TIMES);
        let mut sentences = vec![unknown];
        for code in next_step::NextStep::CODES {
            let told = sentence(&release(code, true), false, TIMES);
            assert!(!sentences.contains(&told), "{code}: {told}");
            sentences.push(told);
        }
    }

    #[test]
    fn times_are_told_from_now() {
        let told = |code, planned| sentence(&release(code, planned), false, TIMES);
        assert_eq!(
            told("recheck", true),
            "svcd queries the forge in 1m (2026-11-21T09:01:00.000000Z), and then repeatedly until the deadline (in \
             30m (2026-11-21T09:30:00.000000Z)); if the release is still undecided then, it ends without success"
        );
        assert_eq!(
            told("awaits_result", false),
            "svcd waits for the signed result of the workflow run"
        );
    }

    #[test]
    fn failed_tries_are_told_while_the_effect_is_tried_again() {
        let told = |code, failed_tries, is_cut_off| {
            let mut release = release(code, true);
            release.next.failed_tries = failed_tries;
            sentence(&release, is_cut_off, TIMES)
        };
        for code in
            ["send_check_run_create", "send_workflow_dispatch", "send_check_run_update", "publish"]
        {
            assert!(!told(code, 0, false).contains("failed"), "{code}");
            assert!(told(code, 1, false).contains("; 1 try has failed (svcctl status"), "{code}");
            assert!(
                told(code, 7, false).contains("; 7 tries have failed (svcctl status"),
                "{code}"
            );
            // The cause is told then, and it is why they failed.
            assert!(!told(code, 7, true).contains("tries have failed"), "{code}");
        }
    }

    #[test]
    fn what_waits_for_the_forge_is_not_said_to_be_done_now() {
        for code in next_step::NextStep::CODES {
            let release = release(code, true);
            let told = sentence(&release, calls_forge(&release), TIMES);
            assert_eq!(told.contains(CUT_OFF), code.starts_with("send_") || code == "publish");
        }
    }

    #[test]
    fn a_failed_update_is_left_to_a_reconciler_once_the_release_has_ended() {
        let mut release = release("operator_replay", false);
        release.next.reason_code = Some("forge_check_run_update_failed".to_owned());
        assert!(!sentence(&release, false, TIMES).contains("reconciler"));
        release.release_run.finished_at = Some(NOW);
        assert!(sentence(&release, false, TIMES).starts_with("a reconciler tries to update"));
        release.release_run.last_publication_error =
            Some("forge_check_run_update_failed".to_owned());
        assert!(!sentence(&release, false, TIMES).contains("reconciler"));
        release.release_run.last_publication_error = None;
        release.next.reason_code = Some("forge_dispatch_rejected".to_owned());
        assert!(!sentence(&release, false, TIMES).contains("reconciler"));
    }

    #[test]
    fn a_person_who_must_look_is_told_where() {
        let mut stuck = release("operator_investigate", false);
        assert!(sentence(&stuck, false, TIMES).contains("the log of svcd"));
        stuck.release_run.last_publication_error = Some("forge_check_run_not_found".to_owned());
        assert!(sentence(&stuck, false, TIMES).contains("the check run on the forge"));
        stuck.next.dead_letter_id = Some(Uuid::nil().into());
        assert!(sentence(&stuck, false, TIMES).contains("must not be replayed"));
    }
}
