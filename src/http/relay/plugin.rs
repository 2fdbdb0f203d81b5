//! The plugin for Penpot: the files of its page, and the manifest that Penpot installs it by.
//!
//! The page that embeds ours is its host: it can read what ours posts, and lay things over its buttons. So only the
//! origins that the configuration names may embed it. The files themselves are no secret.
//!
//! See `docs/decisions/78-relay-plugin-penpot.md`.

use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETAG, HeaderName,
    HeaderValue, ORIGIN, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::app;
use crate::config::PublicUrl;
use crate::crypto::sha256;
use crate::http::conditions::{self, Read};
use crate::http::error;
use crate::http::gate::{Gate, STRICT_TRANSPORT};
use crate::http::message::{Head, Request, Response};
use crate::http::path::Path;
use crate::http::relay::RelayRoutes;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const MANIFEST: &str = "manifest.json";
/// Pages of other origins may embed it: Penpot's shows the icon, and the page in a frame.
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Returns the bytes of a file of the plugin.
macro_rules! bytes {
    ($path:literal) => {
        include_bytes!(concat!("../../../packaging/relay-plugin/", $path))
    };
}

/// Each file by its name, with its media type.
const FILES: [(&str, &str, &[u8]); 13] = [
    ("ui.html", "text/html; charset=utf-8", bytes!("core/ui.html")),
    ("ui.css", "text/css; charset=utf-8", bytes!("core/ui.css")),
    ("ui.js", SCRIPT, bytes!("core/ui.js")),
    ("wire.js", SCRIPT, bytes!("core/wire.js")),
    ("schema.js", SCRIPT, bytes!("core/schema.js")),
    ("rules.js", SCRIPT, bytes!("core/rules.js")),
    ("cards.js", SCRIPT, bytes!("core/cards.js")),
    ("journal.js", SCRIPT, bytes!("core/journal.js")),
    ("approvals.js", SCRIPT, bytes!("core/approvals.js")),
    ("conversation.js", SCRIPT, bytes!("core/conversation.js")),
    ("plugin.js", SCRIPT, bytes!("penpot/plugin.js")),
    (MANIFEST, "application/json", bytes!("penpot/manifest.json")),
    ("icon.png", "image/png", bytes!("penpot/icon.png")),
];

/// The plugin as this daemon serves it.
#[derive(Debug)]
pub struct PluginPages {
    public_url: Option<PublicUrl>,
    tool_origins: Vec<String>,
    frame_ancestors: String,
}

impl PluginPages {
    /// Returns the plugin for tools at these origins; `None` without any. Without a public URL, the daemon is reached
    /// at the loopback name that a request came by.
    #[must_use]
    pub fn new(public_url: Option<PublicUrl>, tool_origins: Vec<String>) -> Option<Self> {
        let frame_ancestors = tool_origins.join(" ");
        (!tool_origins.is_empty()).then_some(Self { public_url, tool_origins, frame_ancestors })
    }

    /// Returns the origin of the page, for a request that came by `host`.
    fn origin(&self, host: &str) -> String {
        self.public_url
            .as_ref()
            .map_or_else(|| format!("http://{host}"), |url| url.origin().to_owned())
    }

    /// Returns the headers that every file carries.
    fn headers(&self, head: &Head, origin: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut set = |name, value| headers.insert(name, value);
        set(CONTENT_SECURITY_POLICY, self.policy(origin));
        set(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        set(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        set(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
        // Asked for again each time, with the tag, so that an upgrade of the daemon reaches the page.
        set(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // One header below depends on the page that asks, and caches have to know that.
        set(VARY, HeaderValue::from_static("origin"));
        if origin.starts_with("https://") {
            set(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(STRICT_TRANSPORT));
        }
        // Penpot's page fetches the manifest and the script.
        let theirs = head
            .single(&ORIGIN)
            .and_then(|page| self.tool_origins.iter().find(|tool| tool.eq_ignore_ascii_case(page)));
        if let Some(value) = theirs.and_then(|tool| HeaderValue::try_from(tool).ok()) {
            set(ACCESS_CONTROL_ALLOW_ORIGIN, value);
        }
        headers
    }

    /// Returns what the page may load, where it may connect to, and who may embed it.
    fn policy(&self, origin: &str) -> HeaderValue {
        // Not every browser takes 'self' to cover WebSockets of the same host. A policy cannot name an IPv6 address,
        // so there 'self' has to do.
        let socket = match origin.replacen("http", "ws", 1) {
            socket if socket.contains('[') => String::new(),
            socket => format!(" {socket}"),
        };
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'{socket}; base-uri 'none'; \
             form-action 'none'; frame-ancestors {}",
            self.frame_ancestors
        );
        HeaderValue::try_from(policy).expect("origins are visible ASCII")
    }
}

pub(in crate::http) fn show(
    relay: &RelayRoutes,
    gate: &Gate,
    request: &Request,
    path: &Path<'_>,
) -> Result<Response, app::Error> {
    let plugin = relay.plugin.as_ref().ok_or(app::Error::NotFound)?;
    let head = &request.head;
    // The manifest repeats the host, so that only a name that the gate knows may get into it.
    let Some(host) = gate.host_of(head) else { return Ok(error::misdirected()) };
    let wanted = path.text("file");
    let file = FILES.iter().find(|(name, ..)| *name == wanted);
    let (name, media_type, bytes) = *file.ok_or(app::Error::NotFound)?;
    let origin = plugin.origin(host);
    let body = if name == MANIFEST { manifest(bytes, &origin) } else { bytes.to_vec() };
    // Of the body as it is served: the manifest differs from host to host.
    let digest = sha256::of(&body);
    let mut response = match conditions::of_read(head, digest)? {
        Read::Show => Response::new(StatusCode::OK, media_type, body),
        Read::NotModified => Response::empty(StatusCode::NOT_MODIFIED),
        Read::PreconditionFailed => return Err(app::Error::PreconditionFailed),
    };
    // A 304 carries them too, because browsers update what they have stored with them.
    response.headers.extend(plugin.headers(head, &origin));
    let tag = HeaderValue::try_from(format!("\"{digest}\"")).expect("a digest is hexadecimal");
    Ok(response.with(ETAG, tag))
}

/// Returns the manifest with the daemon's origin, which Penpot takes the other files from.
fn manifest(bytes: &[u8], origin: &str) -> Vec<u8> {
    let mut manifest: Value = serde_json::from_slice(bytes).expect("our manifest is JSON");
    if let Some(host) = manifest.get_mut("host") {
        *host = Value::from(origin);
    }
    serde_json::to_vec_pretty(&manifest).expect("JSON always serializes")
}

#[cfg(test)]
mod tests;
