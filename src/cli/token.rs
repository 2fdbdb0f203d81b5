//! The operator's token: from a file or the environment, never from the command line.

use std::io;
use std::path::Path;

use http::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};
use zeroize::Zeroizing;

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::crypto::secret::{self, SecretError};

/// Where packages put it: mode 0640, group of operators.
const FILE_DEFAULT: &str = "/etc/svc/operator.token";
const VARIABLE: &str = "SVC_OPERATOR_API_TOKEN";
const WAYS: &str =
    "name the file with --token-file or SVC_OPERATOR_API_TOKEN_FILE, or set SVC_OPERATOR_API_TOKEN";

/// Returns the `Authorization` header. A file that was named comes first, then the variable, then
/// the default file.
pub(crate) fn authorization(file: Option<&Path>) -> Result<HeaderValue, Error> {
    let token = match (file, variable()) {
        (Some(file), _) => read(file)?,
        (None, Some(token)) => token,
        (None, None) => read(Path::new(FILE_DEFAULT))?,
    };
    let text = Zeroizing::new(format!("Bearer {}", token.expose_secret()));
    let visible = token.expose_secret().bytes().all(|byte| byte.is_ascii_graphic());
    let header = HeaderValue::from_str(&text).ok().filter(|_| visible);
    let mut header = header.ok_or_else(|| {
        Error::new(Exit::Unauthenticated, "the operator token must be visible ASCII on one line")
            .hint(WAYS)
    })?;
    header.set_sensitive(true);
    Ok(header)
}

#[expect(clippy::disallowed_methods, reason = "as an argument it would be seen by everybody")]
fn variable() -> Option<SecretString> {
    std::env::var(VARIABLE).ok().filter(|token| !token.is_empty()).map(SecretString::from)
}

fn read(file: &Path) -> Result<SecretString, Error> {
    secret::read_file(file).map_err(|error| match error {
        SecretError::Read(cause)
            if cause.kind() == io::ErrorKind::NotFound && file == Path::new(FILE_DEFAULT) =>
        {
            Error::new(Exit::Unauthenticated, "there is no operator token").hint(WAYS)
        }
        SecretError::Exposed { .. } => {
            let chmod = format!("chmod o-rwx {}; then rotate the token", file.display());
            refused(file, error).hint(chmod)
        }
        SecretError::Read(_)
        | SecretError::NotAFile
        | SecretError::TooLarge
        | SecretError::NotText => refused(file, error).hint(WAYS),
    })
}

fn refused(file: &Path, error: SecretError) -> Error {
    let message = format!("the token file {} cannot be used", file.display());
    Error::new(Exit::LocalFile, message).caused_by(error)
}
