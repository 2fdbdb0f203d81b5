//! Why a signature is not valid: stable words, each with what it means.

use crate::crypto::jose::key::{KeyFault, SignatureFault};

words! {
    /// Why a signature is not valid, in the order in which the reasons are looked for.
    Reason(says) {
        TooMany => "too-many", "only the first 64 signatures of a card are looked at";
        NotCompact => "not-compact", "it is not three parts with full stops between them";
        TooLarge => "too-large", "its header or its last part is longer than any signature needs";
        NotBase64url => "not-base64url", "a part is not base64url without padding, in its one spelling";
        HeaderNotJson => "header-not-json", "its header is not one JSON object";
        HeaderDuplicate => "header-duplicate", "a name is repeated in its header";
        HeaderCritical => "header-critical", "its header asks for an extension (crit)";
        HeaderUnencoded => "header-unencoded", "its header asks for another form of payload (b64)";
        HeaderKey => "header-key", "its header brings or points to a key of its own, which is not trusted";
        OtherType => "other-type", "its header says that it is no signature of a card (typ)";
        AlgorithmUnknown => "algorithm-unknown", "its header names none of the allowed algorithms (alg)";
        AlgorithmDiffers => "algorithm-differs", "its header names another algorithm than the card (alg)";
        KeyIdDiffers => "key-id-differs", "its header names another key than the card, or none (kid)";
        KeyAmbiguous => "key-ambiguous", "several of the trusted keys have its key id";
        KeyUnusable => "key-unusable", "the trusted key of its key id is none that can be used";
        KeyTooSmall => "key-too-small", "the trusted key of its key id is an RSA key of less than 2048 bits";
        KeyNotForThis => "key-not-for-this", "the trusted key of its key id is not meant for signatures, or not for this algorithm";
        KeyMismatch => "key-mismatch", "the trusted key of its key id is for another algorithm than the card declares";
        PayloadMissing => "payload-missing", "it does not hold what was signed";
        PayloadDiffers => "payload-differs", "it was made over another card";
        SignatureMalformed => "signature-malformed", "its last part is not as long as such a signature is";
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
