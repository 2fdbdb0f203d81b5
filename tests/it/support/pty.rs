//! A terminal: a real one for the program, and for the test what is on its screen.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use svc::runtime::mutex::lock;
use svc::runtime::thread;

/// Opens a terminal; returns the test's end, and the program's.
pub(crate) fn open(columns: u16, rows: u16) -> (OwnedFd, OwnedFd) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let end = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    resize(&end, columns, rows);
    (terminal, end)
}

pub(crate) fn resize(end: &OwnedFd, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(end, size).unwrap();
}

/// Runs a program that prints to a terminal of so many columns. Returns what it printed, and its exit code.
pub(crate) fn run(command: &mut Command, columns: u16) -> (String, i32) {
    let (terminal, end) = open(columns, 24);
    let mut child = command.stdout(end).spawn().unwrap();
    // The command holds the other end, which must be closed for the reading to end.
    command.stdout(Stdio::null());
    let mut printed = Vec::new();
    // It ends with an error once the other end is closed.
    drop(File::from(terminal).read_to_end(&mut printed));
    let code = child.wait().unwrap().code().unwrap();
    (String::from_utf8(printed).unwrap().replace("\r\n", "\n"), code)
}

/// What is on the screen of a terminal, as far as a program that redraws it in place needs one.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    pub(crate) lines: Vec<String>,
    pub(crate) is_cursor_hidden: bool,
    pub(crate) is_cutting: bool,
    /// How often the whole screen was cleared.
    pub(crate) clears: u32,
    /// How often it was drawn from its first line on.
    pub(crate) frames: u32,
    row: usize,
    /// Of an escape sequence that has not ended.
    escape: Option<String>,
}

impl Screen {
    /// Follows what is written to a terminal until it is closed.
    pub(crate) fn follow(terminal: OwnedFd) -> Arc<Mutex<Self>> {
        let screen = Arc::new(Mutex::new(Self {
            lines: vec![String::new()],
            is_cursor_hidden: false,
            is_cutting: false,
            clears: 0,
            frames: 0,
            row: 0,
            escape: None,
        }));
        let followed = Arc::clone(&screen);
        let mut file = File::from(terminal);
        let follow = move || {
            let mut rest = Vec::new();
            let mut bytes = [0; 4_096];
            // It ends with an error once the other end is closed.
            while let Ok(length @ 1..) = file.read(&mut bytes) {
                rest.extend_from_slice(&bytes[..length]);
                let whole = rest.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
                let text = String::from_utf8(rest.drain(..whole).collect()).unwrap();
                let mut screen = lock(&followed);
                text.chars().for_each(|char| screen.write(char));
            }
        };
        drop(thread::spawn("pty", follow).unwrap());
        screen
    }

    /// Returns the lines as a text.
    pub(crate) fn text(&self) -> String {
        self.lines.join("\n")
    }

    fn write(&mut self, char: char) {
        match (self.escape.take(), char) {
            (None, '\x1b') => self.escape = Some(String::new()),
            (None, '\r') => {}
            (None, '\n') => {
                self.row += 1;
                if self.row == self.lines.len() {
                    self.lines.push(String::new());
                }
            }
            (None, char) => self.lines[self.row].push(char),
            (Some(sequence), char) if char.is_ascii_alphabetic() => {
                self.obey(&format!("{sequence}{char}"));
            }
            (Some(sequence), char) => self.escape = Some(format!("{sequence}{char}")),
        }
    }

    /// A line is written whole and then cleared to its end, so a frame may begin with empty lines here.
    fn obey(&mut self, sequence: &str) {
        match sequence {
            "[H" => {
                (self.row, self.lines) = (0, vec![String::new()]);
                self.frames += 1;
            }
            "[2J" => self.clears += 1,
            "[K" | "[J" => {}
            "[?25l" => self.is_cursor_hidden = true,
            "[?25h" => self.is_cursor_hidden = false,
            "[?7l" => self.is_cutting = true,
            "[?7h" => self.is_cutting = false,
            style => assert!(style.ends_with('m'), "an unknown sequence: {style:?}"),
        }
    }
}
