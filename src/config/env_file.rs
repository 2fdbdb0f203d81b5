//! The environment file of a unit, as systemd reads it (`EnvironmentFile=` in systemd.exec(5)): comments, quotes,
//! escapes, lines that go on, and what is left out.

use std::collections::BTreeMap;

/// What systemd takes from a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Assignments {
    /// The last value of each name.
    pub(super) variables: BTreeMap<String, String>,
    /// The line at which the last value of each name begins.
    pub(super) lines: BTreeMap<String, usize>,
    /// Numbers of lines that are read and have no effect.
    pub(super) ignored: Vec<usize>,
    /// Numbers of comments that hide the next line from systemd before version 254.
    pub(super) continued_comments: Vec<usize>,
}

/// A text that makes systemd refuse the whole file, by the number of its line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotText(pub(super) usize);

/// Where in a file the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Name,
    /// Behind the `=`, or behind a quoted part.
    Before,
    Plain,
    Escaped,
    Single,
    Double,
    DoubleEscaped,
    Comment,
    CommentEscaped,
}

struct Reader {
    state: State,
    line: usize,
    /// Line at which the comment or name began.
    began: usize,
    name: Vec<u8>,
    value: Vec<u8>,
    /// So much of the value is no white space at its end.
    kept: usize,
    read: Assignments,
}

/// Reads the content of a file.
///
/// # Errors
/// When it has a NUL, or a name or value that is not UTF-8.
pub(super) fn read(content: &[u8]) -> Result<Assignments, NotText> {
    let mut reader = Reader {
        state: State::Start,
        line: 1,
        began: 1,
        name: Vec::new(),
        value: Vec::new(),
        kept: 0,
        read: Assignments::default(),
    };
    for byte in content {
        if *byte == 0 {
            return Err(NotText(reader.line));
        }
        reader.step(*byte)?;
        reader.line += usize::from(*byte == b'\n');
    }
    match reader.state {
        State::Start | State::Comment | State::CommentEscaped => {}
        // The same as at the end of a line.
        State::Name => reader.read.ignored.push(reader.began),
        _ => reader.assign()?,
    }
    Ok(reader.read)
}

impl Reader {
    fn step(&mut self, byte: u8) -> Result<(), NotText> {
        let is_end = matches!(byte, b'\n' | b'\r');
        let is_blank = is_end || matches!(byte, b' ' | b'\t');
        self.state = match (self.state, byte) {
            (State::Start, b'#' | b';') => self.begin(State::Comment),
            (State::Start, _) if is_blank => State::Start,
            (State::Start, _) => {
                self.name.push(byte);
                self.begin(State::Name)
            }
            (State::Name, _) if is_end => {
                self.read.ignored.push(self.began);
                self.name.clear();
                State::Start
            }
            (State::Name, b'=') => State::Before,
            (State::Name, _) => {
                self.name.push(byte);
                State::Name
            }
            (State::Before | State::Plain, _) if is_end => {
                self.assign()?;
                State::Start
            }
            (State::Before, b'\'') => State::Single,
            (State::Before, b'"') => State::Double,
            (State::Before, _) if is_blank => State::Before,
            (State::Before | State::Plain, b'\\') => {
                self.kept = self.value.len();
                State::Escaped
            }
            (State::Plain, _) if is_blank => {
                self.value.push(byte);
                State::Plain
            }
            (State::Escaped, _) if is_end => State::Plain,
            (State::Before | State::Plain | State::Escaped, _) => self.keep(&[byte], State::Plain),
            (State::Single, b'\'') | (State::Double, b'"') => State::Before,
            (State::Single, _) => self.keep(&[byte], State::Single),
            (State::Double, b'\\') => State::DoubleEscaped,
            (State::Double, _) => self.keep(&[byte], State::Double),
            (State::DoubleEscaped, b'\n') => State::Double,
            (State::DoubleEscaped, b'"' | b'\\' | b'`' | b'$') => self.keep(&[byte], State::Double),
            (State::DoubleEscaped, _) => self.keep(&[b'\\', byte], State::Double),
            (State::Comment, b'\\') => State::CommentEscaped,
            (State::CommentEscaped, _) if is_end => {
                self.read.continued_comments.push(self.began);
                State::Start
            }
            (State::Comment, _) if is_end => State::Start,
            (State::Comment | State::CommentEscaped, _) => State::Comment,
        };
        Ok(())
    }

