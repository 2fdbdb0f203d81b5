//! Cases typed by hand, and any bytes at all.

use http::StatusCode;
use proptest::prelude::*;

use super::*;

/// What was ever found, or is worth trying each time: a JSON text a line, a character a byte.
const CORPUS: &str = include_str!("../../../../tests/data/hostile/heads.jsonl");

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
    assert_eq!((opening.head_len, opening.body_len), (bytes.len(), 5));
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
        assert_eq!(read(&with(lines)).err(), Some(Malformed), "{lines}");
    }
    let many = "X: y\r\n".repeat(HEADERS_MAX) + "Host: a";
    assert_eq!(read(&with(&many)).err(), Some(Malformed));
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
        assert_eq!(read(&bytes).err(), Some(Malformed), "{line}");
    }
}

#[test]
fn what_is_forwarded_has_one_meaning() {
    let bytes = with("Host: a\r\nConnection: keep-alive\r\nTE: chunked\r\nContent-Length: 2");
    let opening = read(&bytes).unwrap().unwrap();
    let forwarded =
        String::from_utf8([write_head(&opening.head), b"hi".to_vec()].concat()).unwrap();
    assert_eq!(
        forwarded,
        "POST /a?b=c HTTP/1.1\r\nConnection: close\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi"
    );
}

#[test]
fn answers_close_the_connection() {
    let response = Response::new(StatusCode::BAD_REQUEST, "text/plain", "no");
    let head = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 2\r\n\
                content-type: text/plain\r\n\r\n";
    assert_eq!(write_response(&response, None), format!("{head}no").into_bytes());
    assert_eq!(write_response(&response, Some(&Method::HEAD)), head.as_bytes());
    let answer = close_after(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()).unwrap();
    assert_eq!(answer, b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    assert_eq!(close_after(b"HTTP".to_vec()), None);
}

/// Whatever the bytes: more of them change no decision, and what is passed on is read as the
/// same request, with the same end.
fn check(bytes: &[u8], cut: usize) {
    let whole = read(bytes);
    let shown = bytes.escape_ascii();
    match read(&bytes[..cut.min(bytes.len())]) {
        Ok(None) => {}
        Ok(Some(early)) => {
            let whole = whole.as_ref().unwrap().as_ref().unwrap();
            let ends = (whole.head_len, whole.body_len);
            assert_eq!((early.head_len, early.body_len), ends, "{shown}");
        }
        Err(Malformed) => assert!(whole.is_err(), "{shown}"),
    }
    let Ok(Some(opening)) = whole else { return };
    assert!(opening.head.path.starts_with('/') && opening.head_len <= bytes.len(), "{shown}");
    let forwarded = write_head(&opening.head);
    let again = read(&forwarded).unwrap().unwrap();
    let ends = (again.head_len, again.body_len);
    assert_eq!(ends, (forwarded.len(), opening.body_len), "{shown}");
    let (one, two) = (&opening.head, &again.head);
    assert_eq!((&one.method, &one.path, &one.query), (&two.method, &two.path, &two.query));
    for (name, value) in one.headers.iter().filter(|(name, _)| !HOP_BY_HOP.contains(name)) {
        assert!(two.headers.get_all(name).iter().any(|other| other == value), "{shown}");
    }
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
fn pieces() -> impl Strategy<Value = Vec<u8>> {
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
