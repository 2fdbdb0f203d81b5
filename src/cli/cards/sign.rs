//! `svcctl cards sign`: a signature over a card, written into it.

use std::path::{Path, PathBuf};

use crate::card::ValidationReport;
use crate::card_signature::{KeyError, SignError, Signer};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::crypto::secret;

/// Sign an agent card, and print it with the signature
///
/// The signature covers the canonical form of the card (RFC 8785), without the signatures that it contains. The
/// layout, the order of properties and the other signatures can therefore change without making the signature invalid;
/// nothing else can.
/// The card is printed unchanged, with one more signature. The key determines the algorithm: ES256 for EC P-256,
/// RS256 for RSA of at least 2048 bits, EdDSA for Ed25519. Only a valid card of the current variant is signed. If
/// the card is to contain signedAt, add it before signing, because the signature covers that property.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  openssl genpkey -algorithm ed25519 -out key.pem && chmod 600 key.pem
  svcctl cards sign --key key.pem --key-id 2026-11 card.json > agent-card.json
  svcctl cards sign --key key.pem --key-id 2026-11 --replace agent-card.json > new-card.json
")]
pub(crate) struct Args {
    /// File with the card, or - for standard input
    #[arg(default_value = super::STDIN)]
    file: PathBuf,

    #[command(flatten)]
    key: Key,

    /// Replace all signatures of the card with the new one
    #[arg(long)]
    replace: bool,
}

/// The private key.
#[derive(clap::Args, Debug)]
pub(super) struct Key {
    /// File with the private key in PEM format; refused if users outside its group can read it
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// ID by which verifiers find the key
    #[arg(long, value_name = "ID")]
    key_id: String,
}

impl Key {
    pub(super) fn read(&self) -> Result<Signer, Error> {
        let shown = self.key.display();
        let refused = |error: Box<dyn std::error::Error + Send + Sync>| {
            Error::new(Exit::LocalFile, format!("the key file {shown} cannot be used"))
                .caused_by(error)
        };
        let pem = secret::read_file(&self.key).map_err(|error| {
            let hint = match error {
                secret::SecretError::Exposed { .. } => format!("chmod 600 {shown}"),
                _ => KINDS.to_owned(),
            };
            refused(error.into()).hint(hint)
        })?;
        Signer::new(&pem, &self.key_id).map_err(|error| match error {
            KeyError::KeyId => Error::new(Exit::Usage, "--key-id is refused").caused_by(error),
            KeyError::NotPem | KeyError::Unusable => refused(error.into()).hint(KINDS),
        })
    }
}

const KINDS: &str = "make one with: openssl genpkey -algorithm ed25519 -out key.pem";

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let signer = args.key.read()?;
    let bytes = super::read_one(&args.file)?;
    let signed = signer.sign(&bytes, args.replace).map_err(|error| refused(&args.file, error))?;
    output.raw(signed.as_bytes())?;
    Ok(Exit::Done)
}

fn refused(file: &Path, error: SignError) -> Error {
    let shown = file.display();
    let hint = match &error {
        SignError::NotValid(report) => return not_valid(file, report),
        SignError::Legacy => {
            format!("convert it first: svcctl cards convert --to current {shown}")
        }
        SignError::Stale | SignError::Twice => {
            "use --replace to replace all its signatures with the new one".to_owned()
        }
        SignError::Failed => "run it again".to_owned(),
    };
    Error::new(Exit::Failed, format!("cannot sign {shown}")).caused_by(error).hint(hint)
}

/// Says why a card can neither be signed nor verified.
pub(super) fn not_valid(file: &Path, report: &ValidationReport) -> Error {
    let shown = file.display();
    // What is wrong with its signatures matters most here.
    let of_signatures =
        report.findings.iter().find(|finding| finding.pointer.starts_with("/signatures/"));
    let told = of_signatures.or(report.findings.first()).map(|finding| match &finding.suggestion {
        Some(suggestion) => format!("{}; {suggestion}", finding.message),
        None => finding.message.clone(),
    });
    let told = told.unwrap_or_default();
    Error::new(Exit::Failed, format!("{shown} is not a valid card: {told}"))
        .hint(format!("svcctl cards validate {shown}"))
}
