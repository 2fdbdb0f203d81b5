//! Arguments that several commands have: one of a closed set of words, the name of a repository.

use std::fmt::Display;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::domain::repository::RepositoryName;

/// Reads one of `all` by its word; the help names them.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(move |value| word(*value))).map(move |text| {
        let mut all = all.iter().copied();
        all.find(|value| word(*value) == text).expect("only these words pass")
    })
}

/// Reads a whole number from `min` to `max`; clap's own parser calls the range `1..=100`.
pub(crate) fn between<T>(
    min: T,
    max: T,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    move |text| {
        let number = text.parse().ok().filter(|number| (min..=max).contains(number));
        number.ok_or_else(|| format!("not a whole number from {min} to {max}"))
    }
}

/// Reads the name of a repository.
pub(crate) fn repository(text: &str) -> Result<RepositoryName, &'static str> {
    text.parse().map_err(|_| "not the name of a repository such as acme/site")
}
