//! A page of a list, and where the next one begins.

/// Smallest page.
pub const PAGE_MIN: u32 = 1;
/// Largest page.
pub const PAGE_MAX: u32 = 100;
/// Page when none is asked for.
pub const PAGE_DEFAULT: u32 = 50;

/// One page. Its cursor names the last item shown, which nothing that is added later can move: so
/// following pages never skip or repeat an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, C> {
    /// At most as many as were asked for.
    pub items: Vec<T>,
    /// The last item's name; `None` when this is the last page.
    pub next: Option<C>,
}

impl<T, C> Page<T, C> {
    /// Makes a page of at most `limit` items. One item more than that says that there is a next page.
    #[must_use]
    pub fn cut(mut items: Vec<T>, limit: u32, name: impl FnOnce(&T) -> C) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        // `None` on the last page even if it is full, so that a client does not fetch an empty one.
        let next = items.last().filter(|_| more).map(name);
        Self { items, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_item_more_is_a_next_page() {
        for (found, items, next) in [
            (vec![], vec![], None),
            (vec![9, 8], vec![9, 8], None),
            (vec![9, 8, 7], vec![9, 8], Some(8)),
        ] {
            assert_eq!(Page::cut(found, 2, |item| *item), Page { items, next });
        }
    }
}
