//! Tokens: the operator's, from a file or the environment, and a person's own access token, from a file or standard
//! input; never from the command line.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use http::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};
use zeroize::Zeroizing;

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::crypto::secret::{self, SecretError};

/// Where packages put it: mode 0640, group of operators.
const FILE_DEFAULT: &str = "/etc/svc/operator.token";
const VARIABLE: &str = "SVC_OPERATOR_API_TOKEN";
/// Read here and not by the parser: `docs/decisions/76-relay-pairing-code.md`.
const FILE_VARIABLE: &str = "SVC_OPERATOR_API_TOKEN_FILE";
/// Longest token that is read from standard input, in bytes; the service takes shorter ones alone.
const STDIN_BYTES_MAX: usize = 64 << 10;
const WAYS: &str =
    "name the file with --token-file or SVC_OPERATOR_API_TOKEN_FILE, or set SVC_OPERATOR_API_TOKEN";

/// The operator's token as it is sent, and where it was found.
#[derive(Debug)]
pub(crate) struct Authorization {
    pub(crate) header: HeaderValue,
    pub(crate) origin: String,
}

/// Returns the `Authorization` header of the operator. A file that was named comes first, on the command line and then
/// in the environment; then the variable, then the default file.
pub(crate) fn authorization(file: Option<&Path>) -> Result<Authorization, Error> {
    let named = |file: &Path, by: &str| (file.to_owned(), format!("{} ({by})", file.display()));
    let named = file.map(|file| named(file, "--token-file")).or_else(|| {
        let file = file_of_environment()?;
        Some(named(&file, FILE_VARIABLE))
    });
    let (token, origin) = match (named, variable(VARIABLE)) {
        (Some((file, origin)), _) => (read(&file, WAYS)?, origin),
        (None, Some(token)) => {
            (SecretString::from(token), format!("the environment variable {VARIABLE}"))
        }
        (None, None) => (read(Path::new(FILE_DEFAULT), WAYS)?, FILE_DEFAULT.to_owned()),
    };
    Ok(Authorization { header: header(&token, WAYS)?, origin })
}

/// Returns the `Authorization` header of a person who names a file with an access token, or `-` for standard input.
pub(crate) fn of_person(file: &Path) -> Result<HeaderValue, Error> {
    let ways = "name a file with --token-file, or - for standard input";
    let token = if file == Path::new("-") { from_stdin(ways)? } else { read(file, ways)? };
    header(&token, ways)
}

/// Returns the file with the operator's token that the environment names.
pub(crate) fn file_of_environment() -> Option<PathBuf> {
    variable(FILE_VARIABLE).map(PathBuf::from)
}

fn header(token: &SecretString, ways: &'static str) -> Result<HeaderValue, Error> {
    let text = Zeroizing::new(format!("Bearer {}", token.expose_secret()));
    // `from_str` also takes spaces and bytes beyond ASCII.
    let visible = token.expose_secret().bytes().all(|byte| byte.is_ascii_graphic());
    let header = HeaderValue::from_str(&text).ok().filter(|_| visible);
    let mut header = header.ok_or_else(|| {
        Error::new(Exit::Unauthenticated, "the token must be visible ASCII on one line").hint(ways)
    })?;
    // Keeps the value out of `Debug`.
    header.set_sensitive(true);
    Ok(header)
}

#[expect(clippy::disallowed_methods, reason = "other users could see it as an argument")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn from_stdin(ways: &'static str) -> Result<SecretString, Error> {
    let failed = |error| Error::new(Exit::LocalFile, "cannot read standard input").caused_by(error);
    // Not through the buffer of the standard library, which would keep a copy.
    let stdin = io::stdin().as_fd().try_clone_to_owned();
    let stdin = stdin.map_err(|error| failed(SecretError::Read(error)))?;
    let token = secret::read_all(File::from(stdin), STDIN_BYTES_MAX).map_err(failed)?;
    let token = std::str::from_utf8(&token).map_err(|_| failed(SecretError::NotText))?;
    let token = token.trim_end_matches(['\r', '\n']);
    if token.is_empty() {
        return Err(
            Error::new(Exit::Unauthenticated, "standard input contains no token").hint(ways)
        );
    }
    Ok(SecretString::from(token))
}

fn read(file: &Path, ways: &'static str) -> Result<SecretString, Error> {
    secret::read_file(file).map_err(|error| match error {
        SecretError::Read(cause)
            if cause.kind() == io::ErrorKind::NotFound && file == Path::new(FILE_DEFAULT) =>
        {
            let message = format!("there is no operator token: {FILE_DEFAULT} does not exist");
            Error::new(Exit::Unauthenticated, message).hint(ways)
        }
        SecretError::Exposed { .. } => {
            // The cause says how to close it; what was open may have been read.
            refused(file, error).hint("replace the token too, because others may have read it: see \"Replace a secret\" in upgrade.md of the guide")
        }
        SecretError::Read(_)
        | SecretError::NotAFile
        | SecretError::TooLarge { .. }
        | SecretError::NotText
        | SecretError::Empty => refused(file, error).hint(ways),
    })
}

fn refused(file: &Path, error: SecretError) -> Error {
    let message = format!("the token file {} cannot be used", file.display());
    Error::new(Exit::LocalFile, message).caused_by(error)
}
