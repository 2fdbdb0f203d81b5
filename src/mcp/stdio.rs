//! The protocol over lines, for a client that starts the server as its own process.
//!
//! A message a line, in and out, and nothing else. Every request is answered, bad input too; the end of the input is the
//! end.
//!
//! There are no headers, so the first message decides for good which era is spoken. `server/discover` decides nothing:
//! a client may ask it and then begin a session.
//!
//! See `docs/decisions/55-mcp-stdio.md`.

use std::io::{self, BufRead, Read as _, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::mcp::era::{self, Era, EraClaim, Header, Kind, Meta};
use crate::mcp::legacy::Limits;
use crate::mcp::rpc::{Code, Error, Incoming, Message};
use crate::mcp::stream::Channel;
use crate::mcp::{Answer, Caller, Context, Reply, Server, Status};
use crate::runtime::mutex::lock;

/// Longest line, in bytes.
const LINE_BYTES_MAX: usize = 4 << 20;

/// Limits of the one session that a client has here. It lasts as long as the process: a client could not begin another.
pub const LIMITS: Limits = Limits { max: 1, per_subject_max: 1, idle: Duration::MAX };

/// Where messages go.
pub type Output = Arc<Mutex<dyn Write + Send>>;

/// Serves one client until its input ends.
///
/// # Errors
/// When the input cannot be read, or the output takes nothing any more.
pub fn serve(server: &Server, mut input: impl BufRead, output: Output) -> io::Result<()> {
    let mut client = Client { server, caller: Caller::local(), era: None, session: None, output };
    let mut line = Vec::new();
    loop {
        line.clear();
        // One byte more than a line may have, for its line feed.
        let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX) + 1;
        let read = input.by_ref().take(limit).read_until(b'\n', &mut line)?;
        if read == 0 {
            // Ends what waits for a client that has gone with its input.
            server.stop();
            return Ok(());
        }
        if line.len() > LINE_BYTES_MAX && line.last() != Some(&b'\n') {
            // What is left of the line is not kept in memory.
            input.skip_until(b'\n')?;
            let message = "the line is too long; 4 MiB are allowed";
            client.write(&Error::new(Code::InvalidRequest, message).to_message())?;
        } else if !line.trim_ascii().is_empty() {
            client.take(line.trim_ascii())?;
        }
    }
}

/// The one client.
struct Client<'s> {
    server: &'s Server,
    caller: Caller,
    /// The era of its first message.
    era: Option<Era>,
    session: Option<String>,
    output: Output,
}

impl Client<'_> {
    fn take(&mut self, json: &[u8]) -> io::Result<()> {
        let (answer, is_silent) = match self.server.classify(json, None) {
            Ok((era, incoming)) => {
                let is_silent = !is_request(&incoming);
                let decided = self.decide(era, &incoming);
                let answer = decided.map_or_else(Some, |era| self.answer(era, incoming));
                (answer, is_silent)
            }
            Err(rejected) => (Some(rejected.answer), rejected.is_silent),
        };
        let Some(answer) = answer else { return Ok(()) };
        if let Some(session) = answer.session {
            self.session = Some(session);
        }
        // What is no request is never answered.
        answer.message.filter(|_| !is_silent).map_or(Ok(()), |message| self.write(&message))
    }

    /// Holds a message to the era of the first one, and returns that.
    fn decide(&mut self, era: Era, incoming: &Incoming<'_>) -> Result<Era, Answer> {
        let request =
            if let Incoming::One(Message::Request(it)) = incoming { Some(it) } else { None };
        if request.is_some_and(|request| request.method == "server/discover") {
            return Ok(era);
        }
        let Some(decided) = self.era else {
            // Any other legacy message is refused for lack of a session, so it decides nothing.
            if request.is_some_and(|it| era == Era::Modern || it.method == "initialize") {
                self.era = Some(era);
            }
            return Ok(era);
        };
        let claim = EraClaim::of(incoming, None);
        // A notification needs no envelope to be of the modern era.
        if decided == era || (claim.kind == Kind::Notification && claim.meta == Meta::Absent) {
            return Ok(decided);
        }
        let message =
            "this process supports only the era of its first message; start another process";
        let is_modern = decided == Era::Modern;
        let code = if is_modern { Code::UnsupportedVersion } else { Code::InvalidParams };
        let error = era::reject(code, message, claim.requested(), is_modern).error;
        let id = request.map(|request| request.id.clone());
        Err(Answer::error(Status::BadRequest, &Error { id, ..error }))
    }

    /// Answers a message; `None` when that is done through a channel.
    fn answer(&self, era: Era, incoming: Incoming<'_>) -> Option<Answer> {
        let session = self.session.as_deref().map_or(Header::Absent, Header::Is);
        let context = Context { caller: &self.caller, session, headers: None };
        match self.server.answer(era, incoming, context) {
            Reply::Ready(answer) => Some(answer),
            Reply::Blocking(run) => Some(run()),
            Reply::Open(begin) | Reply::Late(begin) | Reply::Stream(begin) => {
                begin(Box::new(Lines(Arc::clone(&self.output))));
                None
            }
        }
    }

    fn write(&self, message: &str) -> io::Result<()> {
        write(&self.output, message)
    }
}

/// Says whether an answer is expected: to a request, or to what may have been one.
fn is_request(incoming: &Incoming<'_>) -> bool {
    let is_one = |message: &Message<'_>| matches!(message, Message::Request(_));
    match incoming {
        Incoming::One(message) => is_one(message),
        Incoming::Batch(batch) => batch.iter().any(|it| it.as_ref().map_or(true, is_one)),
    }
}

fn write(output: &Output, message: &str) -> io::Result<()> {
    let mut output = lock(output);
    output.write_all(format!("{message}\n").as_bytes())?;
    output.flush()
}

/// Messages of one request, each a line.
struct Lines(Output);

impl Channel for Lines {
    fn send(&self, message: &str, _event_id: Option<&str>) -> bool {
        // An empty message says that a stream can be resumed, and lines cannot.
        message.is_empty() || write(&self.0, message).is_ok()
    }

    fn finish(self: Box<Self>, _status: Status, message: &str, event_id: Option<&str>) -> bool {
        self.send(message, event_id)
    }

    fn is_closed(&self) -> bool {
        // There is one client, and when it goes the input ends.
        false
    }
}

#[cfg(test)]
mod tests;
