//! Header lines: their syntax, their number, and those that mean something.

use super::cases::{Case, get, post};

pub(super) fn cases() -> Vec<Case> {
    [hosts(), names(), values(), folds(), floods(), expectations(), connections(), strangers()]
        .into_iter()
        .flatten()
        .collect()
}

fn host(lines: &str) -> Vec<u8> {
    format!("GET /health/live HTTP/1.1\r\n{lines}Connection: close\r\n\r\n").into_bytes()
}

/// Values of `Host` that are not `host[:port]`.
const NO_HOSTS: &[&str] = &[
    "",
    ":",
    ":80",
    "localhost, localhost",
    "localhost, evil",
    "localhost,evil",
    "localhost evil",
    "user@localhost",
    "http://localhost",
    "localhost/health",
    "localhost?",
    "localhost#evil",
    "localhost:80:80",
    "localhost:abc",
    "localhost:-1",
    "localhost:+1",
    "localhost:65536",
    "localhost:99999",
    "[::1",
    "::1",
    "::1]",
    "[::1]evil",
    "[localhost]",
    "[127.0.0.1]",
    "%6cocalhost",
    "*",
    "l\u{f6}calhost",
    "[::ffff:127.0.0.1.]",
];

fn hosts() -> Vec<Case> {
    let mut cases = vec![
        Case::same("no host", host(""), "400"),
        Case::same("two hosts", host("Host: localhost\r\nHost: evil\r\n"), "400"),
        Case::same("one host twice", host("Host: localhost\r\nHost: localhost\r\n"), "400"),
        Case::same("two hosts in two cases", host("Host: localhost\r\nhOST: localhost\r\n"), "400"),
        Case::same("a host and an empty one", host("Host: localhost\r\nHost:\r\n"), "400"),
        Case::same("a blank before the colon", host("Host : localhost\r\n"), "400"),
        Case::same("a folded host", host("Host:\r\n localhost\r\n"), "400"),
        Case::same("a host with a NUL", host("Host: local\0host\r\n"), "400"),
    ];
    for value in NO_HOSTS {
        let bytes = host(&format!("Host: {value}\r\n"));
        cases.push(Case::same(format!("Host: {value:?}"), bytes, "400"));
        // Before routing: neither is there anything at this path, nor is the method one of it.
        let elsewhere =
            format!("BREW /nothing HTTP/1.1\r\nHost: {value}\r\nConnection: close\r\n\r\n");
        cases.push(Case::same(format!("Host: {value:?} of nothing"), elsewhere, "400"));
    }
    for value in [
        "evil",
        "evil.example:80",
        "localhost.",
        "localhost.evil",
        "evil.localhost",
        "127.1",
        "0.0.0.0",
        "_",
    ] {
        let bytes = host(&format!("Host: {value}\r\n"));
        // Strangers use whatever name leads here; the operator address answers to its own names.
        cases.push(Case::same(format!("Host: {value:?}"), bytes, "200").operator("400"));
    }
    for value in
        ["LOCALHOST", "localhost:1", "localhost:65535", "localhost:", "127.0.0.1", "[::1]:80"]
    {
        cases.push(Case::same(
            format!("Host: {value:?}"),
            host(&format!("Host: {value}\r\n")),
            "200",
        ));
    }
    let long = host(&format!("Host: {}\r\n", "a".repeat(8_000)));
    cases.push(Case::same("a host of 8,000", long, "400"));
    cases
}

