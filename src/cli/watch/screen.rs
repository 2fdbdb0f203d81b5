//! A terminal on which one page is redrawn in place. Its cursor is hidden meanwhile, and shown again however the process
//! ends.

use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::low_level::{emulate_default_handler, pipe};

use crate::cli::error::Error;
use crate::cli::output::{Output, escape};
use crate::cli::poll::Edge;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::notify::Notify;
use crate::runtime::thread;

/// Signals that end or stop the process, and the one that says that the terminal has another size.
const SIGNALS: [i32; 5] = [SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH];
/// Lines of a terminal that does not know its size.
const ROWS_DEFAULT: usize = 24;
/// Clears the screen once, so that what was on it is not left between the lines.
const CLEAR: &str = "\x1b[2J";
/// Hides the cursor, cuts long lines instead of wrapping them, and goes to the first line.
const BEGIN: &str = "\x1b[?25l\x1b[?7l\x1b[H";
/// Clears the rest of a line.
const LINE: &str = "\x1b[K";
/// Clears the rest of the screen, and wraps lines again.
const END: &str = "\x1b[J\x1b[?7h";
/// Shows the cursor, below the page.
const LEAVE: &str = "\x1b[?25h\r\n";

/// The page, and what is said above it.
pub(super) struct Screen {
    output: Output,
    clock: SystemClock,
    /// Counts new sizes and continuations.
    redraw: Notify,
    title: String,
    /// Why the page is not of now.
    trouble: Option<String>,
    /// The terminal does not show this.
    is_stale: bool,
    /// `None` before the first answer.
    page: Option<String>,
}

impl Screen {
    pub(super) fn open(output: Output, command: &str, interval: Duration) -> io::Result<Self> {
        let redraw = Notify::new();
        follow_signals(output, redraw.clone())?;
        let title = format!("svcctl {command}, every {}s", interval.as_secs());
        Ok(Self {
            output,
            clock: SystemClock::new(),
            redraw,
            title,
            trouble: None,
            is_stale: false,
            page: None,
        })
    }

    /// Draws another page; says whether the terminal is still there.
    pub(super) fn show(&mut self, page: String) -> io::Result<ControlFlow<()>> {
        let clear = if self.page.is_none() { CLEAR } else { "" };
        let now = self.clock.now().to_string();
        let second = now.split_once('.').map_or(now.as_str(), |(second, _)| second);
        let head = format!("{}: {second}Z", self.title);
        self.page = Some(format!("{head}\n\n{page}"));
        self.trouble = None;
        self.is_stale = false;
        self.draw(clear)
    }

    fn draw(&self, clear: &str) -> io::Result<ControlFlow<()>> {
        let Some(page) = &self.page else { return Ok(ControlFlow::Continue(())) };
        let rows = self.output.rows().unwrap_or(ROWS_DEFAULT);
        let frame = frame(self.trouble.as_deref(), page, rows);
        // One write, so that no half of it is ever shown.
        self.output.part(format!("{clear}{frame}").as_bytes())
    }
}

impl Edge for Screen {
    fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    fn pause(&mut self, wait: Duration) {
        let end = self.now() + wait;
        loop {
            let seen = self.redraw.count();
            if self.is_stale {
                // A terminal that is gone is found when the next page is drawn.
                drop(self.draw(""));
            }
            self.redraw.wait(seen, end.saturating_sub(self.now()));
            if self.redraw.count() == seen {
                return;
            }
            self.is_stale = true;
        }
    }

    fn lost(&mut self, error: &Error) {
        self.trouble = Some(trouble(error));
        self.is_stale = true;
    }

    fn regained(&mut self) {}
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.page.is_some() {
            drop(self.output.part(LEAVE.as_bytes()));
        }
    }
}

/// Returns the line about a service that does not answer.
fn trouble(error: &Error) -> String {
    format!("{}; trying again", escape(&error.chain()))
}

/// Returns what redraws the whole screen, which has so many lines. The last line says how many do not fit.
fn frame(trouble: Option<&str>, page: &str, rows: usize) -> String {
    let lines: Vec<&str> = trouble.into_iter().chain(page.lines()).collect();
    let (shown, rest) = match lines.len().checked_sub(rows) {
        None | Some(0) => (lines.as_slice(), None),
        Some(more) => {
            let (shown, _) = lines.split_at(rows.saturating_sub(1));
            (shown, Some(format!("... {} more lines", more + 1)))
        }
    };
    let lines = shown.iter().copied().chain(rest.as_deref());
    let lines: Vec<String> = lines.map(|line| format!("{line}{LINE}")).collect();
    format!("{BEGIN}{}{END}", lines.join("\r\n"))
}

/// Shows the cursor before a signal ends or stops the process, at once, also while a request is under way. `redraw` is
/// notified when the page must be drawn again.
fn follow_signals(output: Output, redraw: Notify) -> io::Result<()> {
    let (mut receiver, sender) = UnixStream::pair()?;
    let came = SIGNALS.map(|signal| (signal, Arc::new(AtomicBool::new(false))));
    for (signal, flag) in &came {
        signal_hook::flag::register(*signal, Arc::clone(flag))?;
        pipe::register(*signal, sender.try_clone()?)?;
    }
    thread::spawn("signals", move || {
        while receiver.read(&mut [0; 64]).is_ok_and(|length| length > 0) {
            for (signal, flag) in &came {
                if !flag.swap(false, Ordering::Relaxed) {
                    continue;
                }
                if *signal != SIGWINCH {
                    drop(output.part(LEAVE.as_bytes()));
                    // Ends the process as if the signal had not been caught, or stops it until it is continued.
                    drop(emulate_default_handler(*signal));
                }
                redraw.notify();
            }
        }
    })
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::Exit;

    #[test]
    fn a_frame_goes_home_and_clears_what_it_does_not_write() {
        assert_eq!(
            frame(None, "a\nb\n", 24),
            "\x1b[?25l\x1b[?7l\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J\x1b[?7h"
        );
        assert!(frame(Some("lost"), "a\n", 24).contains("\x1b[Hlost\x1b[K\r\na\x1b[K"));
    }

    #[test]
    fn what_an_error_quotes_cannot_steer_the_terminal() {
        let error = Error::new(Exit::Unreachable, "cannot reach unix:/\x1b[2J\u{9b}7m");
        assert_eq!(trouble(&error), r"cannot reach unix:/\u{1b}[2J\u{9b}7m; trying again");
    }

    #[test]
    fn a_frame_never_scrolls() {
        let page: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        let lines = |trouble, rows| frame(trouble, &page, rows).matches(LINE).count();
        assert_eq!((lines(None, 24), lines(Some("lost"), 24), lines(None, 30)), (24, 24, 30));
        let frame = frame(None, &page, 24);
        assert!(frame.contains("line 23\x1b[K\r\n... 7 more lines\x1b[K"), "{frame}");
        assert_eq!(lines(None, 1), 1);
    }
}
