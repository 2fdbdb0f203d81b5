//! What opens, and that nothing else does.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const KEY: [u8; KEY_BYTES] = [7; KEY_BYTES];
const NONCE: [u8; NONCE_BYTES] = [9; NONCE_BYTES];
const END: Timestamp = Timestamp::from_micros(1_795_251_600_000_000);

fn sealer() -> Sealer {
    Sealer::new(KEY)
}

fn just_before(instant: Timestamp) -> Timestamp {
    Timestamp::from_micros(instant.micros() - 1)
}

fn binding() -> Binding {
    Binding {
        subject: "https://issuer.test alice".to_owned(),
        client: "editor".to_owned(),
        method: "tools/call".to_owned(),
        params_digest: params_digest(&json!({ "name": "publish" })),
    }
}

fn sealed(state: &Value) -> String {
    sealer().seal(NONCE, &binding(), END, state).unwrap()
}

fn fault(text: &str) -> Option<Fault> {
    sealer().open(text, &binding(), just_before(END)).err()
}

/// Returns a state whose text has so many bytes.
fn state_of(bytes: usize) -> Value {
    Value::from("x".repeat(bytes - 2))
}

/// The text was made with another implementation of AES-256-GCM from the layout as it is documented.
#[test]
fn the_layout_stays_as_it_is() {
    let state = json!({ "step": 2 });
    let text = "v1.CQkJCQkJCQkJCQkJAAZgxZXmhABcp_fg24DjW5IfMJxC3OAIcxEZi9jcC6D0BA";
    assert_eq!(sealed(&state), text);
    assert_eq!(fault(text), None);
}

#[test]
fn a_state_opens_before_its_expiry_and_not_from_then_on() {
    let text = sealed(&json!(["a", 1]));
    for (now, wanted) in [
        (Timestamp::MIN, None),
        (just_before(END), None),
        (END, Some(Fault::Expired)),
        (Timestamp::MAX, Some(Fault::Expired)),
    ] {
        assert_eq!(sealer().open(&text, &binding(), now).err(), wanted, "{now}");
    }
}

#[test]
fn another_key_opens_nothing() {
    let text = sealed(&json!(1));
    let other = Sealer::new([8; KEY_BYTES]);
    assert_eq!(other.open(&text, &binding(), just_before(END)).err(), Some(Fault::NotOurs));
}

#[test]
fn each_part_of_the_binding_counts_and_where_it_ends() {
    let text = sealed(&json!(1));
    let moved = Binding {
        subject: "https://issuer.test alicee".to_owned(),
        client: "ditor".to_owned(),
        ..binding()
    };
    let others = [
        Binding { subject: "https://issuer.test bob".to_owned(), ..binding() },
        Binding { subject: String::new(), ..binding() },
        Binding { client: "editor2".to_owned(), ..binding() },
        Binding { method: "prompts/get".to_owned(), ..binding() },
        Binding { params_digest: params_digest(&json!({ "name": "delete" })), ..binding() },
        moved,
    ];
    for (number, other) in others.iter().enumerate() {
        // Also after its expiry: who may not use it learns nothing of it.
        for instant in [just_before(END), END] {
            assert_eq!(
                sealer().open(&text, other, instant).err(),
                Some(Fault::NotOurs),
                "{number}"
            );
        }
    }
}

