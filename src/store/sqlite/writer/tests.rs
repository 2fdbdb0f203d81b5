//! Groups of verbs of which some fail.

use std::panic::resume_unwind;

use proptest::prelude::*;

use super::*;
use crate::runtime::clock::SystemClock;
use crate::runtime::random::SystemEntropy;
use crate::store::sql::params;
use crate::store::{LogRules, Options, Store};

/// What a verb does, which has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Writes,
    FailsAtOnce,
    FailsAfterItWrote,
    PanicsAfterItWrote,
}

fn run(kind: Kind, number: usize, tx: &Tx<'_>) -> Result<usize, Error> {
    if kind == Kind::FailsAtOnce {
        return Err(Error::LeaseLost);
    }
    tx.execute(
        "INSERT INTO installations (installation_id, state, updated_at) VALUES (:id, 'active', 0)",
        params! { ":id": i64::try_from(number).unwrap() + 1 },
    )?;
    match kind {
        Kind::Writes => Ok(number),
        Kind::PanicsAfterItWrote => resume_unwind(Box::new("without a word")),
        Kind::FailsAtOnce | Kind::FailsAfterItWrote => Err(Error::LeaseLost),
    }
}

fn store(folder: &tempfile::TempDir) -> Store {
    Store::open(Options {
        path: folder.path().join("store.db"),
        clock: Arc::new(SystemClock::new()),
        ids: Ids::new(Box::new(SystemEntropy::new())),
        on_fatal: Box::new(|error| panic!("{error}")),
        on_opening: Arc::new(|_| {}),
        log: LogRules::default(),
    })
    .unwrap()
}

#[test]
fn a_group_that_only_rolled_back_does_not_show_that_the_disk_works() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let full = || Health::Failing(Unavailable::Full);
    let refused: Result<(), Error> = store.write(|_| Err(Error::Unavailable(Unavailable::Full)));
    refused.unwrap_err();
    assert_eq!(store.health(), full());
    for kind in [Kind::FailsAtOnce, Kind::FailsAfterItWrote] {
        store.write(move |tx| run(kind, 1, tx)).unwrap_err();
        assert_eq!(store.health(), full(), "{kind:?}");
    }
    store.write(|tx| run(Kind::Writes, 1, tx)).unwrap();
    assert_eq!(store.health(), Health::Ok);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn of_a_group_those_that_fail_are_undone_alone(
        kinds in prop::collection::vec(
            prop_oneof![
                6 => Just(Kind::Writes),
                1 => Just(Kind::FailsAtOnce),
                1 => Just(Kind::FailsAfterItWrote),
                1 => Just(Kind::PanicsAfterItWrote),
            ],
            1..40,
        ),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let (taken, is_taken) = channel();
        let (release, released) = channel();
        let released = Mutex::new(released);
        let first = store.submit(Lane::Urgent, move |_| {
            taken.send(()).unwrap();
            released.lock().unwrap().recv().unwrap();
            Ok(())
        });
        is_taken.recv().unwrap();
        let submit = |(number, kind): (usize, &Kind)| {
            let kind = *kind;
            store.submit(Lane::Urgent, move |tx| run(kind, number, tx))
        };
        let pending: Vec<_> = kinds.iter().enumerate().map(submit).collect();
        release.send(()).unwrap();
        first.wait().unwrap();
        for ((number, kind), pending) in kinds.iter().enumerate().zip(pending) {
            match (kind, pending.wait()) {
                (Kind::Writes, Ok(answer)) => prop_assert_eq!(answer, number),
                (Kind::FailsAtOnce | Kind::FailsAfterItWrote, Err(Error::LeaseLost))
                | (Kind::PanicsAfterItWrote, Err(Error::Panicked)) => {}
                (kind, answer) => prop_assert!(false, "{kind:?} was told {answer:?}"),
            }
        }
        let wrote: Vec<usize> = (0..kinds.len()).filter(|n| kinds[*n] == Kind::Writes).collect();
        let there = store.installations(None, 100).unwrap().items;
        let there: Vec<usize> =
            there.iter().map(|row| usize::try_from(row.installation_id.get()).unwrap() - 1).collect();
        prop_assert_eq!(there, wrote);
    }
}
