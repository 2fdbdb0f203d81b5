//! Lays out text for people: rows and the width of a terminal in, lines out.
//!
//! A list says once which columns it has. From that come the table of the most important columns that fit, the table of all
//! columns, and, where no table fits, a record for each row. Only free text is ever shortened, and then visibly; everything
//! else, ids above all, is there to be copied. Why: `docs/decisions/125-terminals.md`.

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use super::escape::escape;
use super::meaning;
use super::time::Times;

/// Columns of a terminal below which a table is printed only if all of it fits.
const TABLE_WIDTH_MIN: usize = 60;
/// Columns of a shortened text.
const FREE_WIDTH_MIN: usize = 12;
/// What is between two columns.
const GAP: &str = "  ";
/// What begins the further lines of a field whose name does not stand in a column of its own.
const INDENT: &str = "  ";
/// The sign for what is not known.
pub(super) const UNKNOWN: &str = "-";

/// What text is laid out for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// Columns of a line; `None` is as many as are needed.
    pub(crate) width: Option<usize>,
    /// Everything is shown, and whole.
    pub(crate) is_wide: bool,
    pub(crate) is_colored: bool,
}

/// What may be done with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Its words stay whole.
    Whole,
    /// The same; and its colour is its meaning.
    State,
    /// Written by people for people: it may be shortened.
    Free,
}

/// A column of a list.
#[derive(Debug)]
pub(crate) struct Column<R> {
    head: Head,
    value: fn(&R, Times) -> String,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    name: &'static str,
    rank: u8,
    kind: Kind,
}

impl<R> Column<R> {
    /// Returns a column whose cells stay whole. Those of rank 0 are in every table; the others by rising rank, as far as
    /// they fit.
    pub(crate) const fn new(rank: u8, name: &'static str, value: fn(&R, Times) -> String) -> Self {
        Self { head: Head { name, rank, kind: Kind::Whole }, value }
    }

    /// Returns a column of states, which have colours.
    pub(crate) const fn state(
        rank: u8,
        name: &'static str,
        value: fn(&R, Times) -> String,
    ) -> Self {
        Self { head: Head { name, rank, kind: Kind::State }, value }
    }

    /// Returns a column of free text, which may be shortened.
    pub(crate) const fn free(rank: u8, name: &'static str, value: fn(&R, Times) -> String) -> Self {
        Self { head: Head { name, rank, kind: Kind::Free }, value }
    }
}

/// The rows of a list as text.
#[derive(Debug)]
pub(crate) struct Rows {
    heads: Vec<Head>,
    rows: Vec<Vec<String>>,
}

impl Rows {
    pub(crate) fn new<'a, R: 'a>(
        columns: &[Column<R>],
        rows: impl IntoIterator<Item = &'a R>,
        times: Times,
    ) -> Self {
        let cells =
            |row| columns.iter().map(|column| escape(&(column.value)(row, times))).collect();
        Self {
            heads: columns.iter().map(|column| column.head).collect(),
            rows: rows.into_iter().map(cells).collect(),
        }
    }

    /// Puts a column in front that every table has.
    pub(crate) fn prepend(&mut self, name: &'static str, values: impl Iterator<Item = String>) {
        self.heads.insert(0, Head { name, rank: 0, kind: Kind::Whole });
        for (row, value) in self.rows.iter_mut().zip(values) {
            row.insert(0, escape(&value));
        }
    }

    /// Returns a table, or records where no table fits.
    pub(crate) fn text(&self, view: View) -> String {
        match self.fit(view) {
            Some(widths) => self.table(&widths, view),
            None => self.records(view),
        }
    }

    /// Returns the width of each column that a table has; `None` if what it must have does not fit.
    fn fit(&self, view: View) -> Option<Vec<Option<usize>>> {
        let whole: Vec<usize> = (0..self.heads.len()).map(|place| self.width(place)).collect();
        let Some(width) = view.width else { return Some(whole.into_iter().map(Some).collect()) };
        let must_all = view.is_wide || width < TABLE_WIDTH_MIN;
        let mut columns: Vec<(&Head, usize, Option<usize>)> =
            self.heads.iter().zip(whole).map(|(head, whole)| (head, whole, None)).collect();
        let mut by_rank: Vec<_> = columns.iter_mut().collect();
        by_rank.sort_by_key(|(head, ..)| head.rank);
        let mut room = width + GAP.len();
        for (head, whole, shown) in &mut by_rank {
            let is_cut = head.kind == Kind::Free && !must_all;
            let least = if is_cut { (*whole).min(FREE_WIDTH_MIN) } else { *whole };
            match room.checked_sub(least + GAP.len()) {
                Some(left) => (room, *shown) = (left, Some(least)),
                None if must_all || head.rank == 0 => return None,
                None => {}
            }
        }
        // What is left is for the texts that were shortened.
        for (_, whole, shown) in by_rank {
            if let Some(shown) = shown {
                let more = (*whole - *shown).min(room);
                (room, *shown) = (room - more, *shown + more);
            }
        }
        Some(columns.into_iter().map(|(_, _, shown)| shown).collect())
    }

