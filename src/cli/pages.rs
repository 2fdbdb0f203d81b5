//! Lists: the options they share, how to go on, and how the pages of those that go by ids are gathered.

use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::api::Page;
use crate::cli::again::Again;
use crate::cli::client::{Client, Failure};
use crate::cli::output::{Format, Output, ago};
use crate::domain::page::{PAGE_DEFAULT, PAGE_MAX, PAGE_MIN};
use crate::domain::time::Timestamp;

/// Most pages one run asks for: 100 000 items.
const PAGES_MAX: u32 = 1_000;

/// How much of a list is wanted, and how it is shown.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Paging {
    /// Most items to show; with --all, items to ask for at once
    #[arg(long, value_name = "N", default_value_t = PAGE_DEFAULT)]
    #[arg(value_parser = clap::value_parser!(u32).range(i64::from(PAGE_MIN)..=i64::from(PAGE_MAX)))]
    pub(crate) limit: u32,

    /// Show all pages
    #[arg(long)]
    pub(crate) all: bool,

    /// Show instants in place of ages in the table
    #[arg(long)]
    pub(crate) exact_times: bool,
}

impl Paging {
    /// Returns how long ago an instant was, or the instant itself, as the table shall show it.
    pub(crate) fn age(self, now: Timestamp, at: &str) -> String {
        if self.exact_times { at.to_owned() } else { ago(now, at) }
    }

    /// Tells a person the command for the next page: the one that was given, and where to go on.
    pub(crate) fn tell_next(self, command: Again, option: &str, cursor: &str, output: Output) {
        let limit = (self.limit != PAGE_DEFAULT).then(|| self.limit.to_string());
        let mut line =
            command.with_some("--limit", limit.as_deref()).with(option, cursor).into_line();
        if self.all {
            line.push_str(" --all");
        }
        if self.exact_times {
            line.push_str(" --exact-times");
        }
        output.remark("next page", &line);
    }
}

/// Which part is wanted of a list that goes by ids.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Wanted {
    #[command(flatten)]
    pub(crate) paging: Paging,

    /// Show only what came before this item of the list
    #[arg(long, value_name = "ID")]
    before: Option<Uuid>,
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
                client.get(&format!("{path}?limit={}{cursor}{filter}", self.paging.limit))?;
            let is_empty = page.items.is_empty();
            gathered.items.extend(page.items);
            gathered.next_before = page.next_before;
            let Some(next) = gathered.next_before.as_deref().filter(|_| self.paging.all) else {
                break;
            };
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
        if let (Format::Table, Some(before)) = (output.format(), &page.next_before) {
            self.paging.tell_next(command, "--before", before, output);
        }
    }
}
