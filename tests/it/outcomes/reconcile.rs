//! The reconcilers: every combination of where the subject stands, what was seen, and when.

use std::fmt::Write as _;
use std::time::Duration;

use svc::domain::dead_letter::ErrorClass;
use svc::domain::delivery::InboxState;
use svc::domain::job::JobStatus;
use svc::domain::outbox::EffectKind;
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::domain::reconcile::{AttemptStanding, ReconcileCode, Rules, Unavailable, lag_until};
use svc::domain::reconcile::{check_run, lifecycle, uncertain, workflow};
use svc::domain::release::{Conclusion, Decision, Ending};
use svc::domain::time::Timestamp;

use super::{NOW, check};

const RULES: Rules = Rules {
    observation: Duration::from_secs(300),
    deadline: Duration::from_secs(1_800),
    next_check: Duration::from_secs(60),
};

/// When it is decided: how far the deadline is.
fn times() -> [(&'static str, Timestamp); 5] {
    [
        ("long before the deadline", NOW.plus(Duration::from_secs(1_800))),
        ("20 s before the deadline", NOW.plus(Duration::from_secs(20))),
        ("a microsecond before the deadline", NOW.plus(Duration::from_micros(1))),
        ("at the deadline", NOW),
        ("after the deadline", NOW.minus(Duration::from_secs(86_400))),
    ]
}

fn unavailable() -> [(&'static str, Unavailable); 3] {
    let wait = |seconds| Some(NOW.plus(Duration::from_secs(seconds)));
    let why = |wait_until| Unavailable { class: ErrorClass::Unavailable, wait_until };
    [
        ("lookup unavailable", why(None)),
        ("lookup unavailable, asked to wait 5 s", why(wait(5))),
        ("lookup unavailable, asked to wait 600 s", why(wait(600))),
    ]
}

fn standing(standing: AttemptStanding) -> &'static str {
    match standing {
        AttemptStanding::Current => "current attempt",
        AttemptStanding::Ended => "ended",
        AttemptStanding::Superseded => "superseded",
    }
}

fn again(code: ReconcileCode, at: Timestamp) -> String {
    let verb = if code.as_str().ends_with("lookup_failed") { "retry" } else { "recheck" };
    let micros = at.since(NOW).as_micros();
    let after = if micros.is_multiple_of(1_000_000) {
        format!("{} s", micros / 1_000_000)
    } else {
        format!("{micros} us")
    };
    format!("{verb} {code} in {after}")
}

/// Everything a look at a workflow run can come to.
fn lookups() -> Vec<(String, Lookup)> {
    let mut lookups = vec![("still pending".to_owned(), Lookup::Pending)];
    for conclusion in RunConclusion::ALL {
        lookups.push((format!("completed / {conclusion}"), Lookup::Completed(*conclusion)));
    }
    lookups.push(("404".to_owned(), Lookup::NotFound));
    for (what, why) in unavailable() {
        lookups.push((what.to_owned(), Lookup::Unavailable(why)));
    }
    lookups
}

#[test]
fn workflow_runs() {
    let lookups = lookups();
    let mut table = String::new();
    for stands in AttemptStanding::ALL {
        for (what, lookup) in &lookups {
            for (when, deadline) in times() {
                let stood = standing(stands);
                let then = match workflow::decide(stands, *lookup, deadline, NOW, &RULES) {
                    workflow::Outcome::Close(code) => format!("close {code}"),
                    workflow::Outcome::Recheck { code, at, ended_well: false } => again(code, at),
                    workflow::Outcome::Recheck { code, at, ended_well: true } => {
                        format!("reporting; {}", again(code, at))
                    }
                    workflow::Outcome::Fail(code) => format!("failed {code}"),
                    workflow::Outcome::TimeOut(code) => format!("timed_out {code}"),
                };
                writeln!(table, "{stood}; {what}; {when} -> {then}").unwrap();
            }
        }
    }
    assert!(!table.contains("succeeded"), "no state of the forge makes a release succeed");
    check("reconcile_workflow", &table);
}

/// Everything a look at a check run can come to.
fn seen_check_runs() -> Vec<(String, check_run::Observation)> {
    use check_run::Observation;
    let mut observations = vec![
        ("identity or binding mismatch".to_owned(), Observation::BindingMismatch),
        ("expected status and conclusion".to_owned(), Observation::Expected),
        ("something else, updated".to_owned(), Observation::Updated),
        ("404".to_owned(), Observation::NotFound),
    ];
    for (what, why) in unavailable() {
        observations.push((what.to_owned(), Observation::Unavailable(why)));
        let what = what.replace("lookup unavailable", "something else, update not confirmed");
        observations.push((what, Observation::NotUpdated(why)));
    }
    for class in [ErrorClass::Permission, ErrorClass::Validation] {
        let refused = check_run::Refused { class, state: [7; 32].into() };
        let what = format!("something else, update refused, {class}");
        observations.push((what, Observation::Refused(refused)));
    }
    let what = "as it was when its update was refused".to_owned();
    observations.push((what, Observation::Unchanged));
    observations
}

/// Which failures of a look may be the lag of a fresh token, and when that is waited for.
#[test]
fn lag() {
    let failures = [None].into_iter().chain(ErrorClass::ALL.iter().copied().map(Some));
    let mut table = String::new();
    for failed in failures {
        for (decides, what) in [(false, "looked at again anyway"), (true, "decides")] {
            for lag_count in 0..4 {
                let then = lag_until(failed, decides, NOW, lag_count).map_or_else(
                    || "judged".to_owned(),
                    |at| again(ReconcileCode::ForgeTokenLag, at),
                );
                let failed = failed.map_or("told something", ErrorClass::as_str);
                writeln!(table, "{failed}; {what}; {lag_count} returns before -> {then}").unwrap();
            }
        }
    }
    check("reconcile_lag", &table);
}

#[test]
fn check_runs() {
    use check_run::{Outcome, ReleaseStanding};
    let observations = seen_check_runs();
    let mut table = String::new();
    for stands in ReleaseStanding::ALL {
        let stood = match stands {
            ReleaseStanding::Unpublished => "ended, not published",
            ReleaseStanding::Published => "published",
            ReleaseStanding::RunsAgain => "runs again",
        };
        for (what, observation) in &observations {
            for (when, deadline) in times() {
                let then = match check_run::decide(stands, *observation, deadline, NOW, &RULES) {
                    Outcome::Close(code) => format!("close {code}"),
                    Outcome::Published => "publication reconciled".to_owned(),
                    Outcome::Recheck { code, at } => again(code, at),
                    Outcome::Fail(code) => format!("stable failure {code}, audited"),
                };
                writeln!(table, "{stood}; {what}; {when} -> {then}").unwrap();
            }
        }
    }
    check("reconcile_check_run", &table);
}

/// Everything a look for an effect can come to.
fn seen_effects() -> Vec<(String, uncertain::Observation)> {
    use uncertain::Observation;
    let (run, check) = (1.try_into().unwrap(), 2.try_into().unwrap());
    let mut observations = vec![
        ("one run names the attempt".to_owned(), Observation::WorkflowRun(run)),
        ("the check run of the attempt".to_owned(), Observation::CheckRun(check)),
        ("no check run of the attempt".to_owned(), Observation::NoCheckRun),
        ("no run, or several, name the attempt".to_owned(), Observation::NoProof),
    ];
    for (what, why) in unavailable() {
        observations.push((what.to_owned(), Observation::Unavailable(why)));
    }
    observations
}

#[test]
fn uncertain_effects() {
    use uncertain::Outcome;
    let observations = seen_effects();
    let mut table = String::new();
    for effect in [EffectKind::WorkflowDispatch, EffectKind::CheckRunCreate] {
        for stands in AttemptStanding::ALL {
            for (what, observation) in &observations {
                for (when, deadline) in times() {
                    let observed = *observation;
                    let then =
                        match uncertain::decide(effect, stands, observed, deadline, NOW, &RULES) {
                            Outcome::Proved(_) => {
                                "it happened: complete, close the dead letter".to_owned()
                            }
                            Outcome::Disproved => "it did not happen: safe to replay".to_owned(),
                            Outcome::Recheck { code, at } => again(code, at),
                            Outcome::Unproved => "stays in doubt: NOT safe to replay".to_owned(),
                            Outcome::End(code) => {
                                format!("failed {code}, stays in doubt: NOT safe to replay")
                            }
                        };
                    let stood = standing(stands);
                    writeln!(table, "{effect}; {stood}; {what}; {when} -> {then}").unwrap();
                }
            }
        }
    }
    check("reconcile_doubt", &table);
}

#[test]
fn inbox_rows() {
    use lifecycle::{Facts, Outcome};
    let jobs = [None].into_iter().chain(JobStatus::ALL.iter().copied().map(Some));
    let mut table = String::new();
    for job in jobs {
        for inbox in InboxState::ALL.iter().copied() {
            for (when, window_ends_at) in [
                ("within the window", NOW.plus(Duration::from_micros(1))),
                ("as the window ends", NOW),
                ("after the window", NOW.minus(Duration::from_secs(86_400))),
            ] {
                let outcome = lifecycle::decide(&Facts { inbox, job, window_ends_at }, NOW);
                let reason = outcome.reason().map_or(String::new(), |reason| format!(", {reason}"));
                let then = match outcome {
                    Outcome::Close(_) => "nothing to repair".to_owned(),
                    Outcome::Project(state) => format!("inbox {}", state.as_str()),
                    Outcome::Recreate => "recreate the job".to_owned(),
                };
                let job = job.map_or("no job", JobStatus::as_str);
                let inbox = inbox.as_str();
                writeln!(table, "{job}; inbox {inbox}; {when} -> {then}{reason}").unwrap();
            }
        }
    }
    check("reconcile_lifecycle", &table);
}

/// How each look is counted, and whether it was one that told nothing.
#[test]
fn observations() {
    use svc::store::Observation;
    let mut observations =
        vec![("the store".to_owned(), "nothing asked".to_owned(), Observation::Inbox)];
    let mut add =
        |of: &str, what, observation| observations.push((of.to_owned(), what, observation));
    for (what, lookup) in lookups() {
        add("workflow run", what, Observation::Workflow(lookup));
    }
    for (what, seen) in seen_check_runs() {
        add("check run", what, Observation::CheckRun(seen));
    }
    for (what, seen) in seen_effects() {
        add("effect in doubt", what, Observation::Uncertain(seen));
    }
    let mut table = String::new();
    for (of, what, observation) in observations {
        let told = match (observation.is_unavailable(), observation.is_not_found()) {
            (true, false) => "the forge did not tell",
            (false, true) => "the forge does not know it",
            (false, false) => "told",
            (true, true) => "both, which cannot be",
        };
        writeln!(table, "{of}; {what} -> {told}").unwrap();
    }
    check("reconcile_looks", &table);
}

/// What each code means beyond its item.
#[test]
fn codes() {
    let mut table = String::new();
    for code in ReconcileCode::ALL {
        let means =
            [(code.is_publication_failure(), "a failed publication"), (code.is_dead(), "given up")];
        let means: Vec<_> =
            means.iter().filter(|(holds, _)| *holds).map(|(_, what)| *what).collect();
        let means = if means.is_empty() { "nothing more".to_owned() } else { means.join(", ") };
        writeln!(table, "{code}: {means}").unwrap();
    }
    check("reconcile_codes", &table);
}

#[test]
fn ends() {
    let mut ends: Vec<_> = Decision::ALL.iter().map(|it| Ending::Decided(*it)).collect();
    for code in ReconcileCode::ALL {
        ends.push(Ending::Failed(*code));
        ends.push(Ending::TimedOut(*code));
    }
    let mut table = String::new();
    for ending in ends {
        let how = match ending {
            Ending::Decided(decision) => format!("result {decision}"),
            Ending::Failed(code) => format!("failed {code}"),
            Ending::TimedOut(code) => format!("timed out {code}"),
        };
        let (status, conclusion) = (ending.status().as_str(), ending.conclusion());
        let reason = ending.failure_reason().unwrap_or("none");
        writeln!(table, "{how} -> {status}; shown as {conclusion}; reason {reason}").unwrap();
    }
    for conclusion in Conclusion::ALL {
        let (title, summary) = conclusion.text();
        writeln!(table, "{conclusion} is told as: {title} | {summary}").unwrap();
    }
    check("release_endings", &table);
}
