//! The text format of Prometheus, version 0.0.4.

use std::fmt::Write as _;

use super::Labels;
use crate::runtime::histogram::{Buckets, Histogram};

/// Writes one gauge with its header.
pub fn gauge(text: &mut String, name: &str, help: &str, value: impl std::fmt::Display) {
    header(text, name, "gauge", help);
    sample(text, name, &[], value);
}

/// Writes a gauge of several series with its header.
pub fn gauges(
    text: &mut String,
    name: &str,
    help: &str,
    series: impl Iterator<Item = (Labels, u64)>,
) {
    header(text, name, "gauge", help);
    for (labels, value) in series {
        sample(text, name, &labels, value);
    }
}

/// Writes one counter that is kept elsewhere, with its header.
pub fn counter(text: &mut String, name: &str, help: &str, value: impl std::fmt::Display) {
    header(text, name, "counter", help);
    sample(text, name, &[], value);
}

pub(super) fn header(text: &mut String, name: &str, kind: &str, help: &str) {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("a string takes any text");
}

pub(super) fn sample(
    text: &mut String,
    name: &str,
    labels: &[(&'static str, &'static str)],
    value: impl std::fmt::Display,
) {
    // No escaping: names and values are constants of the program.
    let labels: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    let labels =
        if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    writeln!(text, "{name}{labels} {value}").expect("a string takes any text");
}

/// Writes a histogram with its header.
pub fn histogram(text: &mut String, name: &'static str, help: &str, histogram: &Histogram) {
    header(text, name, "histogram", help);
    let Buckets { up_to, count, sum } = histogram.buckets();
    let bucket = format!("{name}_bucket");
    for (bound, count) in up_to {
        sample(text, &bucket, &[("le", bound)], count);
    }
    sample(text, &bucket, &[("le", "+Inf")], count);
    sample(text, &format!("{name}_sum"), &[], sum.as_secs_f64());
    sample(text, &format!("{name}_count"), &[], count);
}
