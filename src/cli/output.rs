//! The only place that prints. Data goes to standard output, everything else to standard error; in
//! the machine formats each line there is a JSON object. Text of the service is shown to people
//! with its control characters escaped, so that no row can command the terminal.

mod escape;
mod layout;
mod meaning;
mod time;

use std::io::{self, IsTerminal as _, Write as _};
use std::mem;
use std::ops::ControlFlow;
use std::sync::Mutex;

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

pub(crate) use escape::escape;
pub(crate) use layout::{Column, Rows, View};
pub(crate) use time::Times;

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::mutex::lock;

/// How answers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Human-readable text
    Table,
    /// One JSON document
    Json,
    /// One JSON document per line, one line per item
    Ndjson,
}

/// What may be asked for: how answers are printed, or a report for another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// Human-readable text
    #[value(name = "text", alias = "table")]
    Table,
    /// The same with all columns
    #[value(hide = true)]
    Wide,
    /// One JSON document
    Json,
    /// One JSON document per line, one line per item
    Ndjson,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for test reports
    Junit,
    /// Annotations for a GitHub workflow run
    Github,
}

impl FormatArg {
    /// Those of every command; the others are of commands that check something.
    pub(crate) const ANSWERS: [Self; 4] = [Self::Table, Self::Wide, Self::Json, Self::Ndjson];

    /// Returns how an answer is printed. Beside a report for another tool, people are told.
    const fn format(self) -> Format {
        match self {
            Self::Json => Format::Json,
            Self::Ndjson => Format::Ndjson,
            Self::Table | Self::Wide | Self::Sarif | Self::Junit | Self::Github => Format::Table,
        }
    }
}

/// Reads one of the formats every command has.
pub(crate) fn answers() -> impl TypedValueParser<Value = FormatArg> {
    let named = |wanted: &FormatArg| {
        let value = wanted.to_possible_value()?;
        let help = value.get_help().cloned().unwrap_or_default();
        let is_table = *wanted == FormatArg::Table;
        Some(if is_table { PossibleValue::new("table").help(help) } else { value.hide(false) })
    };
    PossibleValuesParser::new(FormatArg::ANSWERS.iter().filter_map(named))
        .map(|word| FormatArg::from_str(&word, false).expect("only these words pass"))
}

/// When colour is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    #[value(help = "On a terminal, unless NO_COLOR is set")]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Prints in one format.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    wanted: FormatArg,
    /// Instants are shown as they are, on a terminal too.
    is_utc: bool,
    sink: Sink,
}

/// Where data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sink {
    Stdout,
    /// Standard output holds something else, so the report goes to standard error.
    Stderr,
    /// Into [`COLLECTED`], and what is said to people too.
    Collected,
}

/// What is printed while [`Output::collect`] runs.
static COLLECTED: Mutex<Vec<u8>> = Mutex::new(Vec::new());

impl Output {
    pub(crate) fn new(wanted: FormatArg, color: Color, is_utc: bool) -> Self {
        let choice = match color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        // Whatever writes to a terminal later finds the choice there.
        choice.write_global();
        Self { wanted, is_utc, sink: Sink::Stdout }
    }

    /// Prints to standard error what otherwise goes to standard output.
    pub(crate) const fn aside(self) -> Self {
        Self { sink: Sink::Stderr, ..self }
    }

    /// Returns one for another format.
    pub(crate) const fn wanting(self, wanted: FormatArg) -> Self {
        Self { wanted, ..self }
    }

    /// Returns what a command would print; for people, also what it would say to them. What becomes of the exit code is
    /// for a run that prints.
    pub(crate) fn collect(
        self,
        run: impl FnOnce(Self) -> Result<Exit, Error>,
    ) -> Result<String, Error> {
        lock(&COLLECTED).clear();
        run(Self { sink: Sink::Collected, ..self })?;
        let collected = mem::take(&mut *lock(&COLLECTED));
        Ok(String::from_utf8(collected).expect("text and JSON are UTF-8"))
    }

    /// Says whether it prints to a terminal.
    pub(crate) fn is_terminal(self) -> bool {
        match self.sink {
            Sink::Stderr => io::stderr().is_terminal(),
            Sink::Stdout | Sink::Collected => io::stdout().is_terminal(),
        }
    }

    pub(crate) fn format(self) -> Format {
        self.wanted.format()
    }

    pub(crate) fn wanted(self) -> FormatArg {
        self.wanted
    }

    /// Says whether text may have colours.
    pub(crate) fn is_colored(self) -> bool {
        let choice = match self.sink {
            Sink::Stderr => anstream::AutoStream::choice(&io::stderr()),
            Sink::Stdout | Sink::Collected => anstream::AutoStream::choice(&io::stdout()),
        };
        choice != anstream::ColorChoice::Never
    }

    /// Returns the columns of a line: what the user says in `COLUMNS`, as for ls, ps and git, or those of the terminal;
    /// `None` where there is none. `watch` runs a command without a terminal, and says in `COLUMNS` how wide its own is.
    pub(crate) fn columns(self) -> Option<usize> {
        let is_some = |columns: &usize| *columns > 0;
        let said = variable("COLUMNS").and_then(|columns| columns.parse().ok()).filter(is_some);
        let size = || match self.sink {
            Sink::Stderr => rustix::termios::tcgetwinsize(io::stderr()),
            Sink::Stdout | Sink::Collected => rustix::termios::tcgetwinsize(io::stdout()),
        };
        // A terminal that does not know says 0.
        said.or_else(|| Some(usize::from(size().ok()?.ws_col)).filter(is_some))
    }

