//! Where a request ends, and what hides behind that.

use super::cases::{Case, get, post};

pub(super) fn cases() -> Vec<Case> {
    [lengths(), repeated(), encodings(), both(), chunks(), near_misses(), hidden()]
        .into_iter()
        .flatten()
        .collect()
}

fn lengths() -> Vec<Case> {
    let mut cases = Vec::new();
    for value in [
        "+5",
        "-5",
        "5x",
        "x5",
        "0x5",
        "5.0",
        "5e0",
        "5 5",
        "5,5",
        "5, 5",
        "5;5",
        "\"5\"",
        "",
        "five",
        "5\t5",
        "5,",
        ",5",
        "0b101",
        "5_0",
        "\u{ff15}",
        "0 0",
        "--5",
        "5+",
        "NaN",
        "18446744073709551616",
        "99999999999999999999999999",
    ] {
        let name = format!("Content-Length: {value:?}");
        cases.push(Case::same(name, post(format!("Content-Length: {value}"), "hello"), "400"));
    }
    for value in ["26214401", "4294967296", "1000000000000", "9223372036854775807"] {
        let name = format!("Content-Length: {value} and less");
        cases.push(Case::same(name, post(format!("Content-Length: {value}"), "hello"), "413"));
    }
    let greatest = post("Content-Length: 18446744073709551615", "hello");
    cases.push(Case::new("the greatest Content-Length", greatest, "400|413|431", "413"));
    for value in ["005", "  5", "5  ", "\t5\t"] {
        let name = format!("Content-Length: {value:?}, padded");
        cases.push(Case::same(name, post(format!("Content-Length:{value}"), "hello"), "A|400"));
    }
    let zeros = format!("Content-Length: {}5", "0".repeat(1_000));
    cases.push(Case::same("a Content-Length of 1,001 digits", post(zeros, "hello"), "A|400"));
    let nines = format!("Content-Length: {}", "9".repeat(10_000));
    cases.push(Case::same("a Content-Length of 10,000 nines", post(nines, "hello"), "400"));
    let short = post("Content-Length: 6", "hello");
    cases.push(Case::new("a body that ends early", short, "400|-", "400").ended());
    cases.push(Case::same("a body where none is meant", get("Content-Length: 5"), "413"));
    cases.push(Case::same("a declared empty body", get("Content-Length: 0"), "200"));
    cases
}

fn repeated() -> Vec<Case> {
    let mut cases = Vec::new();
    for (one, two) in [("5", "6"), ("6", "5"), ("5", "0"), ("0", "5"), ("5", "+5"), ("5", "")] {
        let lines = format!("Content-Length: {one}\r\nContent-Length: {two}");
        cases.push(Case::same(format!("lengths {one} and {two:?}"), post(lines, "hello"), "400"));
    }
    let same = "Content-Length: 5\r\nContent-Length: 5";
    cases.push(Case::new("the same length twice", post(same, "hello"), "400|A", "400"));
    let cased = "Content-Length: 5\r\ncontent-length: 6";
    cases.push(Case::same("two lengths in two cases", post(cased, "hello"), "400"));
    let apart = "Content-Length: 5\r\nX: y\r\nContent-Length: 44";
    cases.push(Case::same("two lengths apart", post(apart, "hello{HIDDEN}"), "400"));
    cases
}

fn encodings() -> Vec<Case> {
    let body = "5\r\nhello\r\n0\r\n\r\n{HIDDEN}";
    [
        "chunked",
        "Chunked",
        "CHUNKED",
        "identity",
        "gzip",
        "deflate",
        "gzip, chunked",
        "chunked, gzip",
        "chunked, chunked",
        "chunked;q=1",
        "\"chunked\"",
        "xchunked",
        "chunkedx",
        "chunked x",
        "",
        ",",
        ",chunked",
        "chunked,",
        "\tchunked",
        "chunked\t",
        "cow",
        "chun ked",
        "identity, chunked",
        "chunked, identity",
        "'chunked'",
        "chunk",
        "nothing\r\n\tchunked",
        "\u{b}chunked",
        "chunked\0",
    ]
    .into_iter()
    .map(|value| {
        let lines = format!("Transfer-Encoding: {value}");
        let name = format!("Transfer-Encoding: {value:?}");
        Case::new(name, post(lines, body), encoded(value), "400")
    })
    .collect()
}

