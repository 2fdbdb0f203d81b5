//! Lists: the options they share, how to go on, and the command of those that go by ids.

use std::fmt::Display;
use std::str::FromStr;

use uuid::Uuid;

use crate::api::{Filter as _, ListRow, PageBody};
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Format, Output, ago};
use crate::cli::{Global, installations};
use crate::domain::id::InstallationId;
use crate::domain::page::{PAGE_DEFAULT, PAGE_MAX, PAGE_MIN};
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// Most pages one run asks for: 100 000 items.
const PAGES_MAX: u32 = 1_000;

/// How much of a list is wanted, and how it is shown.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Paging {
    /// Maximum number of items to show; with --all, number of items per request
    #[arg(long, value_name = "N", default_value_t = PAGE_DEFAULT)]
    #[arg(value_parser = clap::value_parser!(u32).range(i64::from(PAGE_MIN)..=i64::from(PAGE_MAX)))]
    pub(crate) limit: u32,

    /// Show all pages
    #[arg(long)]
    pub(crate) all: bool,

    /// Show timestamps instead of ages in the table
    #[arg(long)]
    pub(crate) exact_times: bool,
}

impl Paging {
    /// Returns how long ago an instant was, or the instant itself, as the table shall show it.
    pub(crate) fn age(self, now: Timestamp, at: Timestamp) -> String {
        if self.exact_times { at.to_string() } else { ago(now, at) }
    }

    /// Tells a person the command for the next page: the one that was given, and where to go on.
    pub(crate) fn tell_next(
        self,
        command: NextCommand,
        option: &str,
        cursor: &str,
        output: Output,
    ) {
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

/// Names an item of a list.
pub(crate) trait Cursor:
    Copy + PartialEq + Display + FromStr<Err: Display> + Send + Sync + 'static
{
}

impl Cursor for Uuid {}
impl Cursor for i64 {}

/// Which part is wanted of a list that goes by ids, or by numbers.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Part<C: Cursor = Uuid> {
    #[command(flatten)]
    paging: Paging,

    /// Show only items that are older than the item with this ID
    #[arg(long, value_name = "ID", value_parser = cursor::<C>)]
    before: Option<C>,
}

fn cursor<C: Cursor>(text: &str) -> Result<C, String> {
    text.parse().map_err(|why: C::Err| why.to_string())
}

/// A list of an installation, as its command shows it.
pub(crate) trait Table: ListRow {
    /// The command, without its options.
    const COMMAND: &'static str;
    /// What is said of an empty list.
    const NOTHING: &'static str;
    /// The columns; those of no fixed width stand last.
    const HEADER: &'static [&'static str];

    /// Returns the columns of this row.
    fn columns(&self, now: Timestamp, paging: Paging) -> Vec<String>;
}

/// Runs the command of a list of an installation, as [`show_at`].
pub(crate) fn show<R: Table>(
    part: Part,
    filter: &R::Filter,
    global: &Global,
    output: Output,
) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let path = path::<R>(installations::meant(&client, global)?);
    let page = part.gather(&client, &path, filter)?;
    if page.items.is_empty() {
        installations::ensure_known(&client, global)?;
    }
    print::<R, Uuid>(&page, (part, filter), global, output)
}

/// Runs the command of a list: asks for the part that is wanted, prints it, and says how to go on.
pub(crate) fn show_at<R: Table, C: Cursor>(
    client: &Client,
    path: &str,
    (part, filter): (Part<C>, &R::Filter),
    global: &Global,
    output: Output,
) -> Result<Exit, Error> {
    let page = part.gather(client, path, filter)?;
    print::<R, C>(&page, (part, filter), global, output)
}

fn print<R: Table, C: Cursor>(
    page: &PageBody<R>,
    (part, filter): (Part<C>, &R::Filter),
    global: &Global,
    output: Output,
) -> Result<Exit, Error> {
    match output.format() {
        Format::Json => output.json(page)?,
        Format::Ndjson => output.lines(&page.items)?,
        Format::Table if page.items.is_empty() => output.remark("note", R::NOTHING),
        Format::Table => {
            let now = SystemClock::new().now();
            let rows = page.items.iter().map(|row| row.columns(now, part.paging));
            output.table(R::HEADER, rows.collect())?;
        }
    }
    if let (Format::Table, Some(before)) = (output.format(), &page.next_before) {
        let next_command = filter
            .parameters()
            .into_iter()
            .fold(NextCommand::new(R::COMMAND, global), |next_command, (name, value)| {
                next_command.with(&format!("--{name}"), &value)
            });
        part.paging.tell_next(next_command, "--before", before, output);
    }
    Ok(Exit::Done)
}

impl<C: Cursor> Part<C> {
    /// Asks for one page, or for all of them from there on.
    fn gather<R: ListRow>(
        self,
        client: &Client,
        path: &str,
        filter: &R::Filter,
    ) -> Result<PageBody<R>, Failure> {
        let mut gathered = PageBody { items: Vec::new(), next_before: None };
        let mut before = self.before;
        for _ in 0..PAGES_MAX {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair("limit", &self.paging.limit.to_string());
            if let Some(before) = before {
                query.append_pair("before", &before.to_string());
            }
            query.extend_pairs(filter.parameters());
            let page: PageBody<R> = client.get(&format!("{path}?{}", query.finish()))?;
            let is_empty = page.items.is_empty();
            gathered.items.extend(page.items);
            gathered.next_before = page.next_before;
            let Some(next) = gathered.next_before.as_deref().filter(|_| self.paging.all) else {
                break;
            };
            let next = cursor::<C>(next).map_err(|why| Failure::malformed("nextBefore", why))?;
            // Only a cursor that stays the same is detected here; `PAGES_MAX` ends every other circle.
            if is_empty || before == Some(next) {
                return Err(Failure::malformed("nextBefore", "the cursor does not advance"));
            }
            before = Some(next);
        }
        Ok(gathered)
    }
}

/// Returns the path of a list of an installation.
pub(crate) fn path<R: ListRow>(installation: InstallationId) -> String {
    format!("/api/v1/operator/installations/{installation}/{}", R::LIST)
}
