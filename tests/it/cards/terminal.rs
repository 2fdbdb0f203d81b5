//! `svcctl cards validate` on a terminal: what is shown of the card fits its width.

use std::process::{Command, Stdio};

use unicode_width::UnicodeWidthStr as _;

use crate::support::pty;

const CARD: &str = "tests/data/cards/faults/long.json";

/// Returns what is printed on a terminal of so many columns.
fn on_terminal(columns: u16) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("COLUMNS")
        .env("NO_COLOR", "1")
        .args(["cards", "validate", "--offline", CARD])
        .stdin(Stdio::null());
    let (printed, code) = pty::run(&mut command, columns);
    assert_eq!(code, 1);
    printed
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
