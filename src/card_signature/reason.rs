//! Why a signature is not valid: stable words, each with what it means.

use crate::crypto::jose::key::{KeyFault, SignatureFault};

words! {
    /// Why a signature is not valid, in the order in which the reasons are looked for.
    Reason(says) {
        TooMany => "too-many", "only the first 64 signatures of a card are verified";
        NotCompact => "not-compact", "it does not consist of three parts separated by periods";
        TooLarge => "too-large", "its header or its last part is too long";
        NotBase64url => "not-base64url", "a part is not canonical base64url without padding";
        HeaderNotJson => "header-not-json", "its header is not one JSON object";
        HeaderDuplicate => "header-duplicate", "a name is repeated in its header";
        HeaderCritical => "header-critical", "its header requires an extension (crit)";
        HeaderUnencoded => "header-unencoded", "its header requires another encoding of the payload (b64)";
        OtherType => "other-type", "its header declares that it does not sign a card (typ)";
        AlgorithmUnknown => "algorithm-unknown", "its header does not name an allowed algorithm (alg)";
        AlgorithmDiffers => "algorithm-differs", "its header and the card name different algorithms (alg)";
        KeyIdDiffers => "key-id-differs", "its header does not name the same key as the card (kid)";
        KeyAmbiguous => "key-ambiguous", "several of the trusted keys have its key id";
        KeyUnusable => "key-unusable", "the trusted key with its key id cannot be used";
        KeyTooSmall => "key-too-small", "the trusted key with its key id is an RSA key with less \
        than 2048 bits";
        KeyNotForThis => "key-not-for-this", "the trusted key with its key id is not intended for \
        signatures, or not for this algorithm";
        KeyMismatch => "key-mismatch", "the trusted key with its key id is for a different \
        algorithm than the card declares";
        PayloadMissing => "payload-missing", "its payload is detached, as in official A2A cards; sign the \
        card again: svcctl cards sign --replace";
        PayloadDiffers => "payload-differs", "it was made for other content than this card";
        SignatureMalformed => "signature-malformed", "its last part does not have the length of \
        such a signature";
        SignatureWrong => "signature-wrong", "it was not made with the trusted key, or was altered";
    }
}

impl From<KeyFault> for Reason {
    fn from(fault: KeyFault) -> Self {
        match fault {
            KeyFault::Unusable => Self::KeyUnusable,
            KeyFault::TooSmall => Self::KeyTooSmall,
            KeyFault::NotForSignatures => Self::KeyNotForThis,
        }
    }
}

impl From<SignatureFault> for Reason {
    fn from(fault: SignatureFault) -> Self {
        match fault {
            SignatureFault::Malformed => Self::SignatureMalformed,
            SignatureFault::Wrong => Self::SignatureWrong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_differ() {
        let mut words: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Reason::ALL.len());
    }
}
