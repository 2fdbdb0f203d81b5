//! What may stand in a `Host` header: `host[:port]` and nothing else, so that no two parts of the service, or of a proxy
//! in front of it, read different names in it.
//!
//! What is taken for a host: `docs/decisions/97-hosts-and-targets.md`.

use std::net::Ipv6Addr;

use http::header::HOST;

use super::message::Head;

/// Most bytes of a name: those of the DNS, and the dot at its end.
const NAME_MAX: usize = 254;

/// Says whether a request names one host, and a valid one.
pub(super) fn is_named(head: &Head) -> bool {
    head.single(&HOST).is_some_and(is_valid)
}

fn is_valid(value: &str) -> bool {
    let (host, port) = match value.strip_prefix('[') {
        Some(literal) => {
            let Some((address, rest)) = literal.split_once(']') else { return false };
            (address.parse::<Ipv6Addr>().is_ok(), rest)
        }
        None => {
            let (name, rest) = value.split_at(value.find(':').unwrap_or(value.len()));
            (is_name(name), rest)
        }
    };
    host && is_port(port)
}

fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Nothing, or a colon and a number; the number may be missing (RFC 3986, 3.2.3).
fn is_port(port: &str) -> bool {
    match port.strip_prefix(':') {
        Some(digits) => {
            // `parse` would take a plus sign.
            digits.bytes().all(|byte| byte.is_ascii_digit())
                && (digits.is_empty() || digits.parse::<u16>().is_ok())
        }
        None => port.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_and_perhaps_a_port() {
        for value in
            ["a", "A-b.c_d.", "127.0.0.1:80", "a:", "a:0", "a:65535", "[::1]", "[::1]:7080"]
        {
            assert!(is_valid(value), "{value}");
        }
        let (longest, longer) = ("a".repeat(NAME_MAX), "a".repeat(NAME_MAX + 1));
        assert!(is_valid(&longest) && !is_valid(&longer));
        for value in [
            "",
            ":",
            ":80",
            "a:65536",
            "a:+1",
            "a:-1",
            "a:x",
            "a:1:1",
            "a b",
            "a,b",
            "a@b",
            "a/b",
            "a?",
            "a#",
            "%61",
            "\u{e9}",
            "::1",
            "[::1",
            "[::1]x",
            "[::1]]",
            "[a]",
            "[]",
            "[127.0.0.1]",
            "[fe80::1%25eth0]",
        ] {
            assert!(!is_valid(value), "{value}");
        }
    }
}
