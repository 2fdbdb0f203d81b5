//! Authenticated encryption with AES-256-GCM. Without the key, sealed data can be neither read nor changed unnoticed.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

/// Length of a key, in bytes.
pub const KEY_BYTES: usize = 32;
/// Length of a nonce, in bytes.
pub const NONCE_BYTES: usize = 12;

/// A key of AES-256-GCM. It has no `Debug`, so that nothing prints it.
pub struct Key(LessSafeKey);

impl Key {
    /// Returns the key of these bytes, which must be random.
    #[must_use]
    pub fn new(bytes: &[u8; KEY_BYTES]) -> Self {
        let key = UnboundKey::new(&AES_256_GCM, bytes).expect("any 32 bytes are a key of AES-256");
        Self(LessSafeKey::new(key))
    }

    /// Encrypts `data` and authenticates it together with `context`, which is not part of the result. Returns the
    /// ciphertext and a tag of 16 bytes.
    ///
    /// No nonce may be used twice with one key. Random nonces are safe for 2^32 messages.
    #[must_use]
    pub fn seal(&self, nonce: [u8; NONCE_BYTES], context: &[u8], mut data: Vec<u8>) -> Vec<u8> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        self.0
            .seal_in_place_append_tag(nonce, Aad::from(context), &mut data)
            .expect("no data here has the 64 GiB that are too many for AES-GCM");
        data
    }

    /// Returns what was sealed with this key, nonce and context; `None` if any of them differs, or a byte of `sealed`.
    /// The tag is compared in constant time.
    #[must_use]
    pub fn open(
        &self,
        nonce: [u8; NONCE_BYTES],
        context: &[u8],
        mut sealed: Vec<u8>,
    ) -> Option<Vec<u8>> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let length = self.0.open_in_place(nonce, Aad::from(context), &mut sealed).ok()?.len();
        // The buffer still ends with the tag.
        sealed.truncate(length);
        Some(sealed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |byte: &u8| u8::try_from(char::from(*byte).to_digit(16).unwrap()).unwrap();
        hex.as_bytes().chunks(2).map(|pair| digit(&pair[0]) << 4 | digit(&pair[1])).collect()
    }

    /// Test case 16 of "The Galois/Counter Mode of Operation", `McGrew` and Viega.
    #[test]
    fn the_published_vector_comes_out() {
        let half = "feffe9928665731c6d6a8f9467308308";
        let key = Key::new(&bytes(&half.repeat(2)).try_into().unwrap());
        let nonce = bytes("cafebabefacedbaddecaf888").try_into().unwrap();
        let context = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        let data = bytes(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
             1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        );
        let sealed = bytes(
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
             8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662\
             76fc6ece0f4e1768cddf8853bb2d551b",
        );
        assert_eq!(key.seal(nonce, &context, data.clone()), sealed);
        assert_eq!(key.open(nonce, &context, sealed), Some(data));
    }

    #[test]
    fn nothing_else_opens() {
        let (key, nonce) = (Key::new(&[1; KEY_BYTES]), [2; NONCE_BYTES]);
        let sealed = key.seal(nonce, b"context", b"data".to_vec());
        let opens = |key: &Key, nonce, context: &[u8], sealed: &[u8]| {
            key.open(nonce, context, sealed.to_vec()).is_some()
        };
        assert!(opens(&key, nonce, b"context", &sealed));
        assert!(!opens(&Key::new(&[3; KEY_BYTES]), nonce, b"context", &sealed));
        assert!(!opens(&key, [3; NONCE_BYTES], b"context", &sealed));
        assert!(!opens(&key, nonce, b"another", &sealed));
        for length in 0..sealed.len() {
            assert!(!opens(&key, nonce, b"context", &sealed[..length]), "{length} bytes");
        }
        for place in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[place] ^= 1;
            assert!(!opens(&key, nonce, b"context", &altered), "byte {place}");
        }
    }
}
