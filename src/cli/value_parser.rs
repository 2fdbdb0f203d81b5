//! Arguments that several commands have: one of a closed set of words, the name of a repository.

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

/// Reads the name of a repository.
pub(crate) fn repository(text: &str) -> Result<RepositoryName, &'static str> {
    text.parse().map_err(|_| "not the name of a repository such as acme/site")
}
