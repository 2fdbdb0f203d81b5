//! Processes that share a database: whether another one that holds sockets still lives.

use std::collections::HashMap;
use std::time::Duration;

use crate::domain::id::RelayProcessId;

/// Time between two checks of the other processes, and between two beats.
pub const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// After how many checks that found the same beat a process has ended.
pub const SAME_BEATS_MAX: u32 = 3;

/// How far a process has counted, which it does as long as it lives and holds sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    pub process: RelayProcessId,
    /// Its count.
    pub beat: i64,
}

/// What a process knows of the beats of the others. It counts its own checks and reads no clock: after a machine has slept,
/// or a clock was set, every process has the time of some checks to beat again.
#[derive(Debug, Default)]
pub struct Beats(HashMap<RelayProcessId, (i64, u32)>);

impl Beats {
    /// Notes the beats that a check found. Returns those of processes that have ended.
    pub fn look(&mut self, found: &[Beat]) -> Vec<Beat> {
        // Processes whose row is gone are forgotten with the old map.
        let before = std::mem::take(&mut self.0);
        for Beat { process, beat } in found {
            let same = before.get(process).filter(|(known, _)| known == beat);
            self.0.insert(*process, (*beat, same.map_or(0, |(_, count)| count.saturating_add(1))));
        }
        let is_over =
            |it: &&Beat| self.0.get(&it.process).is_some_and(|(_, count)| *count >= SAME_BEATS_MAX);
        found.iter().filter(is_over).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_process_has_ended_once_three_looks_found_nothing_new() {
        let mut beats = Beats::default();
        let [lives, ended] = [1, 2].map(|number| RelayProcessId::from(Uuid::from_u128(number)));
        let found = |beat| [Beat { process: lives, beat }, Beat { process: ended, beat: 7 }];
        for beat in 0..3 {
            assert_eq!(beats.look(&found(beat)), []);
        }
        let over = Beat { process: ended, beat: 7 };
        assert_eq!(beats.look(&found(3)), [over]);
        assert_eq!(beats.look(&found(3)), [over], "as long as it is there");
        // It was only slow.
        assert_eq!(beats.look(&[Beat { process: ended, beat: 8 }]), []);
        // A process that was missing from one check counts as a new one.
        for _ in 0..3 {
            assert_eq!(beats.look(&found(3)), []);
        }
        assert_eq!(beats.look(&found(3)).len(), 2);
    }
}
