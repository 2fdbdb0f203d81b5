//! Policies for each kind of address, and files that are all there.

use http::Method;

use super::*;
use crate::http::message::Surface;

fn plugin(url: Option<&str>) -> PluginPages {
    let url = url.map(|url| PublicUrl::read(url).unwrap());
    let tools = vec!["https://penpot.example".to_owned(), "http://localhost:9001".to_owned()];
    PluginPages::new(url, tools).unwrap()
}

#[test]
fn without_a_tool_there_is_no_plugin() {
    assert!(PluginPages::new(PublicUrl::read("https://svc.example"), Vec::new()).is_none());
}

#[test]
fn the_page_connects_to_its_own_address_and_is_embedded_by_the_tools() {
    const ANCESTORS: &str = "frame-ancestors https://penpot.example http://localhost:9001";
    for (url, host, connect) in [
        (Some("https://svc.example"), "svc.example", "'self' wss://svc.example"),
        // Through another host of the same daemon, the page is still that of the public URL.
        (Some("https://svc.example:8443"), "other.example", "'self' wss://svc.example:8443"),
        (None, "localhost:7080", "'self' ws://localhost:7080"),
        (None, "127.0.0.1:7080", "'self' ws://127.0.0.1:7080"),
        (None, "[::1]:7080", "'self'"),
    ] {
        let plugin = plugin(url);
        let policy = plugin.policy(&plugin.origin(host));
        let wanted = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src {connect}; base-uri 'none'; \
             form-action 'none'; {ANCESTORS}"
        );
        assert_eq!(policy.to_str().unwrap(), wanted, "{url:?} {host}");
    }
}

#[test]
fn pages_of_the_tools_may_read_it_and_no_others() {
    let readable_by = |origins: &[&str]| {
        let mut headers = HeaderMap::new();
        for origin in origins {
            headers.append(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        let (surface, method, path) = (Surface::Public, Method::GET, "/".to_owned());
        let head = Head { surface, method, path, query: None, headers, peer: None };
        let headers = plugin(None).headers(&head, "http://localhost:7080");
        headers.get(ACCESS_CONTROL_ALLOW_ORIGIN).map(|it| it.to_str().unwrap().to_owned())
    };
    let tool = "https://penpot.example".to_owned();
    assert_eq!(readable_by(&["https://penpot.example"]), Some(tool.clone()));
    assert_eq!(readable_by(&["https://Penpot.example"]), Some(tool));
    for origins in [
        &[][..],
        &["null"],
        &["https://evil.example"],
        &["https://penpot.example.evil.example"],
        &["https://penpot.example", "https://penpot.example"],
    ] {
        assert_eq!(readable_by(origins), None, "{origins:?}");
    }
}

#[test]
fn every_file_that_the_page_names_is_served() {
    let names: Vec<&str> = FILES.iter().map(|(name, ..)| *name).collect();
    let (_, _, page) = FILES.iter().find(|(name, ..)| *name == "ui.html").unwrap();
    let page = std::str::from_utf8(page).unwrap();
    let named =
        page.split(['"', '\'']).filter(|part| part.ends_with(".js") || part.ends_with(".css"));
    let named: Vec<&str> = named.collect();
    assert!(named.len() > 5, "{named:?}");
    assert!(named.iter().all(|name| names.contains(name)), "{named:?}");
}

#[test]
fn the_manifest_has_the_host_and_paths_of_files_that_are_served() {
    let (_, _, bytes) = FILES.iter().find(|(name, ..)| *name == MANIFEST).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest(bytes, "https://svc.example")).unwrap();
    assert_eq!(manifest["host"], "https://svc.example");
    for field in ["code", "icon"] {
        let path = manifest[field].as_str().unwrap();
        let name = path.strip_prefix("/relay/plugin/penpot/").unwrap();
        assert!(FILES.iter().any(|(known, ..)| *known == name), "{path}");
    }
}
