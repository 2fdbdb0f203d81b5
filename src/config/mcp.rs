//! `/mcp`: whom it answers, which pages may call it, whose tokens it takes, and its bounds.
//!
//! It is local when neither its address nor its public URL can be reached from another machine. Only then may
//! it go without tokens, and only then do its own pages need no line in `SVC_MCP_ORIGINS`.
//!
//! See `docs/decisions/41-mcp-local-and-remote.md`.

use std::net::SocketAddr;
use std::time::Duration;

use crate::config::groups::public_listen;
use crate::config::protocol::{self, ProtocolConfig};
use crate::config::public_url::{
    PAGE_ORIGINS, PublicUrl, is_issuer, is_loopback, is_url, read_host, read_page_origins,
};
use crate::config::source::{SettingProblem, Source, words};
use crate::crypto::jose::Algorithm;

/// Longest audience and type of a token, in bytes.
const AUDIENCE_BYTES_MAX: usize = 1024;
const TYPE_BYTES_MAX: usize = 64;

/// `/mcp`, checked as a whole.
#[derive(Clone, Debug)]
pub struct McpConfig {
    /// The address that clients use.
    pub public_url: Option<PublicUrl>,
    /// Every `Host` header that is answered to, in lower case. A port of 0 is that which the system gives to
    /// the public address.
    pub hosts: Vec<String>,
    /// Every origin whose pages may call, in lower case, with ports as in `hosts`.
    pub origins: Vec<String>,
    /// Whose tokens are taken; `None` means that no token is asked for, which only a local one may do.
    pub authorization: Option<TokenIssuerConfig>,
    /// Requests a second of one peer.
    pub peer_rate: u32,
    /// Requests a second with tokens of one subject.
    pub subject_rate: u32,
    /// Most sessions at once.
    pub sessions_max: usize,
    /// Most sessions of one subject.
    pub sessions_per_subject_max: usize,
    /// A session ends when it is not used for this long.
    pub session_idle: Duration,
    /// Most event streams at once.
    pub streams_max: usize,
    /// Largest body in bytes.
    pub body_bytes_max: usize,
}

/// Whose tokens are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenIssuerConfig {
    /// The address whose `/mcp` is the resource.
    pub public_url: PublicUrl,
    /// The issuer, as tokens name it.
    pub issuer: String,
    /// Where it publishes its keys.
    pub jwks_url: String,
    /// What tokens must be made for.
    pub audience: String,
    /// What tokens may be signed with; at least one, each once.
    pub algorithms: Vec<Algorithm>,
    /// The type of tokens, in lower case and without `application/`.
    pub token_type: String,
}

/// What an environment says of MCP, without the other settings and their files.
#[derive(Clone, Debug)]
pub struct McpEnvironment {
    /// Which revisions are spoken.
    pub protocol: ProtocolConfig,
    /// `/mcp`; `None` means it is off.
    pub mcp: Option<McpConfig>,
    /// The public address.
    pub public_listen: SocketAddr,
}

impl McpEnvironment {
    /// Reads these settings; returns them with what is worth a warning.
    ///
    /// # Errors
    /// Every problem with them, and names with our prefix that are no settings.
    pub fn load(mut source: Source) -> Result<(Self, Vec<SettingProblem>), Vec<SettingProblem>> {
        source.refuse_names();
        let mut warnings = Vec::new();
        let protocol = protocol::read(&mut source, &mut warnings);
        let public_listen = public_listen(&mut source);
        let mcp = read(&mut source, public_listen);
        match (protocol, public_listen, source.problem_count()) {
            (Some(protocol), Some(public_listen), 0) => {
                Ok((Self { protocol, mcp, public_listen }, warnings))
            }
            _ => Err(source.take_problems_from(0)),
        }
    }
}

/// Settings of tokens as they are written, each valid by itself.
struct Written {
    public_url: Option<PublicUrl>,
    issuer: Option<String>,
    jwks_url: Option<String>,
    audience: Option<String>,
    origins: Vec<String>,
}

