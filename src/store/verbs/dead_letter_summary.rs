//! How many dead letters of an installation are open, by reason, repository and replay class.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::api::{DeadLetterCount, DeadLetterSummary};
use crate::domain::dead_letter;
use crate::domain::id::InstallationId;
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::sql::params;

/// Most dead letters that are counted, the oldest ones. They are entries of one index, a few milliseconds in all.
const COUNTED_MAX: u32 = 100_000;

impl Store {
    /// Returns how many dead letters of an installation are open.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn dead_letter_summary(
        &self,
        installation: InstallationId,
    ) -> Result<DeadLetterSummary, Error> {
        let (mut reasons, mut repositories) = (Counts::default(), Counts::default());
        let (mut replay_classes, mut all) = (Counts::default(), Counts::default());
        let mut seen = 0;
        self.read(|db| {
            db.each(
                "SELECT failed_at, reason_code, repository, replay_class \
                 FROM dead_letters INDEXED BY dead_letters_open \
                 WHERE installation_id = :installation AND resolution IS NULL \
                 ORDER BY failed_at ASC LIMIT +:limit",
                params! { ":installation": installation, ":limit": COUNTED_MAX + 1 },
                |row| {
                    seen += 1;
                    if seen > COUNTED_MAX {
                        return Ok(ControlFlow::Break(()));
                    }
                    let class: String = row.get("replay_class")?;
                    let (safe, at) = (dead_letter::is_replay_safe(&class), row.get("failed_at")?);
                    reasons.add(row.get("reason_code")?, safe, at);
                    repositories.add(row.get("repository")?, safe, at);
                    replay_classes.add(Some(class), safe, at);
                    all.add(None, safe, at);
                    Ok(ControlFlow::Continue(()))
                },
            )
        })?;
        let all = all.into_sorted().pop();
        Ok(DeadLetterSummary {
            count: all.as_ref().map_or(0, |all| all.count),
            replay_safe_count: all.as_ref().map_or(0, |all| all.replay_safe_count),
            oldest_failed_at: all.map(|all| all.oldest_failed_at),
            truncated: seen > COUNTED_MAX,
            reasons: reasons.into_sorted(),
            repository_count: u32::try_from(repositories.0.len()).unwrap_or(u32::MAX),
            repositories: DeadLetterSummary::foremost(repositories.into_sorted()),
            replay_classes: replay_classes.into_sorted(),
        })
    }
}

/// Counts by one of their words.
#[derive(Default)]
struct Counts(BTreeMap<Option<String>, DeadLetterCount>);

impl Counts {
    /// Counts one. They come oldest first.
    fn add(&mut self, name: Option<String>, replay_safe: bool, failed_at: Timestamp) {
        let count = self.0.entry(name).or_insert(DeadLetterCount {
            name: None,
            count: 0,
            replay_safe_count: 0,
            oldest_failed_at: failed_at,
        });
        count.count += 1;
        count.replay_safe_count += u32::from(replay_safe);
    }

    /// Returns them with their names, the greatest first.
    fn into_sorted(self) -> Vec<DeadLetterCount> {
        let named = |(name, count)| DeadLetterCount { name, ..count };
        let mut counts: Vec<_> = self.0.into_iter().map(named).collect();
        // The sort is stable, so counts that are equal stay in the order of their names.
        counts.sort_by_key(|count| std::cmp::Reverse(count.count));
        counts
    }
}
