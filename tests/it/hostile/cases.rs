//! What is sent, and what may come back.

use crate::daemon::TOKEN;

/// The three endpoints, in the order of a case's expectations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surface {
    Public,
    Operator,
    Control,
}

/// Bytes, and the answers they may get.
///
/// The bytes are a template: `{GET}` and `{KEEP}` are the first lines of a good request, the one
/// with `Connection: close`; `{POST}` are those of a request with a body; `{HIDDEN}` is a whole
/// request that no peer may see. An expectation lists alternatives, `200 400|200`: a status for each
/// answer in order, `-` for a connection closed without one, and `A` for what an accepted `{POST}`
/// gets (refused for another reason than its bytes).
pub(super) struct Case {
    pub(super) name: String,
    template: Vec<u8>,
    expected: [String; 3],
    /// Whether the peer says that it has no more to send. Without it an unfinished request is a
    /// slow peer.
    pub(super) ends: bool,
    /// Whether the answers have no body.
    pub(super) head: bool,
}

impl Case {
    /// Expectations for TCP and for the control socket.
    pub(super) fn new(
        name: impl Into<String>,
        template: impl Into<Vec<u8>>,
        tcp: &str,
        control: &str,
    ) -> Self {
        let expected = [tcp.to_owned(), tcp.to_owned(), control.to_owned()];
        Self { name: name.into(), template: template.into(), expected, ends: false, head: false }
    }

    /// The same expectation everywhere.
    pub(super) fn same(
        name: impl Into<String>,
        template: impl Into<Vec<u8>>,
        expected: &str,
    ) -> Self {
        Self::new(name, template, expected, expected)
    }

    /// Another expectation for the operator's TCP address.
    pub(super) fn operator(mut self, expected: &str) -> Self {
        self.expected[1] = expected.to_owned();
        self
    }

    /// The peer ends its side after the last byte.
    pub(super) fn ended(mut self) -> Self {
        self.ends = true;
        self
    }

    /// Answers have no body.
    pub(super) fn headless(mut self) -> Self {
        self.head = true;
        self
    }

    /// The bytes for a surface.
    pub(super) fn bytes(&self, surface: Surface) -> Vec<u8> {
        let post = match surface {
            Surface::Public => "POST /webhooks/forge HTTP/1.1\r\nHost: localhost\r\n".to_owned(),
            Surface::Operator | Surface::Control => format!(
                "POST /api/v1/operator/installations/4711/dead-letters/job/\
                 0199f3a0-0000-7000-8000-00000000000a/replay HTTP/1.1\r\nHost: localhost\r\n\
                 Authorization: Bearer {TOKEN}\r\nIdempotency-Key: hostile\r\n"
            ),
        };
        let keep = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n";
        let close = "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        let hidden = "GET /health/live HTTP/1.1\r\nHost: localhost\r\nX-Hidden: m4rk\r\n\r\n";
        [("{GET}", close), ("{KEEP}", keep), ("{POST}", post.as_str()), ("{HIDDEN}", hidden)]
            .into_iter()
            .fold(self.template.clone(), |bytes, (from, to)| replace(&bytes, from, to))
    }

    /// The lists of statuses that may come back.
    pub(super) fn expected(&self, surface: Surface) -> Vec<Vec<u16>> {
        let accepted = if surface == Surface::Public { "401" } else { "404" };
        let place = match surface {
            Surface::Public => 0,
            Surface::Operator => 1,
            Surface::Control => 2,
        };
        let status = |word: &str| word.replace('A', accepted).parse().unwrap();
        self.expected[place]
            .split('|')
            .map(|list| list.split_whitespace().filter(|word| *word != "-").map(status).collect())
            .collect()
    }
}

fn replace(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut rest = bytes;
    let mut whole = Vec::new();
    while let Some(at) = rest.windows(from.len()).position(|window| window == from.as_bytes()) {
        whole.extend_from_slice(&rest[..at]);
        whole.extend_from_slice(to.as_bytes());
        rest = &rest[at + from.len()..];
    }
    whole.extend_from_slice(rest);
    whole
}

/// A request without a body and with some more header lines.
pub(super) fn get(lines: impl AsRef<[u8]>) -> Vec<u8> {
    [b"{GET}", lines.as_ref(), b"\r\n\r\n"].concat()
}

/// A request with a body and with some more header lines.
pub(super) fn post(lines: impl AsRef<[u8]>, body: impl AsRef<[u8]>) -> Vec<u8> {
    [b"{POST}", lines.as_ref(), b"\r\n\r\n", body.as_ref()].concat()
}
