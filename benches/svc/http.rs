//! HTTP as a client writes and reads it on a kept connection, servers to be beside, and an issuer of tokens.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::thread;

use crate::support::Folder;

/// Who issues the tokens.
pub(crate) const ISSUER: &str = "http://127.0.0.1/issuer";

/// Opens a connection that is kept.
pub(crate) fn connect(address: SocketAddr) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    BufReader::new(stream)
}

/// Reads one answer to its end; returns its head and body.
pub(crate) fn answer(stream: &mut BufReader<TcpStream>) -> (String, Vec<u8>) {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let begin = head.len();
        stream.read_line(&mut head).unwrap();
        let line = head.get(begin..).unwrap().trim_end();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}

/// Another server, in a process of its own as the daemon is. It is given a file, and says where it listens.
pub(crate) struct Rival {
    child: Child,
    pub(crate) address: SocketAddr,
    _folder: Folder,
}

impl Rival {
    /// Starts a bare server of this program by its word; what it does with the file is its own.
    pub(crate) fn bare(word: &str, file: &[u8]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        Self::spawn(command.arg(word), file)
    }

    /// Builds and starts the server of the Rust SDK, with the tools of an answer to `tools/list`. `None` when it cannot be
    /// built, and then cargo has said why.
    pub(crate) fn sdk(list: &[u8]) -> Option<Self> {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/rmcp/Cargo.toml");
        let target = concat!(env!("CARGO_TARGET_TMPDIR"), "/rmcp");
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--release", "--locked", "--manifest-path", manifest]);
        let is_built = build.args(["--target-dir", target]).status().unwrap().success();
        let program = format!("{target}/release/rmcp-server");
        is_built.then(|| Self::spawn(&mut Command::new(program), list))
    }

    fn spawn(command: &mut Command, file: &[u8]) -> Self {
        let folder = Folder::new();
        std::fs::write(folder.path("answer"), file).unwrap();
        let mut child = command.arg(folder.path("answer")).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().parse().unwrap(), _folder: folder }
    }
}

impl Rival {
    /// Returns its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Publishes a key; returns where, and what signs tokens with it: for which server, for whom, with which scopes.
pub(crate) fn issuer() -> (SocketAddr, impl Fn(&str, &str, &str) -> String) {
    let chance = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let der = EcdsaKeyPair::generate_pkcs8(algorithm, &chance).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, der.as_ref(), &chance).unwrap();
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let (x, y) = pair.public_key().as_ref().get(1..).unwrap().split_at(32);
    let keys = json!({ "keys": [{
        "kty": "EC", "crv": "P-256", "kid": "bench", "use": "sig", "alg": "ES256",
        "x": encode(x), "y": encode(y),
    }] });
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn("bench-issuer", move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut line = String::new();
            while stream.read_line(&mut line).is_ok_and(|_| !line.trim().is_empty()) {
                line.clear();
            }
            let body = keys.to_string();
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            drop(stream.get_mut().write_all((head + &body).as_bytes()));
        }
    })
    .unwrap();
    let token = move |url: &str, subject: &str, scope: &str| {
        let seconds = SystemClock::new().now().micros() / 1_000_000;
        let header = json!({ "alg": "ES256", "typ": "at+jwt", "kid": "bench" });
        let claims = json!({
            "iss": ISSUER, "aud": format!("{url}/mcp"), "sub": subject, "client_id": "bench",
            "iat": seconds, "exp": seconds + 3_600, "jti": "1", "scope": scope,
        });
        let signed = [header, claims].map(|part| encode(part.to_string().as_bytes())).join(".");
        let signature = pair.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    };
    (address, token)
}

/// Returns an unused address. The public URL is a setting, so the port must be known before the daemon starts.
pub(crate) fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}
