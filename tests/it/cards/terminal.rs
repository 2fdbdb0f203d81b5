//! `svcctl cards validate` on a terminal: what is shown of the card fits its width.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use unicode_width::UnicodeWidthStr as _;

use crate::support::pty;

const CARD: &str = "tests/data/cards/faults/long.json";

/// Returns what is printed on a terminal of so many columns.
fn on_terminal(columns: u16) -> String {
    let (terminal, end) = pty::open(columns, 24);
    let mut child = Command::new(env!("CARGO_BIN_EXE_svcctl"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1")
        .args(["cards", "validate", "--offline", CARD])
        .stdin(Stdio::null())
        .stdout(end)
        .spawn()
        .unwrap();
    let mut printed = Vec::new();
    // It ends with an error once the other end is closed.
    drop(File::from(terminal).read_to_end(&mut printed));
    assert_eq!(child.wait().unwrap().code(), Some(1));
    String::from_utf8(printed).unwrap()
}

#[test]
fn a_line_of_a_card_fits_the_terminal() {
    let card = std::fs::read_to_string(CARD).unwrap();
    for (columns, is_whole) in [(40, false), (72, false), (120, false), (400, true)] {
        let printed = on_terminal(columns);
        let shown = printed.lines().find_map(|line| line.strip_prefix("1 | ")).unwrap();
        let marker = printed.lines().find(|line| line.contains('^')).unwrap();
        assert_eq!(shown.trim_end() == card.trim_end(), is_whole, "{columns}: {printed}");
        assert!(shown.width() + 4 <= usize::from(columns), "{columns}: {printed}");
        // The marker is below the value, whose characters are wider than it is long.
        let (before, _) = shown.split_once("\"地図.example\"").unwrap();
        let indent = marker.find('^').unwrap() - "  | ".len();
        assert_eq!(indent, before.width(), "{columns}: {printed}");
        assert_eq!(marker.matches('^').count(), "\"地図.example\"".width(), "{columns}: {printed}");
    }
}
