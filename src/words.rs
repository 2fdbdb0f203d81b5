//! Closed sets of stable words: what operators, programs and alerts match on.

/// A value of a closed set, by its stable word. The sets have the same functions of their own; this is for
/// code that is the same for all of them.
pub trait Word: Copy {
    /// Returns the stable word.
    fn word(self) -> &'static str;

    /// Returns the value a stable word stands for.
    fn of_word(word: &str) -> Option<Self>;
}

/// Declares a closed set of stable words, in the order of the documentation.
///
/// With names in parentheses, each word has so many texts beside it, which functions of those names return;
/// the first one is the documentation of the value.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident => $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the stable word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Returns the value a stable word stands for.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }

        impl $crate::words::Word for $name {
            fn word(self) -> &'static str {
                self.as_str()
            }

            fn of_word(word: &str) -> Option<Self> {
                Self::from_word(word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
    ($(#[$doc:meta])* $name:ident ($first:ident) {
        $($variant:ident => $word:literal, $text:literal;)*
    }) => {
        words! { $(#[$doc])* $name { $(#[doc = $text] $variant => $word,)* } }

        impl $name {
            #[doc = concat!("Returns its ", stringify!($first), ".")]
            #[must_use]
            pub const fn $first(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
    ($(#[$doc:meta])* $name:ident ($first:ident, $second:ident) {
        $($variant:ident => $word:literal, $text:literal, $more:literal;)*
    }) => {
        words! { $(#[$doc])* $name ($first) { $($variant => $word, $text;)* } }

        impl $name {
            #[doc = concat!("Returns its ", stringify!($second), ".")]
            #[must_use]
            pub const fn $second(self) -> &'static str {
                match self { $(Self::$variant => $more,)* }
            }
        }
    };
}
