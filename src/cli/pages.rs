//! Lists: the options they share, how to go on, and their commands.

mod merged;

use std::fmt::Display;
use std::str::FromStr;

use uuid::Uuid;

use crate::api::{Filter, ListRow, PageBody};
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Column, Format, Output};
use crate::cli::value_parser::between;
use crate::cli::watch::{WatchArgs, Watched};
use crate::cli::{Global, installations};
use crate::domain::id::InstallationId;
use crate::domain::page::{PAGE_DEFAULT, PAGE_MAX, PAGE_MIN};
use crate::domain::time::Timestamp;

/// Most pages one run asks for: 100 000 items.
const PAGES_MAX: u32 = 1_000;

/// How much of a list is wanted, and how it is shown.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Paging {
    /// Maximum number of items to show; with --all, number of items per request
    #[arg(long, value_name = "N", default_value_t = PAGE_DEFAULT)]
    #[arg(value_parser = between(PAGE_MIN, PAGE_MAX))]
    pub(crate) limit: u32,

    /// Show all pages
    #[arg(long, conflicts_with = "watch")]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) watch: WatchArgs,
}

impl Paging {
    /// Returns how a command that shows no list asks for its pages.
    pub(crate) const fn pages_of(limit: u32) -> Self {
        Self { limit, all: true, watch: WatchArgs::OFF }
    }

    /// Tells a person the command for the next page: the one that was given, and where to go on.
    pub(crate) fn tell_next(
        self,
        command: NextCommand,
        cursor: Option<(&str, &str)>,
        output: Output,
    ) {
        let limit = (self.limit != PAGE_DEFAULT).then(|| self.limit.to_string());
        let command = command.with_some("--limit", limit.as_deref());
        let command = match cursor {
            Some((option, cursor)) => command.with(option, cursor),
            None => command,
        };
        let mut line = command.into_line();
        if self.all {
            line.push_str(" --all");
        }
        line.push_str(output.options());
        output.remark("next page", &line);
    }
}

/// Names an item of a list.
pub(crate) trait Cursor:
    Clone + Display + FromStr<Err: Display> + Send + Sync + 'static
{
    /// The name of a value in the help.
    const VALUE_NAME: &'static str;
    /// The help of `--before`.
    const BEFORE: &'static str;
}

impl Cursor for Uuid {
    const VALUE_NAME: &'static str = "ID";
    const BEFORE: &'static str = "Select only items that are older than the item with this ID";
}

impl Cursor for i64 {
    const VALUE_NAME: &'static str = "NUMBER";
    const BEFORE: &'static str =
        "Select only events that are older than the event with this number";
}

/// Which part is wanted of a list that goes by ids, or by numbers.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Part<C: Cursor = Uuid> {
    #[command(flatten)]
    paging: Paging,

    #[arg(long, value_name = C::VALUE_NAME, help = C::BEFORE, value_parser = cursor::<C>)]
    before: Option<C>,
}

impl<C: Cursor> Part<C> {
    /// Returns this part of what a filter lets through.
    pub(crate) fn of<F>(&self, filter: F) -> Wanted<F> {
        let before = self.before.as_ref().map(C::to_string);
        Wanted { paging: self.paging, before, filter }
    }
}

fn cursor<C: Cursor>(text: &str) -> Result<C, String> {
    text.parse().map_err(|why: C::Err| why.to_string())
}

/// What is wanted of a list.
pub(crate) struct Wanted<F> {
    pub(crate) paging: Paging,
    /// Where it begins, as the service names it.
    pub(crate) before: Option<String>,
    pub(crate) filter: F,
}

/// A list of an installation, as its command shows it.
pub(crate) trait Table: ListRow + 'static {
    /// The command, without its options.
    const COMMAND: &'static str;
    /// What is said of an empty list.
    const NOTHING: &'static str;
    /// The fields that name a row.
    const ID: &'static [&'static str];
    /// The columns, in the order in which they are shown.
    const COLUMNS: &'static [Column<Self>];
}

/// A list of each installation.
pub(crate) trait Tenant: Table {
    /// Returns the instant in whose order the lists of several installations are merged: that which `since` and `until`
    /// are about.
    fn instant(&self) -> Timestamp;
}

/// Which installations are meant.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct InstallationScope {
    /// Include all installations; --installation is then ignored
    #[arg(short = 'A', long)]
    pub(crate) all_installations: bool,
}

