//! Words as JSON.

/// Declares that the words of closed sets are JSON strings.
macro_rules! word_as_text {
    ($($type:ty)*) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(word: D) -> Result<Self, D::Error> {
                let known = Self::from_word(&<String as serde::Deserialize>::deserialize(word)?);
                known.ok_or_else(|| serde::de::Error::custom(concat!("no ", stringify!($type))))
            }
        }
    )*};
}
