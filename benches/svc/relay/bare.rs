//! What the relay is measured beside: WebSockets that only send back, and commits that only commit.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::TokioIo;
use rusqlite::{Connection, params};
use svc::crypto::sha1::web_socket_accept;
use svc::demo::plugin::socket::{Heard, Opening, Socket};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::http::Rival;
use crate::raw::{Raw, execute};
use crate::support::{Folder, Run, callers, drive, open_raw};

/// Of a frame that is sent back, as long as `propose` with one step.
const FRAME_BYTES: usize = 400;
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends back what each WebSocket says, on one thread: hyper, tungstenite, and nothing else.
pub(crate) fn echo() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", listener.local_addr().unwrap());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let service =
                hyper::service::service_fn(async |request| Ok::<_, hyper::Error>(upgrade(request)));
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades();
            drop(tokio::spawn(connection));
        }
    });
}

fn upgrade(request: http::Request<Incoming>) -> http::Response<Empty<Bytes>> {
    let key = request.headers().get("sec-websocket-key").unwrap().to_str().unwrap().to_owned();
    tokio::spawn(async move {
        let upgraded = TokioIo::new(hyper::upgrade::on(request).await.unwrap());
        let config = WebSocketConfig::default().read_buffer_size(4 << 10).write_buffer_size(0);
        let mut stream =
            WebSocketStream::from_raw_socket(upgraded, Role::Server, Some(config)).await;
        while let Some(Ok(message)) = stream.next().await {
            if message.is_text() && stream.send(message).await.is_err() {
                return;
            }
        }
    });
    let answer = http::Response::builder()
        .status(101)
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Accept", web_socket_accept(&key));
    answer.body(Empty::new()).unwrap()
}

/// The server above in a process of its own.
pub(crate) struct Echo(pub(crate) Rival);

impl Echo {
    pub(super) fn start() -> Self {
        Self(Rival::bare("web-socket", b""))
    }

    /// Opens a socket.
    pub(super) fn open(&self) -> Socket {
        let opening = Opening { protocol: None, ..Opening::local(self.0.address) };
        Socket::open(&opening).unwrap()
    }

    /// Has so many sockets send and hear frames.
    pub(super) fn run(&self, sockets: usize, frames: usize) -> Run {
        let text = "x".repeat(FRAME_BYTES);
        let send = |socket: &mut Socket, _| {
            socket.send(&text);
            assert!(matches!(socket.read(PATIENCE), Heard::Text(_)));
        };
        drive(sockets, frames, || self.open(), send)
    }
}

/// Three commits an invocation, each of a few lines: one row of a table, written three times.
pub(super) struct Commits {
    grouped: Raw,
    alone: Mutex<Connection>,
    _folder: Folder,
}

impl Commits {
    pub(super) fn open() -> Self {
        let folder = Folder::new();
        let alone = Mutex::new(open(&folder.path("alone.db")));
        drop(open(&folder.path("grouped.db")));
        let grouped = Raw::open(&folder.path("grouped.db"));
        Self { grouped, alone, _folder: folder }
    }

    /// One after the other in a loop, without regard to other callers.
    pub(super) fn alone(&self, invocations: usize) -> Run {
        callers(1, invocations, |_| {
            let connection = self.alone.lock().unwrap();
            let mut row = 0;
            for step in STEPS {
                execute(&connection, "BEGIN IMMEDIATE", []);
                row = step(&connection, row);
                execute(&connection, "COMMIT", []);
            }
        })
    }

    /// Of so many callers at once, whose commits are made together.
    pub(super) fn grouped(&self, sessions: usize, invocations: usize) -> Run {
        callers(sessions, invocations, |_| {
            let mut row = 0;
            for step in STEPS {
                row = self.grouped.call(move |connection, _| step(connection, row));
            }
        })
    }
}

/// One step of an invocation; takes and returns its row.
type Step = fn(&Connection, i64) -> i64;

const STEPS: [Step; 3] = [
    |connection, _| {
        let arguments = "x".repeat(200);
        let sql = "INSERT INTO bare (state, arguments) VALUES ('proposed', ?1)";
        execute(connection, sql, params![arguments]);
        connection.last_insert_rowid()
    },
    |connection, row| {
        execute(connection, "UPDATE bare SET state = 'running' WHERE id = ?1", params![row]);
        row
    },
    |connection, row| {
        let sql = "UPDATE bare SET state = 'succeeded', arguments = NULL WHERE id = ?1";
        execute(connection, sql, params![row]);
        row
    },
];

/// Opens a file as the store does, with the one table.
fn open(path: &Path) -> Connection {
    let connection = open_raw(path);
    let table = "PRAGMA secure_delete = ON; PRAGMA cell_size_check = ON; \
        CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY, state TEXT NOT NULL, arguments TEXT) STRICT";
    connection.execute_batch(table).unwrap();
    connection
}