fn names() -> Vec<Case> {
    let odd = (0..=0x20).chain([0x7f, 0x80, 0xa0, 0xff]).chain(*b"\"(),/;<=>?@[\\]{}");
    let mut cases: Vec<Case> = odd
        .map(|byte| {
            let lines = [b"X-m4", &[byte][..], b"rk: y"].concat();
            Case::same(format!("{byte:#04x} in a name"), get(lines), "400")
        })
        .collect();
    for (name, lines) in [
        ("no name", ": y"),
        ("no name and no value", ":"),
        ("no colon", "X"),
        ("a blank for a name", " : y"),
        ("a blank before the colon", "X-m4rk : y"),
        ("a tab before the colon", "X-m4rk\t: y"),
        ("UTF-8 in a name", "X-\u{e4}: y"),
        ("a request line among them", "GET /metrics HTTP/1.1"),
    ] {
        cases.push(Case::same(format!("headers: {name}"), get(lines), "400"));
    }
    for (name, lines) in [
        ("no value", "X:".to_owned()),
        ("no blank", "X:y".to_owned()),
        ("many blanks", format!("X:{}y{}", " ".repeat(500), " ".repeat(500))),
        ("all letters of a token", "!#$%&'*+-.^_`|~0aZ: y".to_owned()),
        ("a colon in the value", "X: y: z".to_owned()),
        ("a name of 1,000", format!("{}: y", "x".repeat(1_000))),
    ] {
        cases.push(Case::same(format!("headers: {name}"), get(lines), "200"));
    }
    let long = format!("{}: y", "x".repeat(9_000));
    cases.push(Case::same("headers: a name of 9,000", get(long), "200|400|431"));
    let longer = format!("{}: y", "x".repeat(70_000));
    cases.push(Case::new("headers: a name of 70,000", get(longer), "400|431", "400"));
    cases
}

fn values() -> Vec<Case> {
    let refused = (0..=0x1f).filter(|byte| *byte != b'\t').chain([0x7f]);
    let mut cases: Vec<Case> = refused
        .map(|byte| {
            let lines = [b"X: m4", &[byte][..], b"rk"].concat();
            Case::same(format!("{byte:#04x} in a value"), get(lines), "400")
        })
        .collect();
    for byte in [0x80, 0xa0, 0xe4, 0xff] {
        let lines = [b"X: m4", &[byte][..], b"rk"].concat();
        cases.push(Case::new(format!("{byte:#04x} in a value"), get(lines), "200|400", "400"));
    }
    cases.push(Case::same("a tab in a value", get("X: a\tb"), "200"));
    cases
}

fn folds() -> Vec<Case> {
    [
        ("a fold", "X: y\r\n z"),
        ("a fold with a tab", "X: y\r\n\tz"),
        ("a fold after a bare LF", "X: y\n z"),
        ("a fold of nothing", "X: y\r\n "),
        ("a fold before the first colon", "X\r\n : y"),
        ("two folds", "X: y\r\n z\r\n z"),
        ("a bare CR before the line end", "X: y\r\r\nZ: z"),
        ("a bare CR for a line end", "X: y\rZ: z"),
        ("a CR and a blank", "X: y\r Z: z"),
    ]
    .into_iter()
    .map(|(name, lines)| Case::same(format!("headers: {name}"), get(lines), "400"))
    .collect()
}

fn floods() -> Vec<Case> {
    let mut cases = Vec::new();
    for (count, tcp, control) in
        [(61, "200", "200"), (63, "431", "400"), (100, "431", "400"), (1_000, "431", "400")]
    {
        let lines = vec!["X: y"; count].join("\r\n");
        cases.push(Case::new(format!("{count} more headers"), get(lines), tcp, control));
    }
    for (size, tcp, control) in [
        (8_000, "200", "200"),
        (15_000, "200", "200"),
        (17_000, "431", "400"),
        (60_000, "431", "400"),
    ] {
        let lines = format!("X: {}", "y".repeat(size));
        cases.push(Case::new(format!("a header of {size}"), get(&lines), tcp, control));
        cases.push(Case::new(
            format!("a body behind a header of {size}"),
            post(format!("{lines}\r\nContent-Length: 5"), "hello"),
            &tcp.replace("200", "A"),
            &control.replace("200", "A"),
        ));
    }
    // A peer that is still sending when the answer comes may lose it to a reset.
    let (tcp, control) = ("431|-", "400|-");
    let endless = ["{GET}X: ".to_owned(), "y".repeat(4 << 20)].concat();
    cases.push(Case::new("a header line without end", endless, tcp, control));
    cases.push(Case::new(
        "a target without end",
        "GET /".to_owned() + &"a".repeat(4 << 20),
        "414|431|-",
        control,
    ));
    cases.push(Case::new("a method without end", "M".repeat(4 << 20), "400|431|-", control));
    cases.push(Case::new(
        "headers without end",
        "{GET}".to_owned() + &"X: y\r\n".repeat(500_000),
        tcp,
        control,
    ));
    cases.push(Case::new(
        "cookies without end",
        "{GET}".to_owned() + &"Cookie: a=b\r\n".repeat(200_000),
        tcp,
        control,
    ));
    cases
}

