//! The first line: method, target, version.

use super::cases::Case;

pub(super) fn cases() -> Vec<Case> {
    [methods(), targets(), forms(), versions(), shapes(), control_characters()]
        .into_iter()
        .flatten()
        .collect()
}

fn line(first: impl AsRef<[u8]>) -> Vec<u8> {
    [first.as_ref(), b"\r\nHost: localhost\r\nConnection: close\r\n\r\n"].concat()
}

fn methods() -> Vec<Case> {
    let mut cases = Vec::new();
    for method in [
        "get",
        "Get",
        "PUT",
        "POST",
        "DELETE",
        "PATCH",
        "OPTIONS",
        "TRACE",
        "BREW",
        "M-SEARCH",
        "!#$%&'*+.^_`|~",
    ] {
        let bytes = line(format!("{method} /health/live HTTP/1.1"));
        cases.push(Case::same(format!("method {method}"), bytes, "405"));
    }
    for method in ["G ET", "", "G\u{c9}T", "G(ET", "GET,", "\"GET\"", "G/ET", "G:ET", "G@ET", "G[T"]
    {
        let bytes = line(format!("{method} /health/live HTTP/1.1"));
        cases.push(Case::same(format!("method {method:?}"), bytes, "400"));
    }
    for length in [100, 1_000, 10_000] {
        let bytes = line(format!("{} /health/live HTTP/1.1", "M".repeat(length)));
        cases.push(Case::same(format!("a method of {length}"), bytes, "400|405|431"));
    }
    for (name, target, status) in
        [("HEAD", "/health/live", "200"), ("HEAD of nothing", "/nothing", "404")]
    {
        let bytes = line(format!("HEAD {target} HTTP/1.1"));
        cases.push(Case::same(name, bytes, status).headless());
    }
    let echo = "TRACE /health/live HTTP/1.1\r\nHost: localhost\r\nCookie: m4rk\r\nConnection: close\r\n\r\n";
    cases.push(Case::same("TRACE with a secret", echo, "405"));
    let body = "HEAD /health/live HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello";
    cases.push(Case::same("HEAD with a body", body, "413").headless());
    cases
}

fn targets() -> Vec<Case> {
    let mut cases = Vec::new();
    for target in [
        "/",
        "//",
        "//health/live",
        "//evil.example/health/live",
        "/health//live",
        "/health/live/",
        "/health/live//",
        "/./health/live",
        "/health/./live",
        "/health/../health/live",
        "/health/live/..",
        "/../health/live",
        "/health/live/../ready",
        "/..;/health/live",
        "/health%2flive",
        "/health%2Flive",
        "/health/live%00",
        "/%2e%2e/health/live",
        "/%68ealth/live",
        "/health/live%20",
        "/health/live%0d%0aX:m4rk",
        "/health/live%",
        "/health/live%g0",
        "/health/live;m4rk",
        "/health/live:80",
        "/Health/Live",
        "/health\\live",
        "/health/live.json",
        "/health/*",
        "/.git/config",
        "/metrics/m4rk",
        "/%c0%ae%c0%ae/",
        "/api/v1/operators",
        "/api/v1//operator/installations",
        "/http://localhost/health/live",
    ] {
        let bytes = line(format!("GET {target} HTTP/1.1"));
        cases.push(Case::same(format!("target {target}"), bytes, "404|400"));
    }
    for target in
        ["/health/live?", "/health/live?m4rk=1", "/health/live?a=b?c=/../", "/health/live?%00"]
    {
        let bytes = line(format!("GET {target} HTTP/1.1"));
        cases.push(Case::same(format!("target {target}"), bytes, "200"));
    }
    for (name, target) in [
        ("a fragment", "/health/live#m4rk".as_bytes()),
        ("a query and a fragment", b"/health/live?a#m4rk"),
        ("an empty fragment", b"/health/live#"),
    ] {
        let bytes = line([b"GET ", target, b" HTTP/1.1"].concat());
        cases.push(Case::same(format!("target with {name}"), bytes, "400"));
    }
    // The target of a later request on the same connection is looked at as well, whatever its bytes came with.
    for (name, first) in [
        ("a request", "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        (
            "a request and empty lines",
            "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n\r\n\r\n",
        ),
    ] {
        let second = line("GET /health/live#m4rk HTTP/1.1");
        let bytes = [first.as_bytes(), &second].concat();
        cases.push(Case::new(
            format!("target with a fragment after {name}"),
            bytes,
            "200 400",
            "200",
        ));
    }
    let hash = line("GET /health/live?%23 HTTP/1.1\r\nX: /#m4rk");
    cases.push(Case::same("a hash in a header", hash, "200"));
    for (name, target) in [
        ("UTF-8", "/health/l\u{ef}ve".as_bytes()),
        ("Latin-1", b"/health/l\xefve"),
        ("invalid UTF-8", b"/health/live\xff\xfe"),
        ("an overlong slash", b"/health\xc0\xaflive"),
        ("UTF-8 in the query", "/health/live?\u{ef}".as_bytes()),
    ] {
        let bytes = line([b"GET ", target, b" HTTP/1.1"].concat());
        cases.push(Case::new(format!("target with {name}"), bytes, "400|404|200", "400"));
    }
    for (length, tcp, control) in [
        (1_000, "404", "404"),
        (10_000, "404", "404"),
        (15_000, "404", "404"),
        (17_000, "414|431", "400"),
        (70_000, "414|431", "400"),
    ] {
        let bytes = line(format!("GET /{} HTTP/1.1", "a".repeat(length)));
        cases.push(Case::new(format!("a target of {length}"), bytes, tcp, control));
        let bytes = line(format!("GET /health/live?{} HTTP/1.1", "a".repeat(length)));
        let (tcp, control) = (tcp.replace("404", "200"), control.replace("404", "200"));
        cases.push(Case::new(format!("a query of {length}"), bytes, &tcp, &control));
    }
    cases
}

