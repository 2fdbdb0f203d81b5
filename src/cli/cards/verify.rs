//! `svcctl cards verify`: are the signatures of these cards those of keys one trusts?

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{sign, trusted};
use crate::card_signature::{self, Jwks, SignatureVerdict, VerifiedSignature};
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, escape};

/// Use trusted keys to verify the signatures of agent cards
///
/// Exits with 0 if every card is signed and all signatures are valid, 1 if not, and 74 if an input could not be
/// read; the other inputs are verified anyway. For each signature, the report says whether it is valid, is invalid
/// (and why), or was made with a key that is not trusted. The key determines the algorithm, and the card must
/// declare the same one. Keys that a card contains or refers to are never used.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards verify --jwks jwks.json agent-card.json
  svcctl cards verify --jwks https://keys.example/jwks.json -o json agents/*.json
")]
pub(crate) struct Args {
    /// Files with one card each, or - for standard input
    #[arg(value_name = "FILE", default_value = super::STDIN)]
    files: Vec<PathBuf>,

    /// Keys to trust: a JSON Web Key Set in a file, or at an https:// address
    #[arg(long, value_name = "FILE|URL")]
    jwks: String,
}

/// What is told of all files.
#[derive(Serialize)]
struct Document<'a> {
    cards: &'a [Told],
}

/// What is told of one file.
#[derive(Serialize)]
struct Told {
    file: String,
    /// It is a card, it has signatures, and all are valid.
    valid: bool,
    /// Why nothing could be verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    signatures: Vec<Line>,
    #[serde(skip)]
    is_unread: bool,
}

/// What is told of one signature.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    algorithm: String,
    key_id: String,
    /// `valid`, `invalid` or `no-such-key`.
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differs_at: Option<String>,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let keys = trusted::read(&args.jwks, global.request_timeout())?;
    let told: Vec<Told> = args.files.iter().map(|file| verify(file, &keys)).collect();
    match output.format() {
        Format::Table => output.raw(told.iter().map(text).collect::<String>().as_bytes())?,
        Format::Json => output.json(&Document { cards: &told })?,
        Format::Ndjson => output.lines(&told)?,
    }
    Ok(if told.iter().any(|told| told.is_unread) {
        Exit::LocalFile
    } else if told.iter().all(|told| told.valid) {
        Exit::Done
    } else {
        Exit::Failed
    })
}

fn verify(path: &Path, keys: &Jwks) -> Told {
    let file = path.to_string_lossy().into_owned();
    let failed = |is_unread, error: Error| Told {
        file: file.clone(),
        valid: false,
        error: Some(error.chain()),
        signatures: Vec::new(),
        is_unread,
    };
    let bytes = match super::read_one(path) {
        Ok(bytes) => bytes,
        Err(error) => return failed(true, error),
    };
    let verified = match card_signature::verify(&bytes, keys) {
        Ok(verified) => verified,
        Err(report) => return failed(false, sign::not_valid(path, &report)),
    };
    if verified.is_empty() {
        return failed(
            false,
            Error::new(Exit::Failed, format!("{} is not signed", path.display())),
        );
    }
    let valid = verified.iter().all(|signature| signature.verdict == SignatureVerdict::Valid);
    let signatures = verified.into_iter().map(line).collect();
    Told { file, valid, error: None, signatures, is_unread: false }
}

fn line(verified: VerifiedSignature) -> Line {
    let (verdict, reason, differs_at) = match verified.verdict {
        SignatureVerdict::Valid => ("valid", None, None),
        SignatureVerdict::NoSuchKey => ("no-such-key", None, None),
        SignatureVerdict::Invalid { reason, differs_at } => ("invalid", Some(reason), differs_at),
    };
    Line {
        algorithm: verified.algorithm,
        key_id: verified.key_id,
        verdict,
        reason: reason.map(card_signature::Reason::as_str),
        message: reason.map(card_signature::Reason::says),
        differs_at,
    }
}

fn text(told: &Told) -> String {
    if let Some(error) = &told.error {
        return format!("{}\n", escape(error));
    }
    let shown = |(place, line): (usize, &Line)| {
        let verdict = match (line.verdict, line.reason, line.message) {
            ("no-such-key", ..) => "none of the trusted keys has this id".to_owned(),
            (verdict, Some(reason), Some(message)) => format!("{verdict} ({reason}): {message}"),
            (verdict, ..) => verdict.to_owned(),
        };
        let place = place + 1;
        let (file, algorithm, key) = (&told.file, &line.algorithm, &line.key_id);
        let differs = match line.differs_at.as_deref() {
            Some("") | None => String::new(),
            Some(pointer) => format!(", which differs at {pointer}"),
        };
        let text =
            format!("{file}: signature {place}, {algorithm} by \"{key}\": {verdict}{differs}");
        format!("{}\n", escape(&text))
    };
    told.signatures.iter().enumerate().map(shown).collect()
}
