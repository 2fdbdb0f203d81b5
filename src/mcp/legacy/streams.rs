//! The streams of one session, and which of them are kept for a client that comes back.

use crate::mcp::revision::Legacy;
use crate::mcp::rpc::Id;
use crate::mcp::stream::{KEPT_BYTES_MAX, Stream};

/// Most streams of requests at once, those included that a client may come back to.
const STREAMS_MAX: usize = 8;

#[derive(Default)]
pub(super) struct Streams {
    next_name: u32,
    /// Of requests, by their ids, which a client may repeat; the newest last.
    pub(super) of_requests: Vec<(Id, Stream)>,
    /// Of the session itself.
    pub(super) standalone: Option<Stream>,
}

impl Streams {
    /// Returns the name of the next stream, where a client may come back to it.
    pub(super) fn name(&mut self, revision: Legacy) -> Option<u32> {
        self.next_name = self.next_name.wrapping_add(1);
        revision.has_resumption().then_some(self.next_name)
    }

    /// Makes room for one more stream of a request; returns whether there is some. Streams go that are over, and first
    /// those whose last message is on its way: clients that never come back would otherwise use up their session.
    pub(super) fn make_room(&mut self) -> bool {
        self.forget_finished();
        if self.of_requests.len() < STREAMS_MAX {
            return true;
        }
        let first =
            |which: fn(&Stream) -> bool| self.of_requests.iter().position(|(_, it)| which(it));
        let oldest = first(Stream::is_done).or_else(|| first(Stream::is_over));
        oldest.is_some_and(|at| {
            self.of_requests.remove(at);
            true
        })
    }

    /// Forgets streams that are done, except for the newest. Their connection may have broken with the last message on
    /// its way, which nothing tells. Together they keep no more bytes than one stream may.
    pub(super) fn forget_finished(&mut self) {
        let mut rest = KEPT_BYTES_MAX;
        let mut is_kept = |stream: &Stream| {
            let bytes = stream.kept_bytes();
            if !stream.is_done() {
                return true;
            }
            // Without kept messages there is nothing to come back for.
            let fits = (1..=rest).contains(&bytes);
            rest -= if fits { bytes } else { 0 };
            fits
        };
        // From the newest to the oldest.
        self.of_requests.reverse();
        self.of_requests.retain(|(_, stream)| is_kept(stream));
        self.of_requests.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::Status;
    use crate::mcp::stream::Channel;

    /// A client that takes everything.
    struct Open;

    impl Channel for Open {
        fn send(&self, _message: &str, _event_id: Option<&str>) -> bool {
            true
        }

        fn finish(
            self: Box<Self>,
            _status: Status,
            _message: &str,
            _event_id: Option<&str>,
        ) -> bool {
            true
        }

        fn is_closed(&self) -> bool {
            false
        }
    }

    /// Begins a stream for each of these requests, and finishes it with a message of so many bytes.
    fn finished(revision: Legacy, messages: &[usize]) -> Streams {
        let mut streams = Streams::default();
        for (id, bytes) in (0_u64..).zip(messages) {
            assert!(streams.make_room());
            let stream = Stream::new(Box::new(Open), streams.name(revision));
            streams.of_requests.push((Id::number(id), stream.clone()));
            stream.finish("x".repeat(*bytes));
        }
        streams.forget_finished();
        streams
    }

    fn ids(streams: &Streams) -> Vec<&str> {
        streams.of_requests.iter().map(|(id, _)| id.as_json()).collect()
    }

    #[test]
    fn the_newest_are_kept_as_far_as_their_bytes_go() {
        let half = KEPT_BYTES_MAX / 2;
        for (messages, kept) in [
            (&[1, 2, 3][..], &["0", "1", "2"][..]),
            (&[half, half], &["0", "1"]),
            (&[half, half, 1], &["1", "2"]),
            (&[half, half + 1], &["1"]),
            (&[1, KEPT_BYTES_MAX], &["1"]),
            (&[KEPT_BYTES_MAX, 1], &["1"]),
            // Too long to be kept at all.
            (&[1, KEPT_BYTES_MAX + 1], &["0"]),
        ] {
            assert_eq!(ids(&finished(Legacy::V2025_11_25, messages)), kept, "{messages:?}");
            assert_eq!(ids(&finished(Legacy::V2025_06_18, messages)), [""; 0], "{messages:?}");
        }
    }

    #[test]
    fn streams_that_are_kept_make_room_for_those_under_way() {
        let mut streams = finished(Legacy::V2025_11_25, &[1; STREAMS_MAX + 2]);
        assert_eq!(ids(&streams), ["2", "3", "4", "5", "6", "7", "8", "9"]);
        for id in 100..100 + STREAMS_MAX {
            assert!(streams.make_room());
            let name = streams.name(Legacy::V2025_11_25);
            let stream = Stream::new(Box::new(Open), name);
            streams.of_requests.push((Id::number(u64::try_from(id).unwrap()), stream));
        }
        assert_eq!(ids(&streams), ["100", "101", "102", "103", "104", "105", "106", "107"]);
        assert!(!streams.make_room(), "all of them are under way");
        // The last message of this one had no client to go to.
        streams.of_requests[3].1.detach();
        streams.of_requests[3].1.finish("x".to_owned());
        streams.of_requests[5].1.finish("x".to_owned());
        assert!(streams.make_room());
        assert_eq!(ids(&streams), ["100", "101", "102", "103", "104", "106", "107"]);
        streams.of_requests.push((Id::number(108), Stream::new(Box::new(Open), Some(1_000))));
        assert!(streams.make_room());
        assert_eq!(ids(&streams), ["100", "101", "102", "104", "106", "107", "108"]);
    }
}
