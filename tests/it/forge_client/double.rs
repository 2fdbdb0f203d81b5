//! A server without manners: it answers with whatever bytes it is told to, and keeps the requests.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use svc::forge::Permission;
use svc::runtime::mutex::lock;
use svc::runtime::notify::Notify;

use super::TIMEOUT;

/// What the double does with a connection after it has read the request.
#[derive(Clone)]
pub(super) enum Script {
    /// Sends these bytes, and keeps the connection until the other side closes it.
    Keep(Vec<u8>),
    /// Sends these bytes and closes.
    Close(Vec<u8>),
    /// Answers nothing, and resets the connection.
    Reset,
    /// Sends a head, and then one byte of the body every 20 ms.
    Drip,
}

/// A server without manners. Connections beyond the script are closed unanswered.
pub(super) struct Double {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    stop: Notify,
    thread: Option<JoinHandle<()>>,
}

impl Double {
    pub(super) fn start(script: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the system has a port");
        let address = listener.local_addr().expect("a listener has an address");
        let (requests, stop) = (Arc::new(Mutex::new(Vec::new())), Notify::new());
        let (kept, stopped) = (Arc::clone(&requests), stop.clone());
        let thread = svc::runtime::thread::spawn("double", move || {
            let mut script = script.into_iter().peekable();
            for stream in listener.incoming().map_while(Result::ok) {
                if stopped.is_stopped() {
                    return;
                }
                // What is not read when a connection ends makes the system reset it.
                let whole = !matches!(script.peek(), Some(Script::Reset));
                let Some((stream, request)) = read_request(stream, whole) else { continue };
                lock(&kept).push(request);
                play(script.next(), stream, &stopped);
            }
        });
        Self { address, requests, stop, thread: thread.ok() }
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn requests(&self) -> Vec<String> {
        lock(&self.requests).clone()
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        self.stop.stop();
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the double does not panic");
        }
    }
}

/// Returns the request as text once its head and its announced body are there, or its first line is.
fn read_request(mut stream: TcpStream, whole: bool) -> Option<(TcpStream, String)> {
    stream.set_read_timeout(Some(TIMEOUT * 2)).ok()?;
    let (mut text, mut byte) = (String::new(), [0]);
    let length = |head: &str| {
        let (_, rest) = head.split_once("content-length: ")?;
        rest.lines().next()?.parse::<usize>().ok()
    };
    loop {
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && body.len() >= length(head).unwrap_or(0)
        {
            return Some((stream, text));
        }
        if !whole && text.ends_with("\r\n") {
            return Some((stream, text));
        }
        stream.read_exact(&mut byte).ok()?;
        text.push(char::from(byte[0]));
    }
}

fn play(script: Option<Script>, mut stream: TcpStream, stop: &Notify) {
    match script {
        None | Some(Script::Reset) => {}
        Some(Script::Close(bytes)) => stream.write_all(&bytes).unwrap_or(()),
        Some(Script::Keep(bytes)) => {
            stream.write_all(&bytes).unwrap_or(());
            // Returns when the client closes, or the read times out.
            drop(stream.read(&mut [0; 16]));
        }
        Some(Script::Drip) => {
            let head = b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n";
            let mut alive = stream.write_all(head).is_ok();
            while alive && stop.pause(Duration::from_millis(20)) {
                alive = stream.write_all(b" ").is_ok();
            }
        }
    }
}

pub(super) fn http(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// A token with exactly one permission, and the one the forge adds.
pub(super) fn minted_for(permission: Permission) -> Script {
    let granted = match permission {
        Permission::ActionsRead => r#""actions":"read""#,
        Permission::ActionsWrite => r#""actions":"write""#,
        Permission::ChecksWrite => r#""checks":"write""#,
    };
    let body = format!(
        r#"{{"token":"ghs_1.a-b_c","permissions":{{{granted},"metadata":"read"}},
            "repository_selection":"selected"}}"#
    );
    Script::Close(http(201, "", &body))
}
