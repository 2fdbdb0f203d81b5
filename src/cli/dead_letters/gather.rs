//! Gathers dead letters from pages, keeping those that are wanted.

use crate::api::{DeadLetter, PageBody};
use crate::domain::dead_letter::{DeadLetterReason, ItemType};

/// Which dead letters are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filter {
    pub(super) item_type: Option<ItemType>,
    pub(super) reason: Option<DeadLetterReason>,
}

impl Filter {
    pub(super) fn is_empty(self) -> bool {
        self.item_type.is_none() && self.reason.is_none()
    }

    fn accepts(self, item: &DeadLetter) -> bool {
        self.item_type.is_none_or(|wanted| wanted.as_str() == item.item_type)
            && self.reason.is_none_or(|wanted| wanted.as_str() == item.reason_code)
    }
}

/// Takes a page in, and returns the cursor of the next one to ask for; `None` when it is enough.
///
/// `gathered.next_before` is where to go on later. When a page is left in its middle, that is the
/// last item taken: its instant is unique, so that nothing is skipped or seen twice.
pub(super) fn take(
    gathered: &mut PageBody<DeadLetter>,
    page: PageBody<DeadLetter>,
    filter: Filter,
    limit: Option<usize>,
) -> Option<String> {
    for item in page.items.into_iter().filter(|item| filter.accepts(item)) {
        if is_full(gathered, limit) {
            gathered.next_before = gathered.items.last().map(|last| last.failed_at.to_string());
            return None;
        }
        gathered.items.push(item);
    }
    gathered.next_before = page.next_before;
    if is_full(gathered, limit) { None } else { gathered.next_before.clone() }
}

fn is_full(gathered: &PageBody<DeadLetter>, limit: Option<usize>) -> bool {
    limit.is_some_and(|limit| gathered.items.len() >= limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    const JOBS: Filter = Filter { item_type: Some(ItemType::Job), reason: None };

    /// Each letter is an item: `j` a job, `o` an outbox message; it fails at its own position.
    fn page(start: usize, items: &str, next: Option<&str>) -> PageBody<DeadLetter> {
        let items = items.char_indices().map(|(position, kind)| DeadLetter {
            item_type: if kind == 'j' { "job".into() } else { "outbox".into() },
            item_id: String::new(),
            repository: None,
            reason_code: if kind == 'j' { "crash_loop".into() } else { "job_failed".into() },
            error_class: "crash".into(),
            cause: None,
            attempt_count: 1,
            failed_at: Timestamp::from_micros(i64::try_from(start + position).unwrap()),
            replay_safe: true,
        });
        PageBody { items: items.collect(), next_before: next.map(str::to_owned) }
    }

    fn none() -> PageBody<DeadLetter> {
        PageBody { items: Vec::new(), next_before: None }
    }

    fn taken(gathered: &PageBody<DeadLetter>) -> (Vec<i64>, Option<&str>) {
        let items = gathered.items.iter().map(|item| item.failed_at.micros()).collect();
        (items, gathered.next_before.as_deref())
    }

    #[test]
    fn a_whole_page_keeps_its_cursor() {
        let mut gathered = none();
        assert_eq!(take(&mut gathered, page(0, "jo", Some("1")), Filter::default(), Some(2)), None);
        assert_eq!(taken(&gathered), (vec![0, 1], Some("1")));
    }

    #[test]
    fn a_filter_goes_on_until_it_has_enough() {
        let mut gathered = none();
        let next = take(&mut gathered, page(0, "oojo", Some("3")), JOBS, Some(3));
        assert_eq!(next.as_deref(), Some("3"));
        let next = take(&mut gathered, page(4, "jojojj", Some("9")), JOBS, Some(3));
        assert_eq!(next, None);
        assert_eq!(taken(&gathered), (vec![2, 4, 6], Some("1970-01-01T00:00:00.000006Z")));
    }

    #[test]
    fn nothing_more_on_the_last_page_is_the_end() {
        let mut gathered = none();
        assert_eq!(take(&mut gathered, page(0, "jjoo", None), JOBS, Some(2)), None);
        assert_eq!(taken(&gathered), (vec![0, 1], None));
    }

    #[test]
    fn without_a_limit_the_pages_end_it() {
        let mut gathered = none();
        let next = take(&mut gathered, page(0, "jo", Some("1")), Filter::default(), None);
        assert_eq!(next.as_deref(), Some("1"));
        assert_eq!(take(&mut gathered, page(2, "j", None), Filter::default(), None), None);
        assert_eq!(taken(&gathered), (vec![0, 1, 2], None));
    }

    #[test]
    fn both_filters_must_accept() {
        let filter = Filter { reason: Some(DeadLetterReason::JobFailed), ..JOBS };
        let mut gathered = none();
        assert_eq!(take(&mut gathered, page(0, "jojo", None), filter, None), None);
        assert!(gathered.items.is_empty());
    }
}
