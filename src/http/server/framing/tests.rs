//! Cases typed by hand, and any bytes at all.

use proptest::prelude::*;

use super::*;

/// What was ever found, or is worth trying each time: a JSON text a line, a character a byte.
pub(in crate::http::server) const CORPUS: &str =
    include_str!("../../../../tests/data/hostile/heads.jsonl");

fn with(lines: &str) -> Vec<u8> {
    format!("POST /a?b=c HTTP/1.1\r\n{lines}\r\n\r\n").into_bytes()
}

#[test]
fn a_head_is_read_once_it_is_whole() {
    let bytes = with("Host: a\r\nContent-Length: 5");
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).unwrap().is_none());
    }
    let opening = read(&bytes).unwrap().unwrap();
    assert_eq!((opening.start, opening.end, opening.body_len), (0, bytes.len(), 5));
    assert_eq!(opening.head.path, "/a");
    assert_eq!(opening.head.query.as_deref(), Some("b=c"));
}

#[test]
fn doubtful_framing_is_refused() {
    for lines in [
        "X: no host",
        "Host: a\r\nHost: b",
        "Host: a\r\nTransfer-Encoding: chunked",
        "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5",
        "Host: a\r\nContent-Length: 5\r\nContent-Length: 5",
        "Host: a\r\nContent-Length: 5, 5",
        "Host: a\r\nContent-Length: +5",
        "Host: a\r\nContent-Length: -5",
        "Host: a\r\nContent-Length: 5x",
        "Host: a\r\nContent-Length: 0x5",
        "Host: a\r\nContent-Length:",
        "Host: a\r\nContent-Length: 18446744073709551616",
        "Host: a\r\nContent-Length : 5",
        "Host: a\r\nExpect: a miracle",
        "Host: a\r\nExpect: 100-continue\r\nExpect: 100-continue",
        "Host: a\r\nUpgrade: websocket",
        "Host: a\r\nX: folded\r\n line",
        "Host: a\r\nX: \u{e4}",
        "Host: a\r\nX: a\0b",
    ] {
        assert_eq!(read(&with(lines)).err(), Some(Refusal::BadRequest), "{lines}");
    }
    let many = "X: y\r\n".repeat(HEADERS_MAX) + "Host: a";
    assert_eq!(read(&with(&many)).err(), Some(Refusal::BadRequest));
}

#[test]
fn who_waits_for_a_word_is_known() {
    let waits = |bytes: &[u8]| read(bytes).unwrap().unwrap().waits;
    assert!(waits(&with("Host: a\r\nExpect: 100-Continue\r\nContent-Length: 2")));
    assert!(!waits(&with("Host: a\r\nContent-Length: 2")));
    assert!(!waits(b"POST / HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\n\r\n"));
}

#[test]
fn other_versions_and_targets_are_refused() {
    for line in [
        "GET http://a/ HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "CONNECT a:1 HTTP/1.1",
        "GET /\u{e4} HTTP/1.1",
        "GET / HTTP/2.0",
        "GET /",
        "PRI * HTTP/2.0",
    ] {
        let bytes = format!("{line}\r\nHost: a\r\n\r\n").into_bytes();
        assert_eq!(read(&bytes).err(), Some(Refusal::BadRequest), "{line}");
    }
}

#[test]
fn a_line_ends_as_it_does_for_tiny_http() {
    for bytes in [
        &b"GET / HTTP/1.1\nHost: a\n\n"[..],
        b"GET / HTTP/1.1\r\nHost: a\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n\n",
        b"\nGET / HTTP/1.1\r\nHost: a\r\nX: y\nZ: z\r\n\r\n",
    ] {
        assert_eq!(read(bytes).err(), Some(Refusal::BadRequest), "{}", bytes.escape_ascii());
    }
    let opening = read(b"\r\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap().unwrap();
    assert_eq!((opening.start, opening.end), (3, 30), "empty lines before it are no part of it");
}

/// Whatever the bytes: more of them change no decision, and what is passed on is read as the same
/// request, with the same end.
fn check(bytes: &[u8], cut: usize) {
    let whole = read(bytes);
    let shown = bytes.escape_ascii();
    match read(&bytes[..cut.min(bytes.len())]) {
        Ok(None) => {}
        Ok(Some(early)) => {
            let whole = whole.as_ref().unwrap().as_ref().unwrap();
            let ends = (whole.start, whole.end, whole.body_len);
            assert_eq!((early.start, early.end, early.body_len), ends, "{shown}");
        }
        Err(_) => assert!(whole.is_err(), "{shown}"),
    }
    let Ok(Some(opening)) = whole else { return };
    assert!(opening.head.path.starts_with('/'), "{shown}");
    let passed_on = &bytes[opening.start..opening.end];
    let again = read(passed_on).unwrap().unwrap();
    let ends = (0, passed_on.len(), opening.body_len);
    assert_eq!((again.start, again.end, again.body_len), ends, "{shown}");
    let (one, two) = (&opening.head, &again.head);
    assert_eq!((&one.method, &one.path, &one.query), (&two.method, &two.path, &two.query));
    assert_eq!(one.headers, two.headers, "{shown}");
}

#[test]
fn the_corpus_holds() {
    for line in CORPUS.lines() {
        let text: String = serde_json::from_str(line).unwrap();
        let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap()).collect();
        (0..=bytes.len()).for_each(|cut| check(&bytes, cut));
    }
}

/// Bytes that are nearly a request.
pub(in crate::http::server) fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "GET",
        "POST",
        "HEAD",
        " ",
        "/",
        "/a?b",
        "*",
        " HTTP/1.1",
        " HTTP/1.0",
        "\r\n",
        "\r\n",
        "\n",
        "\r",
        "Host: a\r\n",
        "Host: a\r\n",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "TE",
        "X",
        ": ",
        ":",
        "5",
        "0",
        "chunked",
        "close",
        "\r\n\r\n",
        "\t",
        ",",
        "\0",
        "+5",
        "GET / HTTP/1.1\r\nHost: a\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n",
    ];
    let word = prop::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec());
    let any = prop::collection::vec(any::<u8>(), 0..4);
    let piece = prop_oneof![8 => word.boxed(), 1 => any.boxed()];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_have_one_meaning(bytes in pieces(), cut in 0..120_usize) {
        check(&bytes, cut);
    }
}
