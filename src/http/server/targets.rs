//! The targets of requests as they were sent. hyper drops the fragment of a target, and no request shows that there was
//! one; so what it reads is read here once more, as far as the first line of each request.
//!
//! See `docs/decisions/97-hosts-and-targets.md`.

use std::sync::Mutex;

use crate::runtime::mutex::lock;

/// What hyper has read of requests that are still to be taken.
#[derive(Debug, Default)]
pub(super) struct Targets(Mutex<Option<Unread>>);

impl Targets {
    /// Returns the targets of a new connection.
    pub(super) fn new() -> Self {
        Self(Mutex::new(Some(Unread::default())))
    }

    /// Notes bytes that hyper has read.
    pub(super) fn note(&self, bytes: &[u8]) {
        if let Some(unread) = &mut *lock(&self.0) {
            unread.note(bytes);
        }
    }

    /// Takes the next request, whose body has so many bytes; returns whether its target has a fragment. hyper passes a
    /// request on before it reads anything more.
    pub(super) fn take_has_fragment(&self, body_len: usize) -> bool {
        lock(&self.0).as_mut().is_some_and(|unread| unread.take_has_fragment(body_len))
    }

    /// Notes that no further request comes: what is read from now on is the other protocol's.
    pub(super) fn end(&self) {
        *lock(&self.0) = None;
    }
}

#[derive(Debug, Default)]
struct Unread {
    /// Of heads, and of what was read together with them. hyper reads no further ahead than its own buffer goes.
    bytes: Vec<u8>,
    /// How many bytes of the body of the request that was taken are still to come.
    body_len: usize,
}

impl Unread {
    fn note(&mut self, bytes: &[u8]) {
        let of_body = self.body_len.min(bytes.len());
        self.body_len -= of_body;
        self.bytes.extend(bytes.iter().skip(of_body));
    }

    fn take_has_fragment(&mut self, body_len: usize) -> bool {
        // Like httparse: empty lines may come first, and a line feed ends a line, with or without a carriage return.
        let empty = self.bytes.iter().take_while(|byte| b"\r\n".contains(byte)).count();
        let mut bytes = self.bytes.split_off(empty);
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        // A method may have one, too.
        let mut target = first.iter().skip_while(|byte| **byte != b' ');
        let has_fragment = target.any(|byte| *byte == b'#');
        let mut head_len = first.len();
        for line in lines {
            head_len += line.len();
            if matches!(line, b"\n" | b"\r\n") {
                break;
            }
        }
        let rest = bytes.split_off(head_len);
        (self.bytes, self.body_len) = (Vec::new(), body_len);
        self.note(&rest);
        has_fragment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_is_looked_at_whatever_its_bytes_come_with() {
        let plain = "\r\n\nG#T /?%23 HTTP/1.1\r\nHost: a#b\r\nContent-Length: 9\r\n\r\n";
        let body = "GET /#x\r\n";
        let hash = "GET /#x HTTP/1.1\nHost: a\n\n";
        let all = [plain, body, hash, plain, body].concat();
        // hyper passes a request on as soon as it has read its head.
        for size in 1..=all.len() {
            let targets = Targets::new();
            let ends = [
                (plain.len(), 9, false),
                (plain.len() + 9 + hash.len(), 0, true),
                (all.len() - 9, 9, false),
            ];
            let (mut read, mut ends) = (0, ends.into_iter().peekable());
            for chunk in all.as_bytes().chunks(size) {
                targets.note(chunk);
                read += chunk.len();
                while let Some((_, body_len, expected)) = ends.next_if(|(end, ..)| *end <= read) {
                    assert_eq!(targets.take_has_fragment(body_len), expected, "{size}");
                }
            }
            assert!(ends.next().is_none());
        }
    }

    #[test]
    fn nothing_is_kept_of_another_protocol() {
        let targets = Targets::new();
        targets.note(b"GET / HTTP/1.1\r\n\r\n");
        targets.end();
        targets.note(b"GET /# HTTP/1.1\r\n\r\n");
        assert!(!targets.take_has_fragment(0) && lock(&targets.0).is_none());
    }
}