/// Targets that are no path.
fn forms() -> Vec<Case> {
    [
        "GET *",
        "OPTIONS *",
        "HEAD *",
        "GET http://localhost/health/live",
        "GET HTTP://localhost/health/live",
        "GET https://localhost/health/live",
        "GET http://evil.example/health/live",
        "GET http://a@localhost/health/live",
        "GET http://localhost:99999/health/live",
        "GET http:///health/live",
        "GET http:/health/live",
        "GET http:",
        "GET file:///etc/passwd",
        "GET localhost",
        "GET localhost:80",
        "GET localhost/health/live",
        "GET health/live",
        "GET ../health/live",
        "GET ?m4rk",
        "GET #m4rk",
        "GET \\health\\live",
        "GET %2fhealth%2flive",
        "GET .",
        "CONNECT localhost:80",
        "CONNECT /health/live",
        "CONNECT *",
        "CONNECT http://localhost/",
        "CONNECT [::1]:80",
        "GET \"/health/live\"",
        "GET </health/live>",
        "GET unix:/run/svcd.sock:/health/live",
    ]
    .into_iter()
    .map(|first| {
        let case = Case::same(
            format!("form {first}"),
            line(format!("{first} HTTP/1.1")),
            if first == "CONNECT /health/live" { "405|400" } else { "400" },
        );
        if first.starts_with("HEAD") { case.headless() } else { case }
    })
    .collect()
}

fn versions() -> Vec<Case> {
    let mut cases = Vec::new();
    for version in [
        "HTTP/0.9",
        "HTTP/1.2",
        "HTTP/1.9",
        "HTTP/1.10",
        "HTTP/2",
        "HTTP/2.0",
        "HTTP/3.0",
        "HTTP/01.1",
        "HTTP/1.01",
        "http/1.1",
        "Http/1.1",
        "HTTPS/1.1",
        "HTTP/1,1",
        "HTTP /1.1",
        "HTTP/ 1.1",
        "HTTP/1. 1",
        "HTTP/1.",
        "HTTP/.1",
        "HTTP/",
        "HTTP",
        "XTTP/1.1",
        "HTTP/1.1x",
        "HTTP/1.1 x",
        "HTTP/1.1 HTTP/1.1",
        "HTTP/1.1 ",
        "HTTP/1.1\t",
        "HTTP\\1.1",
        "HTTP-1.1",
        "HTTP/-1.1",
        "HTTP/4294967297.1",
        "HTTP/1.1\0",
        "1.1",
        "ICY",
        "RTSP/1.0",
    ] {
        let bytes = line(format!("GET /health/live {version}"));
        cases.push(Case::same(format!("version {version:?}"), bytes, "400"));
    }
    let old = "GET /health/live HTTP/1.0\r\nHost: localhost\r\n\r\n";
    cases.push(Case::same("version 1.0", old, "200"));
    let old = "GET /health/live HTTP/1.0\r\n\r\n";
    cases.push(Case::same("version 1.0 without a host", old, "400"));
    let kept = "GET /health/live HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n";
    cases.push(Case::same("version 1.0, kept alive", kept, "200"));
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0";
    cases.push(Case::new("the HTTP/2 preface", preface, "400|-", "400"));
    cases
}

