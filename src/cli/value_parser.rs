//! Arguments that are one of a closed set of words.

use clap::builder::{PossibleValuesParser, TypedValueParser};

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
