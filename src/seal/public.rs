//! Public keys: which of them are good enough, and whether one made a signature.

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};

use super::object::Object;
use super::{Algorithm, Reason, decoded};

/// Fewest bits of an RSA key.
const RSA_BITS_MIN: usize = 2_048;

/// Keys of Ed25519 for which anybody can make signatures: the points of small order, in each of
/// their spellings, without the sign.
const SMALL_ORDER: [&str; 7] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

/// A key that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Public {
    /// The point, uncompressed.
    Es256(Vec<u8>),
    Rs256 {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    EdDsa(Vec<u8>),
}

impl Public {
    /// Reads a JSON Web Key.
    pub(super) fn parse(key: &Object) -> Result<Self, Reason> {
        let bytes = |name| key.text(name).and_then(decoded).ok_or(Reason::KeyUnusable);
        let public = match (key.text("kty"), key.text("crv")) {
            (Some("EC"), Some("P-256")) => {
                let (x, y) = (bytes("x")?, bytes("y")?);
                if x.len() != 32 || y.len() != 32 {
                    return Err(Reason::KeyUnusable);
                }
                Self::Es256([&[4], x.as_slice(), &y].concat())
            }
            (Some("OKP"), Some("Ed25519")) => Self::EdDsa(ed25519(bytes("x")?)?),
            (Some("RSA"), _) => rsa(bytes("n")?, bytes("e")?)?,
            _ => return Err(Reason::KeyUnusable),
        };
        if is_for(key, public.algorithm()) { Ok(public) } else { Err(Reason::KeyNotForThis) }
    }

    pub(super) const fn algorithm(&self) -> Algorithm {
        match self {
            Self::Es256(_) => Algorithm::Es256,
            Self::Rs256 { .. } => Algorithm::Rs256,
            Self::EdDsa(_) => Algorithm::EdDsa,
        }
    }

    /// Says whether a signature over a message was made with the private half.
    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Reason> {
        if signature.len() != self.signature_length() {
            return Err(Reason::SignatureMalformed);
        }
        let verified = match self {
            Self::Es256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            Self::EdDsa(point) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
            Self::Rs256 { modulus, exponent } => {
                RsaPublicKeyComponents { n: modulus.as_slice(), e: exponent.as_slice() }.verify(
                    &RSA_PKCS1_2048_8192_SHA256,
                    message,
                    signature,
                )
            }
        };
        verified.map_err(|_| Reason::SignatureWrong)
    }

    const fn signature_length(&self) -> usize {
        match self {
            Self::Es256(_) | Self::EdDsa(_) => 64,
            Self::Rs256 { modulus, .. } => modulus.len(),
        }
    }
}

fn ed25519(point: Vec<u8>) -> Result<Vec<u8>, Reason> {
    let mut unsigned = point.clone();
    if let Some(last) = unsigned.last_mut() {
        *last &= 0x7f;
    }
    let shown: String = unsigned.iter().map(|byte| format!("{byte:02x}")).collect();
    let is_good = point.len() == 32 && !SMALL_ORDER.contains(&shown.as_str());
    if is_good { Ok(point) } else { Err(Reason::KeyUnusable) }
}

fn rsa(modulus: Vec<u8>, exponent: Vec<u8>) -> Result<Public, Reason> {
    let zeros = modulus.first().ok_or(Reason::KeyUnusable)?.leading_zeros();
    if zeros == 8 || exponent.first().is_none_or(|byte| *byte == 0) {
        return Err(Reason::KeyUnusable);
    }
    let bits = modulus.len() * 8 - usize::try_from(zeros).unwrap_or(0);
    if bits < RSA_BITS_MIN {
        return Err(Reason::KeyTooSmall);
    }
    Ok(Public::Rs256 { modulus, exponent })
}

/// Says whether a key is meant for signatures of an algorithm, as far as it says anything.
fn is_for(key: &Object, algorithm: Algorithm) -> bool {
    let is_word =
        |name: &str, word: &str| key.get(name).is_none_or(|value| value.as_str() == Some(word));
    let can_verify = key.get("key_ops").is_none_or(|operations| {
        operations.as_array().is_some_and(|list| list.iter().any(|word| word == "verify"))
    });
    is_word("use", "sig") && is_word("alg", algorithm.as_str()) && can_verify
}