#[test]
fn parameters_are_the_same_in_any_order_and_spacing_and_differ_in_any_value() {
    let digest = |text: &str| params_digest(&serde_json::from_str(text).unwrap());
    let one = digest(r#"{"name":"a","arguments":{"x":1,"y":[1,2]}}"#);
    assert_eq!(one, digest(r#"{ "arguments": {"y":[1, 2], "x":1}, "n\u0061me": "a" }"#));
    for other in [
        r#"{"name":"a","arguments":{"x":1,"y":[2,1]}}"#,
        r#"{"name":"a","arguments":{"x":"1","y":[1,2]}}"#,
        r#"{"name":"a","arguments":{"x":1,"y":[1,2],"z":null}}"#,
        r#"{"name":"a","x":1,"arguments":{"y":[1,2]}}"#,
    ] {
        assert_ne!(one, digest(other), "{other}");
    }
    assert_ne!(digest("9007199254740993"), digest("9007199254740992"));
}

#[test]
fn a_text_has_at_most_eight_kibibytes() {
    // 36 bytes of nonce, expiry and tag; four characters for each three bytes.
    let longest = (TEXT_BYTES_MAX - VERSION.len()) / 4 * 3 - 36;
    let seal = |state: &Value| sealer().seal(NONCE, &binding(), END, state);
    let text = seal(&state_of(longest)).unwrap();
    assert_eq!(text.len(), TEXT_BYTES_MAX - 1, "no text has one byte more");
    assert_eq!(fault(&text), None);
    assert_eq!(seal(&state_of(longest + 1)), Err(TooLarge));
    // One that is longer is not read, though all else about it is right.
    let state = [vec![b' '; TEXT_BYTES_MAX], b"1".to_vec()].concat();
    let context = binding().context(END);
    let ciphertext = aead::Key::new(&KEY).seal(NONCE, &context, state);
    let long = [&NONCE[..], &END.micros().to_be_bytes(), &ciphertext].concat();
    assert_eq!(fault(&format!("{VERSION}{}", jose::encode(&long))), Some(Fault::Malformed));
}

#[test]
fn a_state_is_nested_no_deeper_than_can_be_read() {
    let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(fault(&sealed(&nested(DEPTH_MAX))), None);
    let deeper = sealer().seal(NONCE, &binding(), END, &nested(DEPTH_MAX + 1));
    assert_eq!(deeper, Err(TooLarge));
}

#[test]
fn what_is_no_text_of_ours_is_malformed() {
    let text = sealed(&json!(1));
    let encoded = text.strip_prefix(VERSION).unwrap();
    let short = jose::encode(&[0; NONCE_BYTES + 7]);
    let beyond = [&NONCE[..], &i64::MAX.to_be_bytes(), &[0; 32]].concat();
    for text in [
        String::new(),
        "v1.".to_owned(),
        "v1".to_owned(),
        encoded.to_owned(),
        format!("v2.{encoded}"),
        format!("V1.{encoded}"),
        format!("v1.{encoded}="),
        format!("v1.{encoded} "),
        format!(" v1.{encoded}"),
        format!("v1.{short}"),
        format!("v1.{}", jose::encode(&beyond)),
    ] {
        assert_eq!(fault(&text), Some(Fault::Malformed), "{text}");
    }
    let no_tag = format!("v1.{}", jose::encode(&[0; NONCE_BYTES + 8]));
    assert_eq!(fault(&no_tag), Some(Fault::NotOurs));
}

/// An expiry beyond the last instant that can be shown would otherwise read as that instant.
#[test]
fn the_last_instant_has_one_spelling() {
    let text = sealer().seal(NONCE, &binding(), Timestamp::MAX, &json!(1)).unwrap();
    assert_eq!(fault(&text), None);
    let mut sealed = jose::decode(text.strip_prefix(VERSION).unwrap()).unwrap();
    sealed[NONCE_BYTES] |= 0x40;
    let altered = format!("{VERSION}{}", jose::encode(&sealed));
    assert_eq!(fault(&altered), Some(Fault::Malformed));
}

fn any_state() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_binding() -> impl Strategy<Value = Binding> {
    (".{0,9}", ".{0,9}", "[a-z/]{0,9}", any::<[u8; 32]>()).prop_map(
        |(subject, client, method, digest)| Binding {
            subject,
            client,
            method,
            params_digest: digest.into(),
        },
    )
}

fn any_instant() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp::from_micros)
}

proptest! {
    #[test]
    fn what_was_sealed_opens_as_it_was_until_it_expires(
        (key, nonce) in any::<([u8; KEY_BYTES], [u8; NONCE_BYTES])>(),
        binding in any_binding(),
        (expires_at, now) in (any_instant(), any_instant()),
        state in any_state(),
    ) {
        let text = Sealer::new(key).seal(nonce, &binding, expires_at, &state).unwrap();
        match Sealer::new(key).open(&text, &binding, now) {
            Ok(opened) => {
                prop_assert!(now < expires_at);
                prop_assert_eq!((opened.nonce, opened.expires_at), (nonce, expires_at));
                prop_assert_eq!(opened.state, state);
            }
            Err(fault) => {
                prop_assert!(now >= expires_at);
                prop_assert_eq!(fault, Fault::Expired);
            }
        }
    }

    #[test]
    fn no_byte_of_a_text_can_be_changed(
        state in any_state(),
        place in any::<prop::sample::Index>(),
        byte in 0_u8..128,
        now in any_instant(),
    ) {
        let text = sealed(&state);
        let mut altered = text.clone().into_bytes();
        let place = place.index(altered.len());
        altered[place] = byte;
        prop_assume!(altered != text.as_bytes());
        let altered = String::from_utf8(altered).unwrap();
        let fault = sealer().open(&altered, &binding(), now).err();
        prop_assert!(matches!(fault, Some(Fault::Malformed | Fault::NotOurs)), "{:?}", fault);
    }

    #[test]
    fn no_bit_of_what_is_encoded_can_be_changed(
        state in any_state(),
        place in any::<prop::sample::Index>(),
        bit in 0_u32..8,
        now in any_instant(),
    ) {
        let mut bytes = jose::decode(sealed(&state).strip_prefix(VERSION).unwrap()).unwrap();
        let place = place.index(bytes.len());
        bytes[place] ^= 1_u8 << bit;
        let altered = format!("{VERSION}{}", jose::encode(&bytes));
        let fault = sealer().open(&altered, &binding(), now).err();
        prop_assert!(matches!(fault, Some(Fault::Malformed | Fault::NotOurs)), "{:?}", fault);
    }

    #[test]
    fn no_other_binding_opens(one in any_binding(), two in any_binding(), part in 0..5) {
        let other = match part {
            0 => Binding { subject: two.subject, ..one.clone() },
            1 => Binding { client: two.client, ..one.clone() },
            2 => Binding { method: two.method, ..one.clone() },
            3 => Binding { params_digest: two.params_digest, ..one.clone() },
            _ => two,
        };
        prop_assume!(one != other);
        let text = sealer().seal(NONCE, &one, END, &json!(1)).unwrap();
        let fault = sealer().open(&text, &other, just_before(END)).err();
        prop_assert_eq!(fault, Some(Fault::NotOurs));
    }

    #[test]
    fn any_text_is_refused(
        text in prop_oneof![
            any::<String>(),
            "v1\\.[A-Za-z0-9_-]{0,200}",
            prop::collection::vec(any::<u8>(), 0..200)
                .prop_map(|bytes| format!("v1.{}", jose::encode(&bytes))),
            prop::collection::vec(any::<u8>(), 16..200)
                .prop_map(|bytes| format!("v1.{}", jose::encode(
                    &[&NONCE[..], &END.micros().to_be_bytes(), &bytes].concat()
                ))),
        ],
        now in any_instant(),
    ) {
        let fault = sealer().open(&text, &binding(), now).err();
        prop_assert!(matches!(fault, Some(Fault::Malformed | Fault::NotOurs)), "{:?}", fault);
    }
}
