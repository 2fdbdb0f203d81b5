//! URIs, by the grammar of RFC 3986 and no further: a scheme, then anything the grammar allows. Whether
//! a host exists or a port is sensible is not asked. Zones of IPv6 addresses are not known.

/// Why a text is no URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Empty,
    /// No scheme stands in front.
    Scheme,
    /// A character may not stand where it does; its byte.
    Character(usize),
    /// Two hexadecimal digits must follow a percent sign; the byte of the sign.
    Percent(usize),
    /// The port is no number.
    Port,
    /// The brackets hold no IPv6 address.
    Brackets,
}

/// Where a byte may stand, a bit each.
const UNRESERVED: u8 = 1;
const SUB_DELIMITER: u8 = 2;
const COLON: u8 = 4;
const AT: u8 = 8;
const SLASH: u8 = 16;
const QUESTION: u8 = 32;

const USER: u8 = UNRESERVED | SUB_DELIMITER | COLON;
const NAME: u8 = UNRESERVED | SUB_DELIMITER;
const PATH: u8 = USER | AT | SLASH;
const QUERY: u8 = PATH | QUESTION;

const fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => UNRESERVED,
        b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' => {
            SUB_DELIMITER
        }
        b':' => COLON,
        b'@' => AT,
        b'/' => SLASH,
        b'?' => QUESTION,
        _ => 0,
    }
}

pub(super) fn check(text: &[u8]) -> Result<(), Fault> {
    let colon = scheme(text)?;
    let rest = Piece { text, begin: colon + 1, end: text.len() };
    let (rest, fragment) = rest.split(b"#");
    let (rest, query) = rest.split(b"?");
    let path = if rest.bytes().starts_with(b"//") {
        let (authority, path) = Piece { begin: rest.begin + 2, ..rest }.split(b"/");
        check_authority(authority)?;
        path
    } else {
        rest
    };
    path.check(PATH)?;
    query.behind_mark().check(QUERY)?;
    fragment.behind_mark().check(QUERY)
}

/// Returns the place of the colon behind the scheme.
fn scheme(text: &[u8]) -> Result<usize, Fault> {
    let first = text.first().ok_or(Fault::Empty)?;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let length = text.iter().take_while(|byte| is_part(byte)).count();
    let ends = text.get(length) == Some(&b':');
    if ends && first.is_ascii_alphabetic() { Ok(length) } else { Err(first_odd(text)) }
}

/// Returns why there is no scheme: mostly that there is none, but a character that may stand nowhere
/// says more.
fn first_odd(text: &[u8]) -> Fault {
    let odd = text.first().is_some_and(|byte| class(*byte) == 0 && !b"#[]%".contains(byte));
    if odd { Fault::Character(0) } else { Fault::Scheme }
}

fn check_authority(authority: Piece<'_>) -> Result<(), Fault> {
    // The last one ends the user information; an earlier one is refused there as a character.
    let at = authority.bytes().iter().rposition(|byte| *byte == b'@');
    let host = match at {
        None => authority,
        Some(at) => {
            Piece { end: authority.begin + at, ..authority }.check(USER)?;
            Piece { begin: authority.begin + at + 1, ..authority }
        }
    };
    if host.bytes().first() == Some(&b'[') {
        return brackets(host.bytes());
    }
    let (name, port) = host.split(b":");
    name.check(NAME)?;
    // A port may be empty (RFC 3986, 3.2.3).
    if port.behind_mark().bytes().iter().all(u8::is_ascii_digit) {
        Ok(())
    } else {
        Err(Fault::Port)
    }
}

fn brackets(host: &[u8]) -> Result<(), Fault> {
    let close = host.iter().position(|byte| *byte == b']').ok_or(Fault::Brackets)?;
    let inside = host.get(1..close).ok_or(Fault::Brackets)?;
    let text = std::str::from_utf8(inside).unwrap_or_default();
    if text.parse::<std::net::Ipv6Addr>().is_err() && !is_future(inside) {
        return Err(Fault::Brackets);
    }
    match host.get(close + 1..).unwrap_or_default() {
        [] => Ok(()),
        [b':', port @ ..] if port.iter().all(u8::is_ascii_digit) => Ok(()),
        _ => Err(Fault::Port),
    }
}

/// Says whether it is an address of a version to come, such as `v1.fe:80`.
fn is_future(inside: &[u8]) -> bool {
    let [b'v' | b'V', rest @ ..] = inside else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let Some([b'.', address @ ..]) = rest.get(digits..) else { return false };
    digits > 0 && !address.is_empty() && address.iter().all(|byte| class(*byte) & USER != 0)
}

/// A part of the text.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a [u8],
    begin: usize,
    end: usize,
}

impl<'a> Piece<'a> {
    fn bytes(self) -> &'a [u8] {
        self.text.get(self.begin..self.end).unwrap_or_default()
    }

    /// Splits before the first mark.
    fn split(self, mark: &[u8; 1]) -> (Self, Self) {
        let place = self.bytes().iter().position(|byte| mark.contains(byte));
        // Without the mark the second piece is empty, and `behind_mark` leaves it so.
        let middle = place.map_or(self.end, |place| self.begin + place);
        (Self { end: middle, ..self }, Self { begin: middle, ..self })
    }

    /// Leaves out the mark it was split at.
    fn behind_mark(self) -> Self {
        Self { begin: (self.begin + 1).min(self.end), ..self }
    }

    /// Checks that every byte is of some classes, or part of a percent escape.
    fn check(self, classes: u8) -> Result<(), Fault> {
        let mut at = self.begin;
        while at < self.end {
            let byte = self.text.get(at).copied().unwrap_or(0);
            if byte == b'%' {
                // An escape must not reach into the next piece.
                let escaped = self.text.get(at + 1..self.end).and_then(<[u8]>::first_chunk::<2>);
                if !escaped.is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)) {
                    return Err(Fault::Percent(at));
                }
            } else if class(byte) & classes == 0 {
                return Err(Fault::Character(at));
            }
            at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_where() {
        for (text, fault) in [
            ("https://a.example/", None),
            ("", Some(Fault::Empty)),
            ("a.example", Some(Fault::Scheme)),
            (" https://a.example", Some(Fault::Character(0))),
            ("https://a.example/a b", Some(Fault::Character(19))),
            ("https://a.example/%zz", Some(Fault::Percent(18))),
            ("https://a.example:x/", Some(Fault::Port)),
            ("https://[::1%25eth0]/", Some(Fault::Brackets)),
            ("https://a@b@c/", Some(Fault::Character(9))),
            ("a:#b#c", Some(Fault::Character(4))),
        ] {
            assert_eq!(check(text.as_bytes()).err(), fault, "{text}");
        }
    }
}
