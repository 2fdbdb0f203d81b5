//! Numbers that make a test longer than it is by default.

/// Returns a number that a campaign sets by a variable of the environment; one that is no number fails the test.
#[expect(clippy::disallowed_methods, reason = "switches of tests, not settings")]
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}

/// The same with what it is otherwise.
pub(crate) fn number_or(name: &str, default: usize) -> usize {
    number(name).map_or(default, |number| number.try_into().unwrap())
}
