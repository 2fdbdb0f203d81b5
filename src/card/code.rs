//! The codes of findings: stable words, each with what it means and what to do about it. One table,
//! from which the command line and the reports for other tools take their texts.

words! {
    /// What kind of fault a finding is; those of the text come before those of the card.
    Code(title, help) {
        TooLarge => "card/too-large", "the text exceeds the size limit",
            "A card is a few kilobytes. A text above the limit is not examined.";
        NotUtf8 => "card/not-utf8", "the text is not UTF-8",
            "JSON is exchanged in UTF-8. The place is that of the first byte that does not belong; \
             the text after it was not examined. Save the file as UTF-8.";
        ByteOrderMark => "card/byte-order-mark", "the text begins with a byte order mark",
            "Many readers of JSON refuse a text that begins with the bytes EF BB BF. Save the file as \
             UTF-8 without a byte order mark (BOM, signature).";
        Empty => "card/empty", "the text is empty or only white space",
            "A card is one JSON object.";
        NotJson => "card/not-json", "the text is not JSON",
            "The place is where reading had to stop; the text after it was not examined. JSON has no \
             comments, no trailing commas, no single quotes, and nothing behind its one value.";
        TooDeep => "card/too-deep", "the text is nested too deeply",
            "A card needs four levels of objects and arrays, and 128 are read. The place is that of \
             the bracket that is one too many; the text after it was not examined.";
        LoneSurrogate => "card/lone-surrogate", "an escape is an unpaired surrogate",
            "The escapes from \\ud800 to \\udfff stand for a character only in pairs. Readers of JSON \
             disagree about one alone, and no signature can be made over it.";
        DuplicateProperty => "card/duplicate-property", "a property is repeated in one object",
            "Some readers take the first value and some the last, so that one card has two meanings. \
             Names are compared after their escapes are resolved. Keep one.";
        NotAnObject => "card/not-an-object", "the text is JSON, but not an object",
            "A card is one JSON object. Several cards go into NDJSON, one on each line.";
        MissingVersion => "card/missing-version", "protocolVersion is missing",
            "It says which variant the card is: 1.0 or 1.2 the current, 0.3 the legacy one. Without it \
             the rest was compared with the variant the card looks like.";
        UnknownVersion => "card/unknown-version", "protocolVersion is none of the known ones",
            "It is one of the strings 1.0 and 1.2 (current) and 0.3 (legacy), exactly. The rest was \
             compared with the variant the card looks like.";
        MissingProperty => "card/missing-property", "a required property is missing",
            "The pointer says where it would stand; the place is that of the object that lacks it.";
        UnknownProperty => "card/unknown-property", "a property is not known",
            "Only the listed properties are allowed, in every object but those of security, whose \
             names are free. This holds for comments and private additions too.";
        OtherVariant => "card/other-variant", "a property belongs to the other variant",
            "The variant follows from protocolVersion. Write what this variant has in its place, or \
             convert the card with svcctl cards convert.";
        OfficialShape => "card/official-shape", "a property has the form of official A2A cards",
            "This format is similar to the official A2A agent card, but not the same. svcctl cards \
             explain lists all differences; svcctl cards convert converts the card.";
        WrongType => "card/wrong-type", "a value is of the wrong JSON type",
            "Types are exact: \"true\" and 1 are no booleans, and one string is no array of strings. No \
             property of a card is a number.";
        Null => "card/null", "a value is null",
            "Null is never allowed. Leave an optional property out.";
        UnknownValue => "card/unknown-value", "a value is none of those allowed",
            "Words are compared exactly, case and white space included.";
        NotAUri => "card/not-a-uri", "a value is not a URI",
            "A URI of RFC 3986 begins with a scheme such as https: and consists of ASCII characters; \
             others, and spaces, are written as percent escapes. Relative references are not allowed.";
        NotADateTime => "card/not-a-date-time", "a value is not an instant",
            "Such as 2026-11-21T09:00:00Z: a date of the calendar, T, hours and minutes, optional \
             seconds and fraction, and Z or an offset such as +01:00.";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stable_and_differ() {
        let mut words: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(words.iter().all(|word| word.starts_with("card/")));
        assert!(words.iter().all(|word| Code::from_word(word).unwrap().as_str() == *word));
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Code::ALL.len());
    }
}
