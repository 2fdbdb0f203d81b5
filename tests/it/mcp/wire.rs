//! An answer that is a stream of events, read as it comes.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::daemon::PATIENCE;
use crate::daemon::ask::Ask;

/// Comments before an event that is waited for. They keep a stream alive, so that no read would time out.
const COMMENTS_MAX: usize = 2;

/// An open stream. Dropped, its client has gone.
pub(crate) struct EventStream {
    reader: BufReader<TcpStream>,
    pub(super) status: u16,
    head: String,
    /// What was read of the next event.
    buffer: String,
}

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) retry: Option<String>,
    pub(super) data: Option<String>,
}

impl Event {
    /// Returns the message in it.
    pub(super) fn message(&self) -> Value {
        serde_json::from_str(self.data.as_deref().unwrap()).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// Says whether it is there only so that a client may come back to it.
    pub(super) fn is_priming(&self) -> bool {
        self.id.is_some() && self.data.as_deref() == Some("")
    }
}

impl EventStream {
    /// Sends a request and reads the head of its answer.
    pub(super) fn open(address: SocketAddr, ask: &Ask) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&ask.to_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { reader, status, head: head.to_ascii_lowercase(), buffer: String::new() }
    }

    /// Returns a header, empty when there is none.
    pub(super) fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// Returns the next event, a comment with no field among them; nothing after the last.
    pub(super) fn next_of_any_kind(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let field = |name: &str| {
                    let mut lines = event.lines().filter_map(|line| line.split_once(':'));
                    let found = lines.find(|(known, _)| *known == name);
                    found.map(|(_, value)| value.strip_prefix(' ').unwrap_or(value).to_owned())
                };
                let event = Event { id: field("id"), retry: field("retry"), data: field("data") };
                self.buffer = rest.to_owned();
                return Some(event);
            }
            let chunk = self.chunk()?;
            self.buffer.push_str(&chunk);
        }
    }

    /// Returns the next event with data; nothing after the last.
    pub(super) fn next(&mut self) -> Option<Event> {
        for _ in 0..=COMMENTS_MAX {
            let event = self.next_of_any_kind()?;
            if event.data.is_some() {
                return Some(event);
            }
        }
        panic!("neither an event nor the end came: {self:?}")
    }

    /// Returns the next message, past events that have none.
    pub(crate) fn message(&mut self) -> Value {
        loop {
            let event = self.next().expect("one more message");
            if !event.is_priming() {
                return event.message();
            }
        }
    }

    /// Returns all events with data that are still to come.
    pub(super) fn events(mut self) -> impl Iterator<Item = Event> {
        std::iter::from_fn(move || self.next())
    }

    /// Returns all messages that are still to come.
    pub(super) fn rest(self) -> Vec<Value> {
        self.events().filter(|event| !event.is_priming()).map(|event| event.message()).collect()
    }

    /// Returns the next chunk of the body; nothing after the last.
    fn chunk(&mut self) -> Option<String> {
        let mut size = String::new();
        self.reader.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim_end(), 16).ok().filter(|size| *size > 0)?;
        let mut chunk = vec![0; size + 2];
        self.reader.read_exact(&mut chunk).unwrap();
        chunk.truncate(size);
        Some(String::from_utf8(chunk).unwrap())
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)
    }
}