/// The answer over TCP to a body with these encodings: one that ends in chunks could be read, and is not.
fn encoded(value: &str) -> &'static str {
    let last = value.rsplit(',').next().unwrap_or_default().trim();
    let folded = value.contains(['\r', '\u{b}', '\0']);
    if last.eq_ignore_ascii_case("chunked") && !folded { "411" } else { "400" }
}

fn both() -> Vec<Case> {
    let mut cases = Vec::new();
    for encoding in ["chunked", "identity", "xchunked", "chunked, gzip", " chunked", ""] {
        for length in ["5", "0", "3"] {
            let te = format!("Transfer-Encoding: {encoding}");
            let cl = format!("Content-Length: {length}");
            for (order, lines) in
                [("first", format!("{te}\r\n{cl}")), ("last", format!("{cl}\r\n{te}"))]
            {
                let name = format!("{te:?} {order}, with {cl:?}");
                let sent = post(lines, "0\r\n\r\n{HIDDEN}");
                cases.push(Case::new(name, sent, encoded(encoding), "400"));
            }
        }
    }
    let twice = "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity";
    cases.push(Case::same("two encodings", post(twice, "0\r\n\r\n{HIDDEN}"), "400"));
    let old = "POST /webhooks/forge HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\
               \r\n\r\n0\r\n\r\n{HIDDEN}";
    cases.push(Case::new("chunks in HTTP/1.0", old, "400", "400"));
    cases
}

fn chunks() -> Vec<Case> {
    let long = ";".to_owned() + &"x".repeat(100_000);
    [
        ("an extension", "5;a=b"),
        ("a hex prefix", "0x5"),
        ("a sign", "+5"),
        ("a minus", "-1"),
        ("the greatest size", "ffffffffffffffff"),
        ("a size too large", "10000000000000000"),
        ("a blank before", " 5"),
        ("a blank behind", "5 "),
        ("no size", ""),
        ("no digit", "g"),
        ("zeros before", "0000000000000000000000000005"),
        ("a comma", "5,5"),
        ("a bare CR", "5\rx"),
        ("a NUL", "5\0"),
        ("an endless extension", &long),
    ]
    .into_iter()
    .map(|(name, size)| {
        let body = format!("{size}\r\nhello\r\n0\r\n\r\n{{HIDDEN}}");
        // A peer that is still sending when the answer comes may lose it to a reset.
        let expected = if size.len() > 1_000 { ["411|-", "400|-"] } else { ["411", "400"] };
        let sent = post("Transfer-Encoding: chunked", body);
        Case::new(format!("chunk: {name}"), sent, expected[0], expected[1])
    })
    .chain(
        [
            ("bare LF", "5\nhello\n0\n\n{HIDDEN}"),
            ("data longer than its size", "2\r\nhello\r\n0\r\n\r\n"),
            ("data shorter than its size", "9\r\nhello\r\n0\r\n\r\n"),
            ("no end", "5\r\nhello\r\n"),
            ("a length as trailer", "0\r\nContent-Length: 50\r\n\r\n{HIDDEN}"),
            ("a host as trailer", "0\r\nHost: evil\r\n\r\n{HIDDEN}"),
        ]
        .into_iter()
        .map(|(name, body)| {
            let lines = "Transfer-Encoding: chunked";
            Case::new(format!("chunks: {name}"), post(lines, body), "411", "400")
        }),
    )
    .collect()
}

