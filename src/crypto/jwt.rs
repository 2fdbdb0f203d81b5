//! The cryptography behind the `jsonwebtoken` crate, which signs our own credential: RS256 on ring, and nothing else.
//! The crate panics without a provider, and we take none of those it offers; so callers call [`install`] first.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Signer, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::rand::SystemRandom;
use ring::signature::{
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    // Only for making JWKs from keys, which nothing here does.
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes the process use this module. Calling it again changes nothing.
pub(crate) fn install() {
    // The only error is that it was done before.
    PROVIDER.install_default().unwrap_or(());
}

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    if *algorithm != Algorithm::RS256 || key.family() != AlgorithmFamily::Rsa {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    let pair = RsaKeyPair::from_der(key.as_bytes()).map_err(|_| ErrorKind::InvalidKeyFormat)?;
    Ok(Box::new(Rs256Signer(pair)))
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    match (algorithm, key.kind()) {
        (Algorithm::RS256, DecodingKeyKind::SecretOrDer(der))
            if key.family() == AlgorithmFamily::Rsa =>
        {
            Ok(Box::new(Rs256Verifier(der.clone())))
        }
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

struct Rs256Signer(RsaKeyPair);

impl Signer<Vec<u8>> for Rs256Signer {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        let mut signed = vec![0; self.0.public().modulus_len()];
        self.0
            // PKCS #1 v1.5 is deterministic; ring takes the randomness for blinding.
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signed)
            .map_err(|_| signature::Error::new())?;
        Ok(signed)
    }
}

impl JwtSigner for Rs256Signer {
    fn algorithm(&self) -> Algorithm {
        Algorithm::RS256
    }
}

/// A public key, PKCS #1.
struct Rs256Verifier(Vec<u8>);

impl Verifier<Vec<u8>> for Rs256Verifier {
    fn verify(&self, message: &[u8], signed: &Vec<u8>) -> Result<(), signature::Error> {
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &self.0)
            .verify(message, signed)
            .map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Rs256Verifier {
    fn algorithm(&self) -> Algorithm {
        Algorithm::RS256
    }
}
