//! What the signals show: for operators by name and value, for machines as numbers. Aggregate only.

use crate::app::App;
use crate::auth::operator::Principal;
use crate::domain::slo::{Evaluator, SignalState, SignalStatus, SloReport};
use crate::metrics::{Labels, gauge, gauges};

impl App {
    /// Returns how the signals stood when they were last evaluated; nothing is known of them before
    /// the first time.
    #[must_use]
    pub fn slo(&self, _: &Principal) -> SloReport {
        self.slo.get().unwrap_or_else(|| Evaluator::default().report())
    }

    /// Writes the signals as gauges, once they were evaluated.
    pub(super) fn slo_gauges(&self, text: &mut String) {
        let Some(report) = self.slo.get() else { return };
        let labels = |status: &SignalStatus| -> Labels {
            vec![
                ("signal", status.rule.signal.as_str()),
                ("severity", status.rule.severity.as_str()),
            ]
        };
        let unit = |status: &SignalStatus| -> Labels {
            vec![("signal", status.rule.signal.as_str()), ("unit", status.rule.unit.as_str())]
        };
        let signals = || report.signals.iter();
        let active = |status: &SignalStatus| u64::from(status.state == SignalState::Firing);
        gauges(
            text,
            "svc_slo_signal_active",
            "1 while the signal fires.",
            signals().map(|status| (labels(status), active(status))),
        );
        gauges(
            text,
            "svc_slo_signal_value",
            "The signal's last value, in its unit.",
            signals().filter_map(|status| Some((unit(status), status.value?))),
        );
        gauges(
            text,
            "svc_slo_signal_threshold",
            "The first bad value of the signal, in its unit.",
            signals().map(|status| (unit(status), status.rule.threshold)),
        );
        if let Some(evaluated_at) = report.evaluated_at {
            gauge(
                text,
                "svc_slo_evaluated_timestamp_seconds",
                "When the signals were last evaluated.",
                evaluated_at.micros() / 1_000_000,
            );
        }
    }
}
