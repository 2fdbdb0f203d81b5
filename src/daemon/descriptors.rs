//! How many descriptors this process may have, and so how many peers it lets in at once. Whoever
//! comes through one door must not use up those that another door, the database or the forge needs.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Descriptors kept for everything but peers over TCP: the files of the database, the runtime, the
/// control socket with all its peers, connections to the forge.
const KEPT: u64 = 96;
/// Connections a door has in any case.
const LEAST: u16 = 16;

/// Raises the limit as far as this process may, and returns how many connections each of `doors` may
/// have: as many as `wanted` unless the system gives less.
pub(super) fn connections_max(doors: usize, wanted: u16) -> u16 {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if setrlimit(Resource::Nofile, limit).is_err() {
        log::debug!(event = "daemon.descriptors_kept"; "the limit of descriptors stays as it is");
    }
    let Some(given) = getrlimit(Resource::Nofile).current else { return wanted };
    let share = share(given, doors, wanted);
    if share < wanted {
        log::warn!(
            event = "daemon.few_descriptors", descriptors = given, connections = share;
            "the limit of descriptors allows few connections; raise LimitNOFILE"
        );
    }
    share
}

fn share(given: u64, doors: usize, wanted: u16) -> u16 {
    let doors = u64::try_from(doors.max(1)).unwrap_or(u64::MAX);
    let share = given.saturating_sub(KEPT) / doors;
    u16::try_from(share).unwrap_or(u16::MAX).clamp(LEAST.min(wanted), wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_get_what_is_left_and_a_door_is_never_shut() {
        for (given, doors, expected) in [
            (65_536, 2, 1_024),
            (2_144, 2, 1_024),
            (1_024, 2, 464),
            (1_024, 1, 928),
            (128, 2, 16),
            (0, 2, 16),
            (u64::MAX, 0, 1_024),
        ] {
            assert_eq!(share(given, doors, 1_024), expected, "{given} for {doors}");
        }
        assert_eq!(share(0, 1, 4), 4);
    }
}
