//! The simulated issuer of workflow runs' identity tokens: a key, the document it is published in, and
//! the address a job asks for a token of its own.

use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey};
use ring::signature::{RsaKeyPair, RsaPublicKeyComponents};
use serde_json::{Value, json};

use super::OWNER;
use super::message::{Reply, Request, read};
use super::server::READ_TIMEOUT;
use super::{BASE_PATH, WorkflowRun, key};
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::mutex::lock;
use crate::runtime::notify::Notify;

/// Where tokens come from, below the base path.
const ISSUER_PATH: &str = "/_services/token";
/// Id of the one key.
const KEY_ID: &str = "simulated-key";
/// What a job asks for its token with: the run's number follows.
const REQUEST_TOKEN: &str = "request-token-of-run-";
/// Seconds a token holds.
const LIFETIME: i64 = 300;
const SECOND: i64 = 1_000_000;

/// What a token says of a run, beside its audience and times.
#[derive(Clone, Debug)]
pub struct RunClaims(pub Value);

impl RunClaims {
    /// Returns the claims of a dispatched run, on the commit its tag names.
    #[must_use]
    pub fn of(run: &WorkflowRun, repository_name: &str, sha: &str) -> Self {
        let is_branch = run.git_ref.starts_with(super::runs::BRANCHES);
        let git_ref =
            if is_branch { run.git_ref.clone() } else { format!("refs/tags/{}", run.git_ref) };
        let workflow = &run.workflow;
        Self(json!({
            "sub": format!("repo:{repository_name}:ref:{git_ref}"),
            "repository": repository_name,
            "repository_id": run.repository.to_string(),
            "repository_owner": repository_name.split('/').next(),
            "repository_owner_id": OWNER.to_string(),
            "run_id": run.id.to_string(),
            "run_number": "1",
            "run_attempt": "1",
            "event_name": "workflow_dispatch",
            "workflow_ref": format!("{repository_name}/.github/workflows/{workflow}@{git_ref}"),
            "ref": git_ref,
            "ref_type": "tag",
            "sha": sha,
        }))
    }

    /// Returns them with one claim replaced.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Some(claims) = self.0.as_object_mut() {
            claims.insert(name.to_owned(), value.into());
        }
        self
    }
}

#[derive(Default)]
struct State {
    runs: Vec<(String, RunClaims)>,
    down: bool,
    key_requests: usize,
    minted: u64,
}

/// A running issuer. Stops when dropped.
pub struct Issuer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    stop: Notify,
    thread: Option<JoinHandle<()>>,
}

impl Issuer {
    /// Starts an issuer on a free port of this machine.
    ///
    /// # Errors
    /// When the system gives no port or no thread.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (state, stop) = (Arc::<Mutex<State>>::default(), Notify::new());
        let (shared, stopped) = (Arc::clone(&state), stop.clone());
        let thread = crate::runtime::thread::spawn("issuer", move || {
            for stream in listener.incoming() {
                if stopped.is_stopped() {
                    return;
                }
                // A caller that went away is one of the things simulated.
                stream.and_then(|stream| answer(stream, address, &shared)).unwrap_or(());
            }
        })?;
        Ok(Self { address, state, stop, thread: Some(thread) })
    }

    /// Returns its name, as tokens have it.
    #[must_use]
    pub fn url(&self) -> String {
        url(self.address)
    }

    /// Lets the job of a run ask for tokens; returns the address and the token to ask with.
    pub fn admit(&self, run: i64, claims: RunClaims) -> (String, String) {
        let bearer = format!("{REQUEST_TOKEN}{run}");
        self.state().runs.push((bearer.clone(), claims));
        (format!("{}/mint?api-version=2", self.url()), bearer)
    }

    /// Returns a token of a run for an audience, made now.
    #[must_use]
    pub fn mint(&self, claims: &RunClaims, audience: &str) -> String {
        mint(&self.url(), &mut self.state(), claims, audience)
    }

    /// Signs any header and claims with its key.
    #[must_use]
    pub fn sign(header: &Value, claims: &Value) -> String {
        sign_text(&header.to_string(), &claims.to_string(), key::THROWAWAY_PRIVATE_KEY)
    }

    /// Signs any two texts with a key in PEM.
    #[must_use]
    pub fn sign_with(private_key_pem: &str, header: &str, claims: &str) -> String {
        sign_text(header, claims, private_key_pem)
    }

    /// Returns the header of its tokens.
    #[must_use]
    pub fn header() -> Value {
        json!({"typ": "JWT", "alg": "RS256", "x5t": "c2ltdWxhdGVk", "kid": KEY_ID})
    }

    /// Returns a document that publishes its key under these ids.
    #[must_use]
    pub fn key_document(ids: &[&str]) -> Value {
        let (modulus, exponent) = public_key();
        let key = |id: &&str| json!({"kty": "RSA", "alg": "RS256", "use": "sig", "kid": id, "n": modulus, "e": exponent});
        json!({"keys": ids.iter().map(key).collect::<Vec<_>>()})
    }

    /// Stops answering, or answers again.
    pub fn set_down(&self, down: bool) {
        self.state().down = down;
    }

    /// Returns how often it was asked for its keys.
    #[must_use]
    pub fn key_requests(&self) -> usize {
        self.state().key_requests
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.stop.stop();
        // Wakes the accept loop, which then sees the end.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}{BASE_PATH}{ISSUER_PATH}")
}

