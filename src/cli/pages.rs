//! Lists that go by ids: their options, how their pages are gathered, and how to go on.

use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::api::Page;
use crate::cli::again::Again;
use crate::cli::client::{Client, Failure};
use crate::cli::output::{Format, Output};
use crate::domain::page::{PAGE_DEFAULT, PAGE_MAX, PAGE_MIN};

/// Most pages one run asks for: 100 000 items.
const PAGES_MAX: u32 = 1_000;

/// Which part of a list is wanted.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Most items to show; with --all, items to ask for at once
    #[arg(long, value_name = "N", default_value_t = PAGE_DEFAULT)]
    #[arg(value_parser = clap::value_parser!(u32).range(i64::from(PAGE_MIN)..=i64::from(PAGE_MAX)))]
    limit: u32,

    /// Show only what came before this item of the list
    #[arg(long, value_name = "ID")]
    before: Option<Uuid>,

    /// Show all pages
    #[arg(long)]
    all: bool,

    /// Show instants in place of ages in the table
    #[arg(long)]
    pub(crate) exact_times: bool,
}

impl Wanted {
    /// Asks for one page, or for all of them from there on.
    pub(crate) fn gather<T: DeserializeOwned>(
        self,
        client: &Client,
        path: &str,
        status: Option<&str>,
    ) -> Result<Page<T>, Failure> {
        let filter = status.map(|status| format!("&status={status}")).unwrap_or_default();
        let mut gathered = Page { items: Vec::new(), next_before: None };
        let mut before = self.before;
        for _ in 0..PAGES_MAX {
            let cursor = before.map(|before| format!("&before={before}")).unwrap_or_default();
            let page: Page<T> =
                client.get(&format!("{path}?limit={}{cursor}{filter}", self.limit))?;
            let is_empty = page.items.is_empty();
            gathered.items.extend(page.items);
            gathered.next_before = page.next_before;
            let Some(next) = gathered.next_before.as_deref().filter(|_| self.all) else { break };
            let next: Uuid = next.parse().map_err(|why| Failure::malformed("nextBefore", why))?;
            if is_empty || before == Some(next) {
                return Err(Failure::malformed("nextBefore", "it does not lead on"));
            }
            before = Some(next);
        }
        Ok(gathered)
    }

    /// Tells a person the command for the next page, when there is one.
    pub(crate) fn tell_next<T>(self, page: &Page<T>, command: Again, output: Output) {
        let (Format::Table, Some(before)) = (output.format(), &page.next_before) else { return };
        let limit = (self.limit != PAGE_DEFAULT).then(|| self.limit.to_string());
        let again = command.with_some("--limit", limit.as_deref()).with("--before", before);
        let mut line = again.into_line();
        if self.all {
            line.push_str(" --all");
        }
        if self.exact_times {
            line.push_str(" --exact-times");
        }
        output.remark("next page", &line);
    }
}
