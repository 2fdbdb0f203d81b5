//! A forge that answers at once: it checks nothing, and tells each caller what it wants to hear.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use svc::runtime::thread;

/// Threads that answer, each one connection at a time.
const THREADS: usize = 2;

pub(crate) struct PromptForge {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    last_number: AtomicI64,
    /// By number: what each check run was created with.
    check_runs: Mutex<HashMap<String, Value>>,
    is_over: AtomicBool,
}

impl PromptForge {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let forge =
            Self { address: listener.local_addr().unwrap(), state: Arc::<State>::default() };
        for number in 0..THREADS {
            let (listener, state) = (listener.try_clone().unwrap(), Arc::clone(&forge.state));
            thread::spawn(&format!("forge-{number}"), move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    if state.is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    serve(&state, stream);
                }
            })
            .unwrap();
        }
        forge
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for PromptForge {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        (0..THREADS).for_each(|_| drop(TcpStream::connect(self.address)));
    }
}

fn serve(state: &State, stream: TcpStream) {
    let mut stream = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let begin = head.len();
        if stream.read_line(&mut head).unwrap() == 0 {
            return;
        }
        let line = head.get(begin..).unwrap().trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    let path = head.split(' ').nth(1).unwrap();
    let (status, answer) = answer(state, path, serde_json::from_slice(&body).unwrap());
    let answer = answer.to_string();
    let length = answer.len();
    let head =
        format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.get_mut().write_all((head + &answer).as_bytes()).unwrap();
}

fn answer(state: &State, path: &str, body: Value) -> (u16, Value) {
    let number = || state.last_number.fetch_add(1, Ordering::Relaxed) + 1;
    let given = |name: &str| body.get(name).cloned().unwrap_or_default();
    let (place, last) = path.rsplit_once('/').unwrap();
    match last {
        "access_tokens" => {
            let minted = json!({
                "token": format!("ghs_{}_{}", number(), "simulated.to-ken_".repeat(30)),
                "expires_at": "2099-01-01T00:00:00Z",
                "permissions": given("permissions"),
                "repository_selection": "selected",
            });
            (201, minted)
        }
        "dispatches" => {
            let (number, repository) = (number(), place.split("/actions/").next().unwrap());
            let url = format!("http://forge{repository}/actions/runs/{number}");
            (200, json!({"workflow_run_id": number, "run_url": url}))
        }
        "check-runs" => {
            let number = number();
            let made = json!({
                "id": number,
                "name": given("name"),
                "head_sha": given("head_sha"),
                "external_id": given("external_id"),
                "status": given("status"),
            });
            state.check_runs.lock().unwrap().insert(number.to_string(), made.clone());
            (201, made)
        }
        // An update of the check run of this number.
        number => {
            let mut shown = state.check_runs.lock().unwrap().remove(number).unwrap();
            shown.as_object_mut().unwrap().insert("status".to_owned(), given("status"));
            (200, shown)
        }
    }
}
