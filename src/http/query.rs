//! Query strings: the parameters that a route knows, each at most once.

use crate::app;
use crate::http::error::invalid;
use crate::http::message::Request;

/// The parameters of a request.
pub(super) struct Parameters(Vec<(&'static str, String)>);

impl Parameters {
    /// Takes the value of a parameter, if it is there.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let place = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.swap_remove(place).1)
    }
}

/// Reads the query. A parameter that is not named, or repeated, is refused.
pub(super) fn parameters(
    request: &Request,
    names: &[&'static str],
) -> Result<Parameters, app::Error> {
    let mut parameters = Parameters(Vec::new());
    let query = request.head.query.as_deref().unwrap_or_default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        // Ignoring a mistyped filter would list everything.
        let Some(known) = names.iter().find(|known| **known == name) else {
            return Err(app::Error::InvalidRequest(
                format!("unknown query parameter; allowed here: {}", names.join(", ")).into(),
            ));
        };
        if parameters.0.iter().any(|(taken, _)| taken == known) {
            return Err(invalid("a query parameter is repeated"));
        }
        parameters.0.push((*known, value.into_owned()));
    }
    Ok(parameters)
}

/// Refuses any query.
pub(super) fn none(request: &Request) -> Result<(), app::Error> {
    parameters(request, &[]).map(drop)
}
