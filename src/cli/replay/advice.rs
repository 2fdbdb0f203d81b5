//! What a replay class means to the person in front of it, and what to do next.

use crate::domain::dead_letter::ReplayClass;

/// Why an item may, or may not, be replayed, and the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) why: &'static str,
    pub(crate) next: &'static str,
}

/// The advice for an item that is done.
pub(crate) const DONE: Advice =
    Advice { why: "the item is done", next: "nothing: what failed was carried out" };

const SAFE_NEXT: &str = "repair the cause (dead-letters.md of the guide explains the reason and the error class; packages install it in /usr/share/doc/svcd/docs), then replay the item: svcctl replay";

/// What to do for a release whose dispatch must not be sent again. The same before a close and after it, when `svcd` looks no
/// more. A second workflow run might deploy twice, so the operator looks first.
macro_rules! rerun {
    () => {
        "first check on the forge that no workflow run exists for this tag; then re-run the check run there, or push a new tag"
    };
}
pub(crate) use rerun;

/// Returns the advice for a class as the service names it, also for one a newer service may have.
pub(crate) fn of(class: &str) -> Advice {
    match ReplayClass::from_word(class) {
        Some(class) => of_class(class),
        None if class == "not_dead" => Advice {
            why: "the item is waiting, running or finished, so it is not a dead letter; another operator may have replayed it",
            next: "list the dead letters: svcctl dead-letters list",
        },
        None if class == "closed" => Advice {
            why: "an operator closed the dead letter, which deleted its content",
            next: concat!("if its release is still needed, ", rerun!()),
        },
        None if class == "died_again" => Advice {
            why: "the item was replayed since then, and became a dead letter again",
            next: "see what the reason names (svcctl dead-letters show), repair it, then replay the item again",
        },
        None => Advice {
            why: "this svcctl does not know the replay class",
            next: "treat it as unsafe, and compare the versions: svcctl --version; svcd --version",
        },
    }
}

const fn of_class(class: ReplayClass) -> Advice {
    match class {
        ReplayClass::JobTransaction => Advice {
            why: "the whole job is one transaction, and it was not committed",
            next: SAFE_NEXT,
        },
        ReplayClass::NotSent => Advice { why: "nothing was sent to the forge", next: SAFE_NEXT },
        ReplayClass::Refused => {
            Advice { why: "the forge refused the request, so it had no effect", next: SAFE_NEXT }
        }
        ReplayClass::Repeatable => Advice {
            why: "it sets a state, and setting the same state again does no harm",
            next: SAFE_NEXT,
        },
        ReplayClass::ProvedAbsent => {
            Advice { why: "a query to the forge proved that it had no effect", next: SAFE_NEXT }
        }
        ReplayClass::DispatchUncertain => Advice {
            why: "a workflow run may exist; dispatching again might start a second one",
            next: concat!(
                "wait: svcd looks for the workflow run; if the release fails and is still needed, ",
                rerun!()
            ),
        },
        ReplayClass::CreateUncertain => Advice {
            why: "a check run may exist; creating it again might make a second one",
            next: "wait: svcd looks for the check run on the forge; if there is none, the dead letter becomes safe to replay",
        },
        ReplayClass::BindingMismatch => Advice {
            why: "the forge shows a different check run under this number, and it must not be changed",
            next: "compare the check runs of the commit on the forge with the output of svcctl releases show",
        },
        ReplayClass::Unreadable => Advice {
            why: "its stored content cannot be read, so it would fail again",
            next: "redeliver the webhook on the forge, or re-run the check run there",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_classes_are_told_to_replay() {
        for class in ReplayClass::ALL {
            assert_eq!(of(class.as_str()).next == SAFE_NEXT, class.is_safe(), "{class}");
        }
    }

    #[test]
    fn what_is_not_a_class_is_never_told_to_replay() {
        for word in ["not_dead", "closed", "died_again", "", "from_a_newer_service"] {
            assert_ne!(of(word).next, SAFE_NEXT, "{word}");
        }
    }
}