/// Runs the command of a list of one installation or of all, as [`show_at`].
pub(crate) fn show<R: Tenant>(
    wanted: &Wanted<R::Filter>,
    scope: InstallationScope,
    global: &Global,
    output: Output,
) -> Result<Exit, Error> {
    if let Some(contradiction) = wanted.filter.contradiction() {
        return Err(Error::new(Exit::Usage, contradiction));
    }
    let client = Client::operator(global)?;
    let watch = |show: &dyn Fn(Output) -> Result<Exit, Error>| {
        wanted.paging.watch.run(Watched::List(R::ID), R::COMMAND, output, show)
    };
    if scope.all_installations {
        return watch(&|output| merged::show::<R>(&client, wanted, global, output));
    }
    let path = path::<R>(installations::meant(&client, global)?);
    watch(&|output| {
        let page = gather(&client, &path, wanted)?;
        if page.items.is_empty() {
            installations::ensure_known(&client, global)?;
        }
        print::<R>(&page, wanted, global, output)
    })
}

/// Runs the command of a list: asks for the part that is wanted, prints it, and says how to go on.
pub(crate) fn show_at<R: Table>(
    client: &Client,
    path: &str,
    wanted: &Wanted<R::Filter>,
    global: &Global,
    output: Output,
) -> Result<Exit, Error> {
    wanted.paging.watch.run(Watched::List(R::ID), R::COMMAND, output, |output| {
        print::<R>(&gather(client, path, wanted)?, wanted, global, output)
    })
}

fn print<R: Table>(
    page: &PageBody<R>,
    wanted: &Wanted<R::Filter>,
    global: &Global,
    output: Output,
) -> Result<Exit, Error> {
    match output.format() {
        Format::Json => output.json(page)?,
        Format::Ndjson => output.lines(&page.items)?,
        Format::Table if page.items.is_empty() => output.remark("note", R::NOTHING),
        Format::Table => output.table(R::COLUMNS, &page.items)?,
    }
    if let (Format::Table, Some(before)) = (output.format(), &page.next_before) {
        let command = filtered(NextCommand::new(R::COMMAND, global), &wanted.filter);
        wanted.paging.tell_next(command, Some(("--before", before)), output);
    }
    Ok(Exit::Done)
}

/// Adds the options of a filter. Ages are instants by now, so that the next page is of the same list.
pub(crate) fn filtered(command: NextCommand, filter: &impl Filter) -> NextCommand {
    filter.parameters().into_iter().fold(command, |command, (name, value)| {
        let hyphenated = name.chars().flat_map(|letter| {
            let hyphen = letter.is_ascii_uppercase().then_some('-');
            hyphen.into_iter().chain([letter.to_ascii_lowercase()])
        });
        let option = format!("--{}", hyphenated.collect::<String>());
        // Options of a choice need no value, or take it behind a sign.
        match (name, value.as_str()) {
            ("stuck" | "replaySafe" | "closed", "true") => command.word(&option),
            ("replaySafe" | "closed", "false") => command.word(&format!("{option}=false")),
            (_, value) => command.with(&option, value),
        }
    })
}

/// Asks for one page, or for all of them from there on.
fn gather<R: ListRow>(
    client: &Client,
    path: &str,
    wanted: &Wanted<R::Filter>,
) -> Result<PageBody<R>, Failure> {
    let mut gathered = PageBody { items: Vec::new(), next_before: wanted.before.clone() };
    for _ in 0..PAGES_MAX {
        let page = page::<R>(client, path, wanted, gathered.next_before.as_deref())?;
        gathered.items.extend(page.items);
        gathered.next_before = page.next_before;
        if gathered.next_before.is_none() || !wanted.paging.all {
            break;
        }
    }
    Ok(gathered)
}

/// Asks for one page.
pub(crate) fn page<R: ListRow>(
    client: &Client,
    path: &str,
    wanted: &Wanted<R::Filter>,
    before: Option<&str>,
) -> Result<PageBody<R>, Failure> {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", &wanted.paging.limit.to_string());
    query.extend_pairs(before.map(|before| ("before", before)));
    query.extend_pairs(wanted.filter.parameters());
    let page: PageBody<R> = client.get(&format!("{path}?{}", query.finish()))?;
    // Only a cursor that stays the same is detected here; `PAGES_MAX` ends every other circle.
    let is_stuck = page.next_before.as_deref().is_some_and(|next| before == Some(next));
    if is_stuck || (page.items.is_empty() && page.next_before.is_some()) {
        return Err(Failure::malformed("nextBefore", "the cursor does not advance"));
    }
    Ok(page)
}

/// Returns the path of a list of an installation.
pub(crate) fn path<R: ListRow>(installation: InstallationId) -> String {
    format!("/api/v1/operator/installations/{installation}/{}", R::LIST)
}