    fn width(&self, place: usize) -> usize {
        let head = self.heads.get(place).map_or(0, |head| head.name.width());
        let cells = self.rows.iter().filter_map(|row| row.get(place));
        cells.map(|cell| cell.width()).fold(head, usize::max)
    }

    fn table(&self, widths: &[Option<usize>], view: View) -> String {
        let names = self.heads.iter().map(|head| (Style::new(), head.name));
        let mut text = line(names.collect(), widths);
        for row in &self.rows {
            let cells = self.heads.iter().zip(row);
            let cells = cells.map(|(head, cell)| (head.kind.style(cell, view), cell.as_str()));
            text.push_str(&line(cells.collect(), widths));
        }
        text
    }

    /// What is not known is left out of a record, unless everything is to be shown.
    fn records(&self, view: View) -> String {
        let record = |row: &Vec<String>| {
            let cells = self.heads.iter().zip(row);
            let known = cells.filter(|(_, cell)| view.is_wide || *cell != UNKNOWN);
            let fields: Vec<Field> = known
                .map(|(head, cell)| (head.name.to_lowercase(), head.kind, cell.clone()))
                .collect();
            lines_of(&fields, view)
        };
        self.rows.iter().map(record).collect::<Vec<_>>().join("\n")
    }
}

impl Kind {
    fn style(self, text: &str, view: View) -> Style {
        if view.is_colored && self == Self::State { meaning::style(text) } else { Style::new() }
    }
}

/// Returns a line of a table.
fn line(cells: Vec<(Style, &str)>, widths: &[Option<usize>]) -> String {
    let mut line = String::new();
    for ((style, cell), width) in cells.into_iter().zip(widths) {
        let Some(width) = width else { continue };
        let cell = shortened(cell, *width);
        let blanks = " ".repeat(width.saturating_sub(cell.width()));
        line.extend([&painted(&cell, style), &blanks, GAP]);
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

fn painted(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// Name and value of what is known of one thing.
type Field = (String, Kind, String);

/// Returns what is known of one thing: names in a column if the values beside them have room, else each before its value.
pub(crate) fn fields(fields: Vec<(&str, String)>, view: View) -> String {
    let field = |(name, value): (&str, String)| (name.to_owned(), Kind::State, escape(&value));
    lines_of(&fields.into_iter().map(field).collect::<Vec<_>>(), view)
}

fn lines_of(fields: &[Field], view: View) -> String {
    let column = fields.iter().map(|(name, ..)| name.width()).max().unwrap_or_default() + GAP.len();
    let width = view.width.unwrap_or(usize::MAX);
    let fits = |(_, kind, value): &Field| {
        *kind == Kind::Free || value.split(' ').all(|word| column + word.width() <= width)
    };
    let is_column = width >= TABLE_WIDTH_MIN && fields.iter().all(fits);
    let mut text = String::new();
    for (name, kind, value) in fields {
        let style = kind.style(value, view);
        let (lead, indent) = match is_column {
            true => (format!("{name}{}", " ".repeat(column - name.width())), column),
            false => (format!("{name}: "), INDENT.len()),
        };
        let room = width.saturating_sub(indent);
        let mut lines = wrapped(value, width.saturating_sub(lead.width()), room, *kind).into_iter();
        let first = lead + &painted(&lines.next().unwrap_or_default(), style);
        text.extend([first.trim_end(), "\n"]);
        for line in lines {
            // What is too long for the indent stands at the edge, so that it can be copied whole.
            let indent = if line.width() > room { 0 } else { indent };
            text.extend([&" ".repeat(indent), &painted(&line, style), "\n"]);
        }
    }
    text
}

/// Returns the text in lines of `first` and then of `room` columns; a word that has no room is a line of its own.
fn wrapped(text: &str, first: usize, room: usize, kind: Kind) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut space) = (String::new(), first);
    for mut word in text.split(' ') {
        while line.width() + usize::from(!line.is_empty()) + word.width() > space {
            if line.is_empty() && space >= room {
                let part = if kind == Kind::Free { prefix(word, room) } else { word };
                let part = if part.is_empty() { word } else { part };
                word = word.strip_prefix(part).unwrap_or_default();
                line.push_str(part);
            }
            lines.push(std::mem::take(&mut line));
            space = room;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if lines.is_empty() || !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Returns the text, or as much of it as fits before a sign that something is missing.
fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    format!("{}…", prefix(text, width.saturating_sub(1)).trim_end())
}

/// Returns the longest beginning of so many columns, with the marks that belong to its last character.
fn prefix(text: &str, width: usize) -> &str {
    let ends = text.char_indices().map(|(start, char)| start + char.len_utf8());
    let beginnings = ends.filter_map(|end| text.get(..end));
    beginnings.take_while(|beginning| beginning.width() <= width).last().unwrap_or_default()
}

#[cfg(test)]
mod tests;
