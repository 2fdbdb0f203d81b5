//! Cards made by chance: valid ones of both variants, with every property they may have.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

type Made = BoxedStrategy<Value>;

/// A valid card.
pub(crate) fn card() -> Made {
    prop_oneof![3 => current(), 1 => legacy()].boxed()
}

fn current() -> Made {
    object(vec![
        must("protocolVersion", word(&["1.0", "1.2"])),
        must("name", text()),
        must("description", text()),
        must("url", uri()),
        must("version", text()),
        may("capabilities", capabilities()),
        may("defaultInputModes", texts()),
        may("defaultOutputModes", texts()),
        may("documentationUrl", uri()),
        may("iconUrl", uri()),
        may("modelHints", texts()),
        may("protocolBinding", text()),
        may("transport", word(&["http", "sse", "ws", "grpc"])),
        may("provider", provider()),
        may("extensions", list(extension())),
        may("security", list(scopes())),
        may("securitySchemes", list(scheme())),
        may("signatures", list(signature())),
        may("signedAt", instant()),
        may("skills", list(skill())),
        may("supportedInterfaces", list(interface())),
    ])
}

fn legacy() -> Made {
    object(vec![
        must("protocolVersion", word(&["0.3"])),
        must("name", text()),
        must("description", text()),
        must("url", uri()),
        must("version", text()),
        may("authentication", list(scheme())),
        may("capabilities", capabilities()),
        may("defaultInputMode", text()),
        may("defaultOutputMode", text()),
        may("iconUrl", uri()),
        may("provider", provider()),
        may("skills", list(skill())),
        may("supportsAuthenticatedExtendedCard", flag()),
    ])
}

fn capabilities() -> Made {
    object(vec![
        may("backgroundJobs", flag()),
        may("extendedAgentCard", flag()),
        may("mcpCompatible", flag()),
        may("pushNotifications", flag()),
        may("stateTransitionHistory", flag()),
        may("streaming", flag()),
    ])
}

fn provider() -> Made {
    object(vec![must("name", text()), must("url", uri())])
}

fn extension() -> Made {
    object(vec![must("uri", uri()), may("required", flag()), may("version", text())])
}

fn signature() -> Made {
    let algorithm = word(&["ES256", "RS256", "EdDSA"]);
    object(vec![must("algorithm", algorithm), must("keyId", text()), must("jws", text())])
}

fn interface() -> Made {
    object(vec![
        must("url", uri()),
        must("protocolBinding", word(&["HTTP+JSON", "gRPC", "WebSocket"])),
        must("protocolVersion", word(&["0.3", "1.0", "1.2"])),
    ])
}

fn skill() -> Made {
    object(vec![
        must("id", text()),
        must("name", text()),
        must("description", text()),
        may("examples", texts()),
        may("inputModes", texts()),
        may("outputModes", texts()),
        may("tags", texts()),
    ])
}

fn scheme() -> Made {
    let audience = || prop_oneof![text(), texts()].boxed();
    let key = object(vec![
        must("type", word(&["apiKey"])),
        must("id", text()),
        must("in", word(&["header", "query"])),
        must("name", text()),
        may("description", text()),
    ]);
    let http = object(vec![
        must("type", word(&["http"])),
        must("id", text()),
        must("scheme", word(&["bearer"])),
        may("algorithms", texts()),
        may("audience", audience()),
        may("bearerFormat", text()),
        may("description", text()),
        may("issuer", text()),
        may("jwksUri", uri()),
    ]);
    let open_id = object(vec![
        must("type", word(&["openIdConnect"])),
        must("id", text()),
        must("openIdConnectUrl", uri()),
        may("algorithms", texts()),
        may("audience", audience()),
        may("description", text()),
        may("issuer", text()),
        may("jwksUri", uri()),
    ]);
    prop_oneof![key, http, open_id].boxed()
}

fn scopes() -> Made {
    let names = prop_oneof!["[a-z]{0,8}", Just("__proto__".to_owned()), Just("a/b~".to_owned())];
    let pairs = prop::collection::btree_map(names, texts(), 0..4);
    pairs.prop_map(|pairs| Value::Object(pairs.into_iter().collect())).boxed()
}

/// An instant, at the edges of what is one.
pub(crate) fn instant() -> Made {
    let date = (0..=9999_u32, 1..=12_u32, 1..=28_u32);
    let leap = prop_oneof![Just(2000_u32), Just(2024), Just(0)].prop_map(|year| (year, 2, 29));
    let date = prop_oneof![4 => date, 1 => leap];
    let time = (0..24_u32, 0..60_u32, prop::option::of((0..60_u32, "(\\.[0-9]{1,12})?")));
    let offset = prop_oneof![
        Just("Z".to_owned()),
        ("[+-]", 0..24_u32, 0..60_u32)
            .prop_map(|(sign, hour, minute)| format!("{sign}{hour:02}:{minute:02}")),
    ];
    (date, time, offset)
        .prop_map(|((year, month, day), (hour, minute, second), offset)| {
            let second = second
                .map_or(String::new(), |(second, fraction)| format!(":{second:02}{fraction}"));
            json!(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}{second}{offset}"))
        })
        .boxed()
}

/// A URI of RFC 3986.
pub(crate) fn uri() -> Made {
    let host = prop_oneof![
        Just("a.example".to_owned()),
        "[a-z0-9.-]{0,12}",
        Just("[::1]".to_owned()),
        Just("[2001:db8::7]".to_owned()),
        Just("127.0.0.1".to_owned()),
        Just("u:p@h".to_owned()),
    ];
    let path = "(/[A-Za-z0-9._~!$&'()*+,;=:@-]{0,8}){0,3}";
    let rest = "(/%[0-9A-F]{2})?(\\?[a-z=&/?%2]{0}[a-z=&/?]{0,6})?(#[a-z/?]{0,4})?";
    let web = ("https?|wss?|grpc", host, "(:[0-9]{0,5})?", path, rest).prop_map(
        |(scheme, host, port, path, rest)| format!("{scheme}://{host}{port}{path}{rest}"),
    );
    let other = "[a-z][a-z0-9+.-]{0,6}:[A-Za-z0-9:@.-]{0,10}";
    prop_oneof![4 => web, 1 => other].prop_map(Value::String).boxed()
}

fn text() -> Made {
    let plain = "[A-Za-z0-9 .,:/-]{0,24}";
    let odd = prop::collection::vec(any::<char>(), 0..8).prop_map(String::from_iter);
    prop_oneof![6 => plain, 1 => odd].prop_map(Value::String).boxed()
}

fn texts() -> Made {
    list(text())
}

fn flag() -> Made {
    any::<bool>().prop_map(Value::Bool).boxed()
}

fn word(words: &'static [&'static str]) -> Made {
    prop::sample::select(words).prop_map(|word| json!(word)).boxed()
}

fn list(item: Made) -> Made {
    prop::collection::vec(item, 0..4).prop_map(Value::Array).boxed()
}

fn must(name: &'static str, value: Made) -> (&'static str, BoxedStrategy<Option<Value>>) {
    (name, value.prop_map(Some).boxed())
}

fn may(name: &'static str, value: Made) -> (&'static str, BoxedStrategy<Option<Value>>) {
    (name, prop::option::of(value).boxed())
}

fn object(fields: Vec<(&'static str, BoxedStrategy<Option<Value>>)>) -> Made {
    let (names, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    values
        .prop_map(move |values| {
            let set = names.iter().zip(values).filter_map(|(name, value)| Some((*name, value?)));
            Value::Object(set.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
        })
        .boxed()
}
