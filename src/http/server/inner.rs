//! `tiny_http` behind the guard: a request that comes out of it, and an answer in its words.

use std::io::{self, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tiny_http::{HTTPVersion, Header, Request, Server};

use super::framing;
use crate::http::message::{Body, Refusal, Response, Service};

/// Starts `tiny_http` on a socket.
pub(super) fn listen(path: &Path) -> io::Result<Arc<Server>> {
    let server = Server::from_listener(UnixListener::bind(path)?, None);
    server.map(Arc::new).map_err(io::Error::other)
}

/// Answers one request, if one comes in time.
pub(super) fn answer_one(server: &Server, service: &dyn Service, timeout: Duration) {
    if let Ok(Some(request)) = server.recv_timeout(timeout) {
        // An error means that the guard waits no more.
        drop(answer(service, request));
    }
}

fn answer(service: &dyn Service, mut request: Request) -> io::Result<()> {
    // The guard has bounded it and sent all of it.
    let mut body = vec![0; request.body_length().unwrap_or_default()];
    if !body.is_empty() {
        request.as_reader().read_exact(&mut body)?;
    }
    let lines = request.headers().iter();
    let lines = lines.map(|line| (line.field.as_str().as_str(), line.value.as_bytes()));
    let head = framing::head(request.method().as_str(), request.url(), lines);
    let response = match head.map(|head| service.admit(head)) {
        Some(Ok(it)) if body.len() <= it.body_max() => super::answer(service, it, body),
        Some(Ok(_)) => service.refuse(Refusal::PayloadTooLarge),
        Some(Err(refusal)) => *refusal,
        None => service.refuse(Refusal::BadRequest),
    };
    let answer = written(&response, *request.method() == tiny_http::Method::Head)?;
    let mut writer = request.into_writer();
    writer.write_all(&answer)?;
    writer.flush()
}

/// Returns the bytes of an answer, without its body for a `HEAD`. `tiny_http` writes only the head,
/// and is told nothing of the request, whose version it would repeat and whose `TE` it would obey.
pub(super) fn written(response: &Response, is_head: bool) -> io::Result<Vec<u8>> {
    let Body::Whole(body) = &response.body;
    let mut head = tiny_http::Response::empty(response.status.as_u16())
        .with_data(io::empty(), Some(body.len()))
        .with_chunked_threshold(usize::MAX);
    for (name, value) in &response.headers {
        match Header::from_bytes(name.as_str(), value.as_bytes()) {
            Ok(header) => head.add_header(header),
            Err(()) => {
                log::error!(event = "http.header_dropped", header = name.as_str(); "a header of an answer is not ASCII");
            }
        }
    }
    let mut bytes = Vec::new();
    head.raw_print(&mut bytes, HTTPVersion(1, 1), &[], true, None)?;
    bytes.extend_from_slice(if is_head { &[] } else { body });
    Ok(bytes)
}