    /// Returns what text is laid out for.
    pub(crate) fn view(self) -> View {
        let is_wide = self.wanted == FormatArg::Wide;
        View { width: self.columns(), is_wide, is_colored: self.is_colored() }
    }

    /// Returns how instants are shown, as they are seen from now on.
    pub(crate) fn times(self) -> Times {
        let is_exact = self.is_utc || !self.is_terminal();
        Times { now: SystemClock::new().now(), is_exact }
    }

    /// Returns the options with which the next command prints as this one does.
    pub(crate) fn options(self) -> &'static str {
        match (self.is_utc, self.wanted == FormatArg::Wide) {
            (false, false) => "",
            (true, false) => " --utc",
            (false, true) => " --output wide",
            (true, true) => " --utc --output wide",
        }
    }

    /// Returns the lines of the same terminal.
    pub(crate) fn rows(self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        (size.ws_row > 0).then(|| usize::from(size.ws_row))
    }

    /// Prints text as it is. Output that is not read any more is no failure: `svcctl … | head`
    /// ends as it would have ended.
    pub(crate) fn raw(self, bytes: &[u8]) -> io::Result<()> {
        self.part(bytes).map(drop)
    }

    /// Prints a part of what may be long, as it is; says whether anybody reads on.
    pub(crate) fn part(self, bytes: &[u8]) -> io::Result<ControlFlow<()>> {
        let mut out: Box<dyn io::Write> = match self.sink {
            Sink::Stdout => Box::new(io::stdout().lock()),
            Sink::Stderr => Box::new(io::stderr()),
            Sink::Collected => {
                lock(&COLLECTED).extend_from_slice(bytes);
                return Ok(ControlFlow::Continue(()));
            }
        };
        // Flushed, because an error at the end of the process would not be reported.
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
            Err(error) => Err(error),
        }
    }

    /// Returns standard output itself, for a protocol that is spoken through it.
    pub(crate) fn stream(self) -> impl io::Write + Send {
        io::stdout()
    }

    /// Prints one document in a machine format.
    pub(crate) fn json(self, value: &impl Serialize) -> io::Result<()> {
        let mut text = match (self.format(), self.sink) {
            (Format::Ndjson, _) | (_, Sink::Collected) => serde_json::to_vec(value)?,
            (Format::Json | Format::Table, _) => serde_json::to_vec_pretty(value)?,
        };
        text.push(b'\n');
        self.raw(&text)
    }

    /// Prints one document a line.
    pub(crate) fn lines<T: Serialize>(self, items: &[T]) -> io::Result<()> {
        self.part_lines(items).map(drop)
    }

    /// Prints a part of what may be long, one document a line; says whether anybody reads on.
    pub(crate) fn part_lines<T: Serialize>(self, items: &[T]) -> io::Result<ControlFlow<()>> {
        let mut text = Vec::new();
        for item in items {
            serde_json::to_writer(&mut text, item)?;
            text.push(b'\n');
        }
        self.part(&text)
    }

    /// Prints a list for people.
    pub(crate) fn table<'a, R: 'a>(
        self,
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = &'a R>,
    ) -> io::Result<()> {
        self.list(&Rows::new(columns, rows, self.times()))
    }

    /// Prints the rows of a list for people.
    pub(crate) fn list(self, rows: &Rows) -> io::Result<()> {
        self.raw(rows.text(self.view()).as_bytes())
    }

    /// Prints what is known of one thing, for people.
    pub(crate) fn facts(self, facts: Vec<(&str, String)>) -> io::Result<()> {
        self.raw(layout::fields(facts, self.view()).as_bytes())
    }

    /// Prints what a person must be able to see before anything is done.
    pub(crate) fn announce(self, label: &str, text: &str) -> io::Result<()> {
        match self.format() {
            Format::Table => {
                let style = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
                self.say(label, style, text)
            }
            // A watch would say it again and again.
            Format::Json | Format::Ndjson if self.sink == Sink::Collected => Ok(()),
            Format::Json | Format::Ndjson => say_json(&serde_json::json!({ label: text })),
        }
    }

    /// Prints a remark. When it cannot be printed, there is no reader to tell.
    pub(crate) fn remark(self, label: &str, text: &str) {
        drop(self.announce(label, text));
    }

    /// Prints to a person what is wrong with what was shown; red when it must not wait.
    pub(crate) fn alarm(self, label: &str, urgent: bool, text: &str) {
        let color = if urgent { AnsiColor::Red } else { AnsiColor::Yellow };
        drop(self.say(label, Style::new().bold().fg_color(Some(color.into())), text));
    }

    /// Prints why a command failed, and what to do about it.
    pub fn failure(self, error: &Error) {
        match self.format() {
            Format::Table => {
                let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
                drop(self.say("error", style, &error.chain()));
                for hint in error.hints() {
                    self.remark("hint", hint);
                }
            }
            Format::Json | Format::Ndjson => drop(say_json(&error.report())),
        }
    }

    fn say(self, label: &str, style: Style, text: &str) -> io::Result<()> {
        let text = escape(text);
        if self.sink == Sink::Collected {
            let style = if self.is_colored() { style } else { Style::new() };
            return self.raw(format!("{style}{label}:{style:#} {text}\n").as_bytes());
        }
        writeln!(anstream::stderr(), "{style}{label}:{style:#} {text}")
    }
}

/// Returns what is known, or the sign for what is not.
pub(crate) fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| layout::UNKNOWN.to_owned(), |value| value.to_string())
}

fn say_json(value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    io::stderr().write_all(&text)
}

#[expect(clippy::disallowed_methods, reason = "the width of a terminal is no setting of svc")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
