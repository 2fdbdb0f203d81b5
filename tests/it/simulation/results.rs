//! Results that workflow runs send, verified already: the first one, the same one again, others under
//! its credential, of old attempts, about other commits, of other runs.

use std::sync::Arc;

use svc::domain::event::CommitSha;
use svc::domain::result::{NewResult, RecordedResult, ResultReport};

use super::forge::Run;
use super::world::World;
use svc::domain::release::Decision;

/// A run sends a result; or one is sent once more.
pub(super) fn send(world: &Arc<World>, depth: u32) {
    let sent = world.known.lock().unwrap().results.clone();
    let result = match world.chance.below(4) {
        0 => world.chance.pick(&sent).map(|old| again(world, old)),
        _ => new(world),
    };
    let Some(result) = result else { return };
    let (replica, store) = world.replica();
    let recorded = store.record_result(result.clone());
    world.note(depth, &format!("replica {replica} takes in a result: {recorded:?}"));
    let Ok(recorded) = recorded else { return };
    let mut known = world.known.lock().unwrap();
    let key = (result.credential.to_string(), result.body_sha256);
    match recorded {
        RecordedResult::Now => {
            assert!(known.decided.insert(result.attempt), "an attempt was decided twice");
            assert!(known.credentials.insert(key), "a credential counted twice");
            world.count("result", result.report.decision.as_str());
        }
        RecordedResult::Before => {
            assert!(known.credentials.contains(&key), "what was never recorded is repeated");
            world.count("result", "repeated");
        }
        RecordedResult::Refused(refusal) => {
            assert!(!known.credentials.contains(&key), "{refusal}: it was recorded before");
            world.count("result", refusal.as_str());
        }
    }
    known.results.push(result);
}

/// What a run sends: mostly as it should be.
fn new(world: &World) -> Option<NewResult> {
    let runs = world.forge.lock().unwrap().runs.clone();
    let run: Run = *world.chance.pick(&runs)?;
    let [release_run, head_sha] = world.release_of(run.attempt)?;
    let commit = if world.chance.one_in(12) { "b".repeat(40) } else { head_sha };
    let workflow_run = match world.chance.below(12) {
        0 => world.chance.pick(&runs)?.id,
        1 => 9_999_999.try_into().unwrap(),
        _ => run.id,
    };
    Some(NewResult {
        release_run: release_run.parse().unwrap(),
        attempt: run.attempt,
        workflow_run,
        credential: svc::crypto::sha256::of(&world.chance.below(u64::MAX).to_le_bytes()),
        report: ResultReport {
            decision: *world.chance.pick(Decision::ALL).unwrap(),
            head_commit: CommitSha::new(&commit).unwrap(),
        },
        body: "{}".to_owned(),
        body_sha256: [1; 32].into(),
    })
}

/// The same once more, or another body under its credential.
fn again(world: &World, old: &NewResult) -> NewResult {
    let mut again = old.clone();
    if world.chance.one_in(3) {
        again.body_sha256 = [2; 32].into();
    }
    again
}