/// Names that are nearly those that frame.
fn near_misses() -> Vec<Case> {
    let mut cases = Vec::new();
    for name in ["Content-Length", "Transfer-Encoding"] {
        let value = if name == "Content-Length" { "5" } else { "chunked" };
        for spelt in [
            format!("{name} : {value}"),
            format!("{name}\t: {value}"),
            format!(" {name}: {value}"),
            format!("X: y\r\n {name}: {value}"),
            format!("X: y\r\n\t{name}: {value}"),
            format!("X: y\r{name}: {value}"),
            format!("{name}\0: {value}"),
            format!("{name}\u{b}: {value}"),
            format!("{name}\r\n: {value}"),
            format!("{name}:\r\n {value}"),
            format!("\"{name}\": {value}"),
            format!("{name} {value}"),
        ] {
            cases.push(Case::same(format!("{spelt:?}"), post(&spelt, "hello"), "400"));
        }
        let below = name.replace('-', "_");
        let lines = format!("{below}: {value}\r\nContent-Length: 0");
        cases.push(Case::same(format!("{below}: {value}"), post(lines, ""), "A"));
        let lines = format!("X-{name}: {value}\r\nContent-Length: 0");
        cases.push(Case::same(format!("X-{name}: {value}"), post(lines, ""), "A"));
    }
    // A line may end in a bare LF; then it is a line to both readers.
    let bare = post("X: y\nTransfer-Encoding: chunked", "0\r\n\r\n{HIDDEN}");
    cases.push(Case::new("an encoding after a bare LF", bare, "411", "400"));
    let bare = post("X: y\nContent-Length: 5\nContent-Length: 6", "hello");
    cases.push(Case::same("two lengths after a bare LF", bare, "400"));
    cases
}

/// A request inside or behind another's body.
fn hidden() -> Vec<Case> {
    let hidden = "GET /health/live HTTP/1.1\r\nHost: localhost\r\nX-Hidden: m4rk\r\n\r\n";
    let whole = format!("Content-Length: {}", hidden.len());
    let closing = format!("Connection: close\r\n{whole}");
    vec![
        Case::same("a request in a body", post(&whole, hidden), "A"),
        Case::same("a request in a body, closing", post(&closing, hidden), "A"),
        Case::same("a request in a refused body", get(&whole).repeat(2), "413"),
        Case::same(
            "a request in a refused body, whole",
            [get(&whole), hidden.into()].concat(),
            "413",
        ),
        Case::new(
            "a request behind an empty body",
            post("Content-Length: 0", "{HIDDEN}"),
            "A 200",
            "A",
        ),
        Case::new("a request behind no body", post("X: y", "{HIDDEN}"), "A 200", "A"),
        Case::same("a request behind the last one", get("X: y\r\n\r\n{HIDDEN}"), "200"),
        Case::same(
            "a request behind a refused length",
            post("Content-Length: 99999999999", "{HIDDEN}"),
            "413",
        ),
        Case::same("a request behind a broken head", post("X y", "{HIDDEN}"), "400"),
        Case::same("a request behind a NUL", post("X: \0", "{HIDDEN}"), "400"),
        Case::new(
            "a request in a body that is expected",
            post(format!("Expect: 100-continue\r\n{whole}"), hidden),
            "A",
            "A|100 A",
        ),
        Case::new(
            "a request behind an upgrade",
            "{KEEP}Connection: upgrade\r\nUpgrade: h2c\r\n\r\n{HIDDEN}",
            "200 200|200|400",
            "400",
        ),
        Case::new("two requests", "{KEEP}\r\n{GET}\r\n", "200 200", "200"),
        Case::new(
            "ten requests",
            "{KEEP}\r\n".repeat(9) + "{GET}\r\n",
            "200 200 200 200 200 200 200 200 200 200",
            "200",
        ),
        Case::new("a good and a bad one", "{KEEP}\r\nGET\0/ HTTP/1.1\r\n\r\n", "200 400", "200"),
        Case::same("a bad and a good one", "GET\0/ HTTP/1.1\r\n\r\n{HIDDEN}", "400"),
    ]
}