fn shapes() -> Vec<Case> {
    let tls: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 \r\n\r\n";
    vec![
        Case::same("a first line of two words", line("GET /health/live"), "400"),
        Case::same("a first line of one word", line("GET"), "400"),
        Case::same("no version and nothing else", "GET /health/live\r\n", "400"),
        Case::same("two blanks before the target", line("GET  /health/live HTTP/1.1"), "400"),
        Case::same("two blanks before the version", line("GET /health/live  HTTP/1.1"), "400"),
        Case::same("tabs between", line("GET\t/health/live\tHTTP/1.1"), "400"),
        Case::same("a blank first", line(" GET /health/live HTTP/1.1"), "400"),
        Case::same("a blank in the target", line("GET /health /live HTTP/1.1"), "400"),
        Case::same(
            "one empty line before",
            [b"\r\n", &line("GET /health/live HTTP/1.1")[..]].concat(),
            "200",
        ),
        Case::same(
            "a bare LF before",
            [b"\n", &line("GET /health/live HTTP/1.1")[..]].concat(),
            "200|400",
        ),
        Case::same(
            "a bare CR before",
            [b"\rx", &line("GET /health/live HTTP/1.1")[..]].concat(),
            "400",
        ),
        Case::new(
            "1,000 empty lines before",
            [b"\r\n".repeat(1_000), line("GET /health/live HTTP/1.1")].concat(),
            "200|400",
            "200|400",
        ),
        Case::new(
            "20,000 empty lines before",
            [b"\r\n".repeat(20_000), line("GET /health/live HTTP/1.1")].concat(),
            "200|400|431",
            "400|-",
        ),
        Case::same(
            "bare LFs only",
            "GET /health/live HTTP/1.1\nHost: localhost\nConnection: close\n\n",
            "200|400",
        ),
        Case::same(
            "bare CRs only",
            "GET /health/live HTTP/1.1\rHost: localhost\rConnection: close\r\r",
            "400",
        ),
        Case::same("LF CR", "GET /health/live HTTP/1.1\n\rHost: localhost\n\r\n\r", "400"),
        Case::same("an answer", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "400"),
        Case::same("TLS", tls, "400"),
        Case::same("SSH", "SSH-2.0-OpenSSH_9.9\r\n", "400"),
        Case::same("a byte-order mark", line("\u{feff}GET /health/live HTTP/1.1"), "400"),
        Case::same("zeros", vec![0; 4_096], "400"),
        Case::same("ones", vec![0xff; 4_096], "400"),
        Case::new("nothing", "", "-", "-").ended(),
        Case::new("one letter", "G", "-|400", "400").ended(),
        Case::new("half a head", "{GET}X: y", "-|400", "400").ended(),
        Case::new("a head without its last line", "{GET}", "-|400", "400").ended(),
        Case::new("an empty line alone", "\r\n", "-|400", "400|-").ended(),
    ]
}

fn control_characters() -> Vec<Case> {
    let mut cases = Vec::new();
    for byte in (0..=0x1f).chain([0x7f]).filter(|byte| !b"\r\n".contains(byte)) {
        for (place, before, behind) in [
            ("method", "G", "ET /health/live HTTP/1.1"),
            ("target", "GET /health/", "live HTTP/1.1"),
            ("version", "GET /health/live HTTP/1", ".1"),
        ] {
            let bytes = line([before.as_bytes(), &[byte], behind.as_bytes()].concat());
            cases.push(Case::same(format!("{byte:#04x} in the {place}"), bytes, "400"));
        }
    }
    cases
}
