//! A service that answers each connection with the next reply of a list, and keeps what it was
//! asked. When the list is used up, connections are cut.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

/// What goes over the connection before it is closed.
pub(crate) struct Reply {
    bytes: Vec<u8>,
    /// The client closes it.
    is_kept: bool,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &str) -> Self {
        let length = body.len();
        Self::raw(&format!("HTTP/1.1 {status} Canned\r\ncontent-length: {length}\r\n\r\n{body}"))
    }

    pub(crate) fn raw(text: &str) -> Self {
        Self { bytes: text.into(), is_kept: false }
    }

    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        let text = String::from_utf8(self.bytes).unwrap();
        Self::raw(&text.replacen("\r\n", &format!("\r\n{name}: {value}\r\n"), 1))
    }

    /// Returns one after which the client waits for more, until it gives up.
    pub(crate) fn kept_open(self) -> Self {
        Self { is_kept: true, ..self }
    }
}

/// The head of a request.
#[derive(Debug)]
pub(crate) struct Request(String);

impl Request {
    pub(crate) fn line(&self) -> &str {
        self.0.lines().next().unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.0.lines().skip(1).filter_map(|line| line.split_once(": "));
        fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

pub(crate) struct CannedServer {
    pub(crate) url: String,
    requests: Receiver<Request>,
}

impl CannedServer {
    pub(crate) fn unix(path: &Path, replies: Vec<Reply>) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let url = format!("unix:{}", path.display());
        Self::start(url, replies, move || listener.accept().unwrap().0)
    }

    pub(crate) fn tcp(replies: Vec<Reply>) -> Self {
        Self::tcp_with(|_| replies)
    }

    /// Starts one whose replies name its own URL.
    pub(crate) fn tcp_with(replies: impl FnOnce(&str) -> Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let replies = replies(&url);
        Self::start(url, replies, move || listener.accept().unwrap().0)
    }

    fn start<S: Read + Write>(
        url: String,
        replies: Vec<Reply>,
        accept: impl Fn() -> S + Send + 'static,
    ) -> Self {
        let (sender, requests) = channel();
        let serve_all = move || {
            let mut replies = replies.into_iter();
            while serve(&mut accept(), replies.next(), &sender).is_some() {}
        };
        svc::runtime::thread::spawn("canned", serve_all).unwrap();
        Self { url, requests }
    }

    /// Returns the next request; one must have come.
    pub(crate) fn request(&self) -> Request {
        self.requests.try_recv().unwrap()
    }

    /// Returns all requests that have come.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.try_iter().collect()
    }
}

/// Answers one connection; nothing when the test is over.
fn serve(
    stream: &mut (impl Read + Write),
    reply: Option<Reply>,
    to: &Sender<Request>,
) -> Option<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return Some(());
        }
        head.extend(byte);
    }
    let request = Request(String::from_utf8(head).ok()?);
    // A peer whose body is not read may not get to read its answer.
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    stream.read_exact(&mut vec![0; length]).ok()?;
    to.send(request).ok()?;
    if let Some(Reply { bytes, is_kept }) = reply {
        // The client may have gone away in the middle.
        drop(stream.write_all(&bytes));
        if is_kept {
            drop(stream.read(&mut byte));
        }
    }
    Some(())
}
