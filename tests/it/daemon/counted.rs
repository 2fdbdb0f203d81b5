//! Each answer is counted once in `svc_http_requests_total`, wherever it was made: by a handler, by the gate, by our
//! servers, or by the library that reads requests.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use super::ask::Endpoint;
use super::process::Daemon;
use super::site::Site;
use super::wait_for;

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

fn counts(daemon: &Daemon, surface: &str) -> [u64; 5] {
    // One request for all of them: on the control socket it is counted as well.
    let text = daemon.metrics();
    CLASSES.map(|class| {
        let series =
            format!("svc_http_requests_total{{surface=\"{surface}\",status=\"{class}\"}} ");
        let value = text.lines().find_map(|line| line.strip_prefix(&series));
        value.map_or(0, |value| value.parse().unwrap())
    })
}

/// Sends bytes as they are, and returns the status of the answer.
fn raw(endpoint: &Endpoint, request: &str) -> usize {
    let mut answer = String::new();
    match endpoint {
        Endpoint::Tcp(address) => {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream.read_to_string(&mut answer).unwrap();
        }
        Endpoint::Unix(path) => {
            let mut stream = UnixStream::connect(path).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream.read_to_string(&mut answer).unwrap();
        }
    }
    answer.get(9..12).and_then(|status| status.parse().ok()).expect("an answer")
}

#[test]
fn every_answer_is_counted_once() {
    let site = Site::new();
    let daemon = site.start();
    let requests = [
        "GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        // Two hosts, a transfer encoding and a body that is too large are refused by our servers.
        "GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "POST /webhooks/forge HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /webhooks/forge HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n",
        "POST /fixture/gated HTTP/1.1\r\nHost: fixture.test\r\nAuthorization: Bearer good\r\n\
         Content-Length: 1000000000\r\n\r\n",
        "GET /fixture/socket HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        // Over TCP, the library that reads requests refuses a name with a space behind it.
        "GET /health/live HTTP/1.1\r\nHost : a\r\n\r\n",
        "POST /fixture/gated HTTP/1.1\r\nHost: fixture.test\r\nAuthorization: Bearer good\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n",
    ];
    for (surface, endpoint) in [("public", &daemon.public), ("control", &daemon.control)] {
        for request in requests {
            let mut expected = counts(&daemon, surface);
            let status = raw(endpoint, request);
            expected[status / 100 - 1] += 1;
            wait_for(&format!("{request:?} over {surface}: {expected:?}"), || {
                let mut found = counts(&daemon, surface);
                // The self-check, and on the control socket asking for the counts, are answered with 2xx too.
                found[1] = found[1].min(expected[1]);
                (found == expected).then_some(())
            });
        }
    }
}