fn answer(mut stream: TcpStream, address: SocketAddr, state: &Mutex<State>) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    let request = read(&mut stream)?;
    let mut state = lock(state);
    let reply = match request.path.strip_prefix(ISSUER_PATH) {
        Some("/.well-known/jwks") => {
            state.key_requests += 1;
            if state.down {
                Reply::error(503)
            } else {
                Reply::json(200, &Issuer::key_document(&[KEY_ID]))
            }
        }
        Some("/mint") => minted(&request, address, &mut state).unwrap_or(Reply::error(401)),
        _ => Reply::error(404),
    };
    // Not held while writing, so that a caller that reads slowly keeps no other out.
    drop(state);
    stream.write_all(reply.to_http(SystemClock::new().now()).as_bytes())
}

/// Answers a job that asks for its token.
fn minted(request: &Request, address: SocketAddr, state: &mut State) -> Option<Reply> {
    let bearer = request.header("authorization").strip_prefix("Bearer ")?;
    let claims = state.runs.iter().find(|(known, _)| known == bearer)?.1.clone();
    let mut query = form_urlencoded::parse(request.query.as_bytes());
    let (_, audience) = query.find(|(name, _)| name == "audience")?;
    let token = mint(&url(address), state, &claims, &audience);
    Some(Reply::json(200, &json!({"count": 1, "value": token})))
}

fn mint(issuer: &str, state: &mut State, claims: &RunClaims, audience: &str) -> String {
    state.minted += 1;
    let now = SystemClock::new().now().micros().div_euclid(SECOND);
    let claims = claims
        .clone()
        .with("iss", issuer)
        .with("aud", audience)
        .with("jti", format!("simulated-token-{}", state.minted))
        .with("iat", now)
        .with("nbf", now - 300)
        .with("exp", now + LIFETIME);
    Issuer::sign(&Issuer::header(), &claims.0)
}

fn sign_text(header: &str, claims: &str, private_key_pem: &str) -> String {
    crate::crypto::jwt::install();
    let key = EncodingKey::from_rsa_pem(private_key_pem.as_bytes()).expect("the key is one");
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let signed = format!("{}.{}", encode(header), encode(claims));
    let signature = jsonwebtoken::crypto::sign(signed.as_bytes(), &key, Algorithm::RS256);
    format!("{signed}.{}", signature.expect("the key signs"))
}

/// Returns modulus and exponent as a document has them.
fn public_key() -> (String, String) {
    let private_key = EncodingKey::from_rsa_pem(key::THROWAWAY_PRIVATE_KEY.as_bytes());
    let private_key = private_key.expect("the key is one");
    let pair = RsaKeyPair::from_der(private_key.as_bytes()).expect("the key is one");
    let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
    (URL_SAFE_NO_PAD.encode(public.n), URL_SAFE_NO_PAD.encode(public.e))
}
