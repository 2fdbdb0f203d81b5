//! How many descriptors this process may have, and so how many peers it lets in at once.
//! Peers of one listener must not use up those that another listener, the database or the forge needs.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Descriptors kept for everything but peers over TCP: the files of the database, the runtime, the
/// control socket with all its peers, connections to the forge.
const KEPT: u64 = 96;
/// Connections a listener has in any case.
const LEAST: u16 = 16;

/// Raises the limit as far as this process may, and returns how many connections each listener may have: as many
/// as `wanted` of it unless the system gives less.
pub(super) fn connections_max(wanted: &[u16]) -> Vec<u16> {
    let mut limit = getrlimit(Resource::Nofile);
    // The usual soft limit of 1,024 is for select(2), which nothing here uses; silent peers would use it up.
    limit.current = limit.maximum;
    if setrlimit(Resource::Nofile, limit).is_err() {
        log::debug!(event = "daemon.descriptors_kept"; "the limit on file descriptors could not be raised");
    }
    let Some(given) = getrlimit(Resource::Nofile).current else { return wanted.to_vec() };
    let shares = shares(given, wanted);
    if shares != wanted {
        let connections = shares.iter().copied().map(u64::from).sum::<u64>();
        log::warn!(
            event = "daemon.few_descriptors", descriptors = given, connections;
            "the limit on file descriptors allows few connections; raise LimitNOFILE"
        );
    }
    shares
}

/// Divides what is left of the descriptors among the listeners, by what is wanted of each.
fn shares(given: u64, wanted: &[u16]) -> Vec<u16> {
    let left = given.saturating_sub(KEPT);
    let all = wanted.iter().copied().map(u64::from).sum::<u64>().max(1);
    let share = |wanted: &u16| {
        // In 128 bits: a limit may be close to 2^63.
        let share = u128::from(left) * u128::from(*wanted) / u128::from(all);
        // `clamp` panics when its bounds cross, so `LEAST` yields to a smaller setting.
        u16::try_from(share).unwrap_or(u16::MAX).clamp(LEAST.min(*wanted), *wanted)
    };
    wanted.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_get_what_is_left_and_a_listener_is_never_closed() {
        for (given, expected) in [
            (65_536, [4_096, 1_024]),
            (5_216, [4_096, 1_024]),
            (1_024, [742, 185]),
            (128, [25, 16]),
            (0, [16, 16]),
            (u64::MAX, [4_096, 1_024]),
        ] {
            assert_eq!(shares(given, &[4_096, 1_024]), expected, "{given}");
        }
        assert_eq!(shares(1_024, &[4_096]), [928]);
        assert_eq!(shares(0, &[4]), [4]);
        assert_eq!(shares(0, &[]), [0; 0]);
    }
}