/// Reads the group. What is written must be valid even while `/mcp` is off; what it needs, only when it is on.
pub(super) fn read(source: &mut Source, listen: Option<SocketAddr>) -> Option<McpConfig> {
    let is_on = source.parsed("SVC_MCP", "true or false", |text| text.parse::<bool>().ok());
    let further_hosts = source.parsed(
        "SVC_MCP_HOSTS",
        "exact hosts such as svc.example or svc.example:8443, separated by commas, without wildcards",
        |text| words(text).map(read_host).collect::<Option<Vec<String>>>(),
    );
    let written = written(source);
    let algorithms = source.parsed(
        "SVC_MCP_ALGORITHMS",
        "one or more of ES256, RS256 and EdDSA, each once, separated by commas",
        read_algorithms,
    );
    let token_type = source.parsed("SVC_MCP_TOKEN_TYPE", "a type such as at+jwt", read_type);
    let peer_rate = count(source, "SVC_MCP_PEER_RATE");
    let subject_rate = count(source, "SVC_MCP_SUBJECT_RATE");
    let sessions_max = count(source, "SVC_MCP_SESSIONS_MAX");
    let sessions_per_subject_max = count(source, "SVC_MCP_SESSIONS_PER_SUBJECT");
    let session_idle = source.number("SVC_MCP_SESSION_IDLE_SECONDS");
    let streams_max = count(source, "SVC_MCP_STREAMS_MAX");
    let body_bytes_max = count(source, "SVC_MCP_BODY_BYTES");
    // Not before all settings are read: a bad value is reported even while `/mcp` is off.
    let listen = listen.filter(|_| is_on == Some(true))?;
    let is_local =
        listen.ip().is_loopback() && written.public_url.as_ref().is_none_or(PublicUrl::is_loopback);
    let further_hosts = further_hosts?;
    require(source, &written, &further_hosts, is_local);
    let own_hosts = if is_local { loopback_hosts(listen) } else { Vec::new() };
    let origins = origins(&own_hosts, is_local, &written);
    let public_host = written.public_url.iter().map(|url| url.host().to_owned());
    let hosts = distinct(own_hosts.into_iter().chain(public_host).chain(further_hosts));
    let authorization = authorization(&written, algorithms?, token_type?);
    Some(McpConfig {
        public_url: written.public_url,
        hosts,
        origins,
        authorization,
        peer_rate: peer_rate?,
        subject_rate: subject_rate?,
        sessions_max: sessions_max?,
        sessions_per_subject_max: sessions_per_subject_max?,
        session_idle: Duration::from_secs(session_idle?),
        streams_max: streams_max?,
        body_bytes_max: body_bytes_max?,
    })
}

fn written(source: &mut Source) -> Written {
    let own =
        |is_valid: fn(&str) -> bool| move |text: &str| is_valid(text).then(|| text.to_owned());
    let https = "an https URL, or http on a loopback address, without a user or a fragment";
    Written {
        public_url: optional(
            source,
            "SVC_PUBLIC_URL",
            "an https URL without a path and without the usual port, such as https://svc.example; \
             http only with a loopback name",
            PublicUrl::read,
        ),
        // An issuer has neither a query nor a fragment (RFC 8414, 2).
        issuer: optional(source, "SVC_MCP_ISSUER", &format!("{https}, or a query"), own(is_issuer)),
        jwks_url: optional(source, "SVC_MCP_JWKS_URL", https, own(is_url)),
        audience: optional(
            source,
            "SVC_MCP_AUDIENCE",
            "at most 1024 visible ASCII characters",
            own(|text| {
                text.len() <= AUDIENCE_BYTES_MAX && text.bytes().all(|b| b.is_ascii_graphic())
            }),
        ),
        origins: optional(source, "SVC_MCP_ORIGINS", PAGE_ORIGINS, read_page_origins)
            .unwrap_or_default(),
    }
}

/// Reads a setting that may be empty. A value that is refused is not shown: an address may hold a password.
pub(super) fn optional<T>(
    source: &mut Source,
    name: &'static str,
    allowed: &str,
    convert: impl FnOnce(&str) -> Option<T>,
) -> Option<T> {
    let text = source.text(name);
    if text.is_empty() {
        return None;
    }
    let value = convert(&text);
    if value.is_none() {
        source.problem(name, format!("it is not allowed; use {allowed}"));
    }
    value
}

