//! Paths, and their variables by name.

use std::str::FromStr;

use crate::app;

/// Says whether a path matches a pattern, part by part, as sent: nothing is decoded, so there is one
/// spelling of each.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    let fits = pattern
        .split('/')
        .all(|wanted| parts.next().is_some_and(|part| wanted == part || name_of(wanted).is_some()));
    fits && parts.next().is_none()
}

/// The path of a request, and the pattern of its route, which it matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'a> {
    pattern: &'static str,
    path: &'a str,
}

impl<'a> Path<'a> {
    pub(super) const fn new(pattern: &'static str, path: &'a str) -> Self {
        Self { pattern, path }
    }

    /// Reads a variable. A malformed one names nothing, so it is as absent as an unknown one.
    pub(super) fn get<T: FromStr>(&self, name: &str) -> Result<T, app::Error> {
        self.text(name).parse().map_err(|_| app::Error::NotFound)
    }

    /// Returns a variable as it was sent.
    pub(super) fn text(&self, name: &str) -> &'a str {
        let parts = self.pattern.split('/').zip(self.path.split('/'));
        let mut named = parts.filter(|(wanted, _)| name_of(wanted) == Some(name));
        // The tests ask every route, so that this is found out there.
        named.next().expect("a handler asks for names of its route's pattern").1
    }
}

/// Returns the name of a variable part of a pattern.
fn name_of(part: &str) -> Option<&str> {
    part.strip_prefix('{')?.strip_suffix('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_spelling() {
        let pattern = "/a/{x}/b";
        assert!(matches(pattern, "/a/1/b"));
        assert_eq!(Path::new(pattern, "/a/1/b").text("x"), "1");
        for other in ["/a/1/b/", "/a//1/b", "/a/1", "/A/1/b", "a/1/b", "/a/1/b/c", "/a/1%2fb"] {
            assert!(!matches(pattern, other), "{other}");
        }
    }

    #[test]
    fn a_malformed_variable_is_absent() {
        let path = Path::new("/{number}/{word}", "/12/x");
        assert_eq!(path.get::<u8>("number").unwrap(), 12);
        assert_eq!(path.get::<String>("word").unwrap(), "x");
        assert!(matches!(path.get::<u8>("word"), Err(app::Error::NotFound)));
    }
}