fn expectations() -> Vec<Case> {
    let mut cases = Vec::new();
    for value in
        ["100-continue", "100-Continue", "200-ok", "m4rk", "", "100-continue, 100-continue"]
    {
        let lines = format!("Expect: {value}\r\nContent-Length: 5");
        let known = value.eq_ignore_ascii_case("100-continue");
        let (body, none) = if known { ("A|100 A", "200") } else { ("400", "400") };
        let name = format!("Expect: {value:?}");
        cases.push(Case::new(name, post(lines, "hello"), "A|417", body));
        let name = format!("Expect: {value:?} without a body");
        cases.push(Case::new(name, get(format!("Expect: {value}")), "200|417", none));
    }
    let large = "Expect: 100-continue\r\nContent-Length: 99999999999";
    cases.push(Case::new("Expect before a large body", post(large, ""), "413", "413"));
    for value in ["websocket", "h2c", "TLS/1.0", "HTTP/2.0, websocket", "", "m4rk"] {
        let lines = format!("Upgrade: {value}");
        cases.push(Case::new(format!("Upgrade: {value:?}"), get(lines), "200", "400"));
        let lines = "{KEEP}Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQ\r\n";
        let name = format!("Upgrade: {value:?} with Connection");
        let bytes = format!("{lines}Upgrade: {value}\r\n\r\n");
        cases.push(Case::new(name, bytes, "200", "400"));
    }
    cases
}

fn connections() -> Vec<Case> {
    [
        "close, keep-alive",
        "keep-alive, close",
        "Close",
        "CLOSE",
        "close, close",
        "host",
        "Host, Authorization",
        "Content-Length",
        "Transfer-Encoding",
        "\"close\"",
        ",,,close",
        "te, close",
    ]
    .into_iter()
    .map(|value| {
        let bytes = format!("{{KEEP}}Connection: {value}\r\n\r\n");
        Case::same(format!("Connection: {value}"), bytes, "200")
    })
    .chain([
        Case::same(
            "a Connection that names the framing",
            post("Connection: close, Content-Length\r\nContent-Length: 5", "hello"),
            "A",
        ),
        Case::same("Keep-Alive for ever", "{KEEP}Keep-Alive: timeout=999999, max=0\r\n\r\n", "200"),
        Case::same("Proxy-Connection", "{KEEP}Proxy-Connection: keep-alive\r\n\r\n", "200"),
        Case::same("TE: trailers", get("TE: trailers, chunked"), "200"),
        Case::same("Trailer", get("Trailer: Content-Length"), "200"),
        Case::same(
            "2,000 words in Connection",
            get(format!("Connection: {}", "a,".repeat(2_000))),
            "200",
        ),
    ])
    .collect()
}

/// Headers that other servers obey.
fn strangers() -> Vec<Case> {
    let mut cases = Vec::new();
    for lines in [
        "X-HTTP-Method-Override: DELETE",
        "X-HTTP-Method: PUT",
        "X-Method-Override: POST",
        "X-Original-URL: /metrics",
        "X-Rewrite-URL: /metrics",
        "X-Forwarded-Host: evil",
        "X-Forwarded-For: 127.0.0.1, m4rk",
        "Forwarded: for=127.0.0.1;host=m4rk",
        "X-Real-IP: m4rk",
        "X-Forwarded-Proto: file",
        "Range: bytes=0-99999999999",
        "Range: bytes=-1,0-,m4rk",
        "If-Match: m4rk",
        "If-None-Match: *",
        "If-Modified-Since: m4rk",
        "Accept: m4rk",
        "Accept-Encoding: gzip;q=m4rk",
        "Cookie: m4rk",
        "Proxy: http://evil",
        "Max-Forwards: 0",
        "Content-Type: m4rk",
        "Content-Encoding: m4rk",
        "Date: m4rk",
        "X: ${jndi:ldap://m4rk}",
    ] {
        cases.push(Case::same(lines, get(lines), "200"));
    }
    let overridden = "POST /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                      Content-Length: 0\r\nX-HTTP-Method-Override: GET\r\n\r\n";
    cases.push(Case::same("a POST that wants to be a GET", overridden, "405"));
    cases
}
