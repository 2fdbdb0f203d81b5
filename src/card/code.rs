//! The codes of findings: stable words, each with what it means and what to do about it. One table,
//! from which the command line and the reports for other tools take their texts.

words! {
    /// What kind of fault a finding is; those of the text come before those of the card.
    FindingCode(title, help) {
        TooLarge => "card/too-large", "the text exceeds the size limit",
            "A card is a few kilobytes. A text above the limit is not examined.";
        NotUtf8 => "card/not-utf8", "the text is not UTF-8",
            "JSON is exchanged in UTF-8. The position is that of the first invalid byte; the text \
            after it was not examined. Save the file as UTF-8.";
        ByteOrderMark => "card/byte-order-mark", "the text begins with a byte order mark",
            "Many JSON parsers refuse a text that begins with the bytes EF BB BF. Save the file as \
             UTF-8 without a byte order mark (BOM, signature).";
        Empty => "card/empty", "the text is empty or only white space",
            "A card is one JSON object.";
        NotJson => "card/not-json", "the text is not JSON",
            "The position is where parsing stopped; the text after it was not examined. JSON has \
            no comments, no trailing commas and no single quotes, and nothing may follow its one value.";
        TooDeep => "card/too-deep", "the text is nested too deeply",
            "A card needs four levels of objects and arrays, and 128 are allowed. The position is \
            that of the first bracket beyond the limit; the text after it was not examined.";
        LoneSurrogate => "card/lone-surrogate", "an escape is an unpaired surrogate",
            "The escapes from \\ud800 to \\udfff represent a character only in pairs. JSON parsers \
            treat an unpaired one differently, and the card cannot be signed.";
        DuplicateProperty => "card/duplicate-property", "a property is repeated in one object",
            "Some parsers use the first value and some the last, so that the card has two meanings. \
             Names are compared after their escapes are resolved. Keep one.";
        NotAnObject => "card/not-an-object", "the text is JSON, but not an object",
            "A card is one JSON object. To pass several cards, use NDJSON, with one card per line.";
        MissingVersion => "card/missing-version", "protocolVersion is missing",
            "It determines the variant of the card: 1.0 or 1.2 is the current variant, 0.3 the \
            legacy one. Without it, the rest was compared with the variant that the card resembles.";
        UnknownVersion => "card/unknown-version", "protocolVersion is not a known version",
            "It must be exactly one of the strings 1.0 and 1.2 (current variant) or 0.3 (legacy \
            variant). The rest was compared with the variant that the card resembles.";
        MissingProperty => "card/missing-property", "a required property is missing",
            "The pointer shows where it belongs; the position is that of the object that lacks it.";
        UnknownProperty => "card/unknown-property", "a property is unknown",
            "Only the listed properties are allowed, except in the objects of security, whose \
            names can be chosen freely. Comments and private additions are not allowed either.";
        OtherVariant => "card/other-variant", "a property belongs to the other variant",
            "The variant follows from protocolVersion. Use the equivalent of this variant, or \
            convert the card with svcctl cards convert.";
        OfficialShape => "card/official-shape", "a property has the form of official A2A cards",
            "This format is similar to the official A2A agent card, but not the same. svcctl cards \
             explain lists all differences; svcctl cards convert converts the card.";
        WrongType => "card/wrong-type", "a value is of the wrong JSON type",
            "Types are exact: \"true\" and 1 are not booleans, and one string is not an array of strings. No \
             property of a card is a number.";
        Null => "card/null", "a value is null",
            "Null is never allowed. Omit an optional property instead.";
        UnknownValue => "card/unknown-value", "a value is not one of those allowed",
            "Values are compared exactly, including case and white space.";
        NotAUri => "card/not-a-uri", "a value is not a URI",
            "A URI of RFC 3986 begins with a scheme such as https: and consists of ASCII characters; \
             other characters, and spaces, are percent-encoded. Relative references are not allowed.";
        NotADateTime => "card/not-a-date-time", "a value is not a timestamp",
            "For example 2026-11-21T09:00:00Z: a calendar date, T, hours and minutes, optional \
             seconds and fraction, and Z or an offset such as +01:00.";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stable_and_differ() {
        let mut words: Vec<&str> = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
        assert!(words.iter().all(|word| word.starts_with("card/")));
        assert!(words.iter().all(|word| FindingCode::from_word(word).unwrap().as_str() == *word));
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), FindingCode::ALL.len());
    }
}
