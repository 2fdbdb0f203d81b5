//! What states mean to an operator, as colours. They are never all that says it: the word stands there too.

use anstyle::{AnsiColor, Style};

/// Returns the style of a state; most have none. Words behind a comma or a colon explain it.
pub(super) fn style(state: &str) -> Style {
    let word = state.split([',', ':']).next().unwrap_or_default();
    match word {
        "succeeded" | "success" | "completed" | "replayed" | "active" | "connected" | "healthy"
        | "ready" | "yes" => color(AnsiColor::Green),
        "cancelled" | "degraded" | "invalid" | "pending" | "suspended" | "unknown" | "warning" => {
            color(AnsiColor::Yellow)
        }
        "critical" | "dead_letter" | "dead_lettered" | "deleted" | "failed" | "failure"
        | "firing" | "no" | "not ready" | "rejected" | "revoked" | "timed_out" => {
            color(AnsiColor::Red).bold()
        }
        _ => Style::new(),
    }
}

fn color(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(color.into()))
}