/// Returns a number as what it counts. The bounds of its setting fit.
pub(super) fn count<N: TryFrom<u64>>(source: &mut Source, name: &'static str) -> Option<N> {
    source.number(name).and_then(|number| N::try_from(number).ok())
}

fn read_algorithms(text: &str) -> Option<Vec<Algorithm>> {
    let read: Option<Vec<Algorithm>> = words(text).map(Algorithm::from_word).collect();
    let read = read.filter(|read| !read.is_empty())?;
    let is_once = |algorithm| read.iter().filter(|it| *it == algorithm).count() == 1;
    read.iter().all(is_once).then_some(read)
}

fn read_type(text: &str) -> Option<String> {
    // `typ` may omit `application/` (RFC 7515, 4.1.9), so both spellings are one.
    let lower = text.to_ascii_lowercase();
    let plain = lower.strip_prefix("application/").unwrap_or(&lower);
    let is_plain = (1..=TYPE_BYTES_MAX).contains(&plain.len())
        && plain.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-._".contains(&b));
    is_plain.then(|| plain.to_owned())
}

/// Notes everything that is missing, at once.
fn require(source: &mut Source, written: &Written, further_hosts: &[String], is_local: bool) {
    let Written { public_url, issuer, jwks_url, audience, origins } = written;
    let wants_tokens = issuer.is_some() || jwks_url.is_some() || audience.is_some();
    // Another host name means a proxy in front, and then other machines reach it.
    if is_local && !wants_tokens && further_hosts.iter().all(|host| is_loopback(host)) {
        return;
    }
    let why = if is_local {
        "a token setting, or a host that is not a loopback name, requires SVC_PUBLIC_URL, \
         SVC_MCP_ISSUER and SVC_MCP_JWKS_URL"
    } else {
        "other machines can reach /mcp, which requires SVC_PUBLIC_URL, SVC_MCP_ISSUER, \
         SVC_MCP_JWKS_URL and SVC_MCP_ORIGINS"
    };
    for (name, is_missing) in [
        ("SVC_PUBLIC_URL", public_url.is_none()),
        ("SVC_MCP_ISSUER", issuer.is_none()),
        ("SVC_MCP_JWKS_URL", jwks_url.is_none()),
        ("SVC_MCP_ORIGINS", !is_local && origins.is_empty()),
    ] {
        // One that is set and cannot be read has a problem of its own.
        if is_missing && !source.has_problem(name) {
            source.problem(name, format!("it is missing; {why}"));
        }
    }
}

/// Returns the loopback names with the port that is listened at, as `Host` headers have them.
pub(super) fn loopback_hosts(listen: SocketAddr) -> Vec<String> {
    let address = listen.ip();
    let address = if address.is_ipv6() { format!("[{address}]") } else { address.to_string() };
    let names = ["localhost", "127.0.0.1", "[::1]", &address].into_iter();
    distinct(names.map(|name| match listen.port() {
        // A client leaves the usual port out.
        80 => name.to_owned(),
        port => format!("{name}:{port}"),
    }))
}

/// Returns every origin: those that are written; locally those of the server's own pages too, because only this
/// machine can serve a page under a loopback name.
fn origins(own_hosts: &[String], is_local: bool, written: &Written) -> Vec<String> {
    let own = own_hosts.iter().map(|host| format!("http://{host}"));
    let public = written.public_url.as_ref().filter(|_| is_local);
    let public = public.map(|url| url.origin().to_owned());
    distinct(written.origins.iter().cloned().chain(own).chain(public))
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct = Vec::new();
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

/// Returns whose tokens are taken, if everything that is needed for it is written.
fn authorization(
    written: &Written,
    algorithms: Vec<Algorithm>,
    token_type: String,
) -> Option<TokenIssuerConfig> {
    let public_url = written.public_url.clone()?;
    let resource = public_url.resource();
    Some(TokenIssuerConfig {
        public_url,
        issuer: written.issuer.clone()?,
        jwks_url: written.jwks_url.clone()?,
        // Tokens that a client requests for the resource have it as their audience (RFC 8707).
        audience: written.audience.clone().unwrap_or(resource),
        algorithms,
        token_type,
    })
}

#[cfg(test)]
mod tests;