    fn begin(&mut self, state: State) -> State {
        self.began = self.line;
        state
    }

    fn keep(&mut self, bytes: &[u8], state: State) -> State {
        self.value.extend_from_slice(bytes);
        self.kept = self.value.len();
        state
    }

    /// Takes the name and the value, and makes room for the next.
    fn assign(&mut self) -> Result<(), NotText> {
        let not_text = |_| NotText(self.began);
        self.value.truncate(self.kept);
        self.kept = 0;
        let name = String::from_utf8(std::mem::take(&mut self.name)).map_err(not_text)?;
        let value = String::from_utf8(std::mem::take(&mut self.value)).map_err(not_text)?;
        let name = name.trim_end_matches([' ', '\t']);
        let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !name.starts_with(|first: char| first.is_ascii_digit());
        if is_name {
            self.read.variables.insert(name.to_owned(), value);
            self.read.lines.insert(name.to_owned(), self.began);
        } else {
            self.read.ignored.push(self.began);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(content: &str) -> Vec<(String, String)> {
        read(content.as_bytes()).unwrap().variables.into_iter().collect()
    }

    #[test]
    fn values_are_those_that_systemd_passes() {
        for (content, value) in [
            ("A=1", "1"),
            ("A=1\n", "1"),
            ("A=1\r\n", "1"),
            ("  A =  1  \t\n", "1"),
            ("A=\n", ""),
            ("A=a b\n", "a b"),
            ("A=a # b\n", "a # b"),
            ("A=a'b'\n", "a'b'"),
            ("A=a\\'b\\\\\n", "a'b\\"),
            ("A=a \\\n b\n", "a  b"),
            ("A=a\\ \n", "a "),
            ("A=\\\n b\n", " b"),
            ("A='a b '\n", "a b "),
            ("A='a\\n\nb'\n", "a\\n\nb"),
            ("A=\"a\\\"\\\\\\$\\`\\n\\\nb\"\n", "a\"\\$`\\nb"),
            ("A=\"a\" 'b'  c \n", "abc"),
            ("A=\"a\" # b\n", "a# b"),
            ("A='open\nB=2", "open\nB=2"),
            ("A=0\nA=1\n", "1"),
            ("# A=0\n;A=0\n\nA=1", "1"),
            ("# a\\b\nA=1", "1"),
            ("A=\u{e9}", "\u{e9}"),
        ] {
            assert_eq!(values(content), [("A".to_owned(), value.to_owned())], "{content:?}");
        }
    }

    #[test]
    fn lines_without_effect_are_named() {
        let content = "A=1\n\nexport B=2\nC\n1D=1\nE=\"\n\"\n# f\\\nG H=1\nlast";
        let read = read(content.as_bytes()).unwrap();
        assert_eq!(read.variables.keys().collect::<Vec<_>>(), ["A", "E"]);
        assert_eq!(read.lines.values().collect::<Vec<_>>(), [&1, &6]);
        assert_eq!(read.ignored, [3, 4, 5, 9, 10]);
        assert_eq!(read.continued_comments, [8]);
    }

    #[test]
    fn what_is_no_text_makes_the_file_useless() {
        assert_eq!(read(b"A=1\nB=\xff\n"), Err(NotText(2)));
        assert_eq!(read(b"A=1\n\xff=1"), Err(NotText(2)));
        assert_eq!(read(b"A=1\n# \0"), Err(NotText(2)));
        assert_eq!(read(b"# \xff\n").map(|read| read.variables.len()), Ok(0));
    }
}
