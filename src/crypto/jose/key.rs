//! Public keys (RFC 7517): which of them are strong enough, and whether one made a signature.

use std::ops::RangeInclusive;

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};

use super::{Algorithm, decode};
use crate::json::Object;

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

/// Bytes of an RSA modulus of an issuer: 2048 to 8192 bits.
const ISSUER_MODULUS_BYTES: RangeInclusive<usize> = 256..=1024;
/// The one exponent in use: 65537. Signatures of smaller ones have been forged.
const ISSUER_EXPONENT: [u8; 3] = [1, 0, 1];

/// A key that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// The point, uncompressed.
    Es256(Vec<u8>),
    /// Big-endian, as published.
    Rs256 {
        /// `n`.
        modulus: Vec<u8>,
        /// `e`.
        exponent: Vec<u8>,
    },
    /// The point.
    EdDsa(Vec<u8>),
}

/// Why a JSON Web Key cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFault {
    /// It is of another kind, damaged, or one for which anybody can sign.
    Unusable,
    /// An RSA key of less than 2048 bits.
    TooSmall,
    /// It is meant for something else than signatures, or for another algorithm.
    NotForSignatures,
}

/// Why a signature does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureFault {
    /// It is not as long as a signature of this key is.
    Malformed,
    /// It was not made with the private half, or over another message.
    Wrong,
}

impl PublicKey {
    /// Reads a JSON Web Key.
    ///
    /// # Errors
    /// By why it cannot be used.
    pub fn read(key: &Object<'_>) -> Result<Self, KeyFault> {
        let text = |name| key.member::<String>(name);
        let bytes = |name| text(name).as_deref().and_then(decode).ok_or(KeyFault::Unusable);
        let public = match (text("kty").as_deref(), text("crv").as_deref()) {
            (Some("EC"), Some("P-256")) => {
                // A coordinate keeps its leading zeros (RFC 7518, 6.2.1.2), so it always has 32 bytes.
                let (x, y) = (bytes("x")?, bytes("y")?);
                if x.len() != 32 || y.len() != 32 {
                    return Err(KeyFault::Unusable);
                }
                // 0x04 marks an uncompressed point (SEC 1, 2.3.3). ring checks that it lies on the curve when it
                // verifies.
                Self::Es256([&[4], x.as_slice(), &y].concat())
            }
            (Some("OKP"), Some("Ed25519")) => Self::EdDsa(ed25519(bytes("x")?)?),
            (Some("RSA"), _) => rsa(bytes("n")?, bytes("e")?)?,
            _ => return Err(KeyFault::Unusable),
        };
        if is_for(key, public.algorithm()) { Ok(public) } else { Err(KeyFault::NotForSignatures) }
    }

    /// Returns what it verifies.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        match self {
            Self::Es256(_) => Algorithm::Es256,
            Self::Rs256 { .. } => Algorithm::Rs256,
            Self::EdDsa(_) => Algorithm::EdDsa,
        }
    }

    /// Says whether it is as issuers of tokens publish keys today: an RSA key has the usual exponent and no more
    /// than 8192 bits.
    #[must_use]
    pub fn is_fit_for_issuer(&self) -> bool {
        match self {
            Self::Es256(_) | Self::EdDsa(_) => true,
            Self::Rs256 { modulus, exponent } => {
                ISSUER_MODULUS_BYTES.contains(&modulus.len())
                    // With the top bit set, the modulus has eight bits for each of its bytes.
                    && modulus.first().is_some_and(|high| *high >= 0x80)
                    && *exponent == ISSUER_EXPONENT
            }
        }
    }

    /// Checks that a signature over a message was made with the private half.
    ///
    /// # Errors
    /// When it was not.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureFault> {
        // Checked here because ring gives one error for everything, and reports tell the two faults apart.
        if signature.len() != self.signature_length() {
            return Err(SignatureFault::Malformed);
        }
        let verified = match self {
            Self::Es256(point) => {
                // JWS has r and s as 64 bytes (RFC 7518, 3.4), not as ASN.1.
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
        verified.map_err(|_| SignatureFault::Wrong)
    }

    const fn signature_length(&self) -> usize {
        match self {
            Self::Es256(_) | Self::EdDsa(_) => 64,
            Self::Rs256 { modulus, .. } => modulus.len(),
        }
    }
}

fn ed25519(point: Vec<u8>) -> Result<Vec<u8>, KeyFault> {
    let mut unsigned = point.clone();
    if let Some(last) = unsigned.last_mut() {
        // The top bit is the sign of x (RFC 8032, 5.1.2), which the table omits.
        *last &= 0x7f;
    }
    let shown: String = unsigned.iter().map(|byte| format!("{byte:02x}")).collect();
    let is_good = point.len() == 32 && !SMALL_ORDER.contains(&shown.as_str());
    if is_good { Ok(point) } else { Err(KeyFault::Unusable) }
}

fn rsa(modulus: Vec<u8>, exponent: Vec<u8>) -> Result<PublicKey, KeyFault> {
    let zeros = modulus.first().ok_or(KeyFault::Unusable)?.leading_zeros();
    // Base64urlUInt has no leading zeros (RFC 7518, 2), so the length below is that of the number.
    if zeros == 8 || exponent.first().is_none_or(|byte| *byte == 0) {
        return Err(KeyFault::Unusable);
    }
    let bits = modulus.len() * 8 - usize::try_from(zeros).unwrap_or(0);
    if bits < RSA_BITS_MIN {
        return Err(KeyFault::TooSmall);
    }
    Ok(PublicKey::Rs256 { modulus, exponent })
}

/// Says whether a key is meant for signatures of an algorithm, as far as it says anything.
fn is_for(key: &Object<'_>, algorithm: Algorithm) -> bool {
    let absent_or = |name, text| !key.has(name) || key.is(name, text);
    let verifies = |operations: Vec<String>| operations.iter().any(|word| word == "verify");
    // All three members are optional (RFC 7517, 4.2 to 4.4).
    absent_or("use", "sig")
        && absent_or("alg", algorithm.as_str())
        && (!key.has("key_ops") || key.member("key_ops").is_some_and(verifies))
}
