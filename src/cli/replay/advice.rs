//! What a replay class means to the person in front of it, and what to do next.

use crate::domain::dead_letter::ReplayClass;

/// Why an item may, or may not, be replayed, and the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) why: &'static str,
    pub(crate) next: &'static str,
}

const SAFE_NEXT: &str = "replay it once what made it fail is repaired: svcctl replay";

/// Returns the advice for a class as the service names it, also for one a newer service may have.
pub(crate) fn of(class: &str) -> Advice {
    match ReplayClass::from_word(class) {
        Some(class) => of_class(class),
        None if class == "not_dead" => Advice {
            why: "it is not dead: it waits, runs or is finished, perhaps replayed by another operator",
            next: "see what is dead: svcctl dead-letters list",
        },
        None => Advice {
            why: "this svcctl does not know the replay class",
            next: "treat it as unsafe, and compare the versions: svcctl --version; svcd --version",
        },
    }
}

const fn of_class(class: ReplayClass) -> Advice {
    match class {
        ReplayClass::JobTransaction => {
            Advice { why: "the whole work is one transaction that did not happen", next: SAFE_NEXT }
        }
        ReplayClass::NotSent => Advice { why: "nothing was sent to the forge", next: SAFE_NEXT },
        ReplayClass::Refused => {
            Advice { why: "the forge refused it, so nothing happened there", next: SAFE_NEXT }
        }
        ReplayClass::Repeatable => {
            Advice { why: "it sets a state, and setting it twice is the same", next: SAFE_NEXT }
        }
        ReplayClass::ProvedAbsent => {
            Advice { why: "a look at the forge proved that it did not happen", next: SAFE_NEXT }
        }
        ReplayClass::DispatchUncertain => Advice {
            why: "a workflow run may exist; dispatching again might start a second",
            next: "look for the run at the forge; if there is none, rerequest the check run there",
        },
        ReplayClass::CreateUncertain => Advice {
            why: "a check run may exist; creating again might make a second",
            next: "look at the commit's check runs at the forge; the release waits until it is known",
        },
        ReplayClass::BindingMismatch => Advice {
            why: "the forge shows another check run under its number, and that one must not be written to",
            next: "compare the commit's check runs at the forge with svcctl releases show",
        },
        ReplayClass::Unreadable => Advice {
            why: "what is to be done cannot be read, so it would fail again",
            next: "ask the forge for the webhook again, or for the check run to be run again",
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
        for word in ["not_dead", "", "from_a_newer_service"] {
            assert_ne!(of(word).next, SAFE_NEXT, "{word}");
        }
    }
}
