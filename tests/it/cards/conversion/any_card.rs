//! Cards of every kind, and then some: members that no kind has, other spellings, nulls, empty lists, and
//! values of other types. Each text of a card occurs once in it, so that it cannot be taken for another.

use serde_json::{Map, Value, json};

use crate::cards::agreement::Chance;

/// Makes a card.
pub(super) fn card(chance: &mut Chance) -> Value {
    let mut maker = Maker { chance, texts: 0 };
    let mut card = maker.plain();
    for _ in 0..maker.chance.below(4) {
        maker.spoil(&mut card, 0);
    }
    card
}

struct Maker<'a> {
    chance: &'a mut Chance,
    texts: usize,
}

/// What is asked for each member of a card: its name, and the kinds of cards that have it.
const MEMBERS: [(&str, &str); 27] = [
    ("protocolVersion", "cl23h"),
    ("url", "cl23h"),
    ("preferredTransport", "23h"),
    ("additionalInterfaces", "23h"),
    ("supportedInterfaces", "c1h"),
    ("capabilities", "cl23h1"),
    ("provider", "cl23h1"),
    ("defaultInputModes", "c23h1"),
    ("defaultOutputModes", "c23h1"),
    ("defaultInputMode", "l"),
    ("defaultOutputMode", "l"),
    ("skills", "cl23h1"),
    ("authentication", "l"),
    ("securitySchemes", "c23h1"),
    ("security", "c23h"),
    ("securityRequirements", "1h"),
    ("supportsAuthenticatedExtendedCard", "l23h"),
    ("signatures", "c3h1"),
    ("signedAt", "c"),
    ("documentationUrl", "c23h1"),
    ("iconUrl", "cl23h1"),
    ("modelHints", "c"),
    ("protocolBinding", "c"),
    ("transport", "c"),
    ("extensions", "c"),
    ("name", "cl23h1"),
    ("description", "cl23h1"),
];

impl Maker<'_> {
    fn is(&mut self, one_in: usize) -> bool {
        self.chance.below(one_in) == 0
    }

    fn text(&mut self) -> Value {
        self.texts += 1;
        json!(format!("text-{}", self.texts))
    }

    fn uri(&mut self) -> Value {
        self.texts += 1;
        json!(format!("https://a.example/{}", self.texts))
    }

    fn list(&mut self, most: usize, make: impl Fn(&mut Self) -> Value) -> Value {
        (0..self.chance.below(most + 1)).map(|_| make(self)).collect()
    }

    /// Makes a card as its kind has it: ours (c, l), official of 0.2, 0.3, 1.x, or of two versions (h).
    fn plain(&mut self) -> Value {
        let kind = *self.chance.pick(&['c', 'l', '2', '3', '1', 'h']);
        let mut card = Map::new();
        card.insert("version".to_owned(), self.text());
        for (name, kinds) in MEMBERS {
            let is_base = ["protocolVersion", "name", "description", "url"].contains(&name);
            if kinds.contains(kind) && (is_base || self.is(3)) {
                let value = self.member(name, kind);
                card.insert(name.to_owned(), value);
            }
        }
        Value::Object(card)
    }

    fn member(&mut self, name: &str, kind: char) -> Value {
        match name {
            "protocolVersion" => json!(match kind {
                'c' => *self.chance.pick(&["1.0", "1.2"]),
                'l' => "0.3",
                '2' => *self.chance.pick(&["0.2.5", "0.2.9"]),
                _ => *self.chance.pick(&["0.3.0", "1.0", "0.3"]),
            }),
            "preferredTransport" => json!(*self.chance.pick(&["JSONRPC", "GRPC", "HTTP+JSON"])),
            "additionalInterfaces" | "supportedInterfaces" => {
                self.list(3, |maker| maker.interface(name))
            }
            "capabilities" => self.capabilities(kind),
            "provider" if matches!(kind, 'c' | 'l') => {
                json!({"name": self.text(), "url": self.uri()})
            }
            "provider" => json!({"organization": self.text(), "url": self.uri()}),
            "defaultInputModes" | "defaultOutputModes" | "modelHints" => self.list(3, Self::text),
            "skills" => self.list(2, |maker| {
                json!({"id": maker.text(), "name": maker.text(), "description": maker.text(),
                    "tags": maker.list(2, Self::text)})
            }),
            "authentication" => self.list(2, Self::scheme),
            "securitySchemes" if kind == 'c' => self.list(2, Self::scheme),
            "securitySchemes" => self.named_schemes(kind),
            "security" => self.list(2, |maker| {
                let name = maker.name();
                json!({name: maker.list(2, Self::text)})
            }),
            "securityRequirements" => self.list(2, |maker| {
                let name = maker.name();
                let scopes = if maker.is(3) {
                    json!({})
                } else {
                    json!({"list": maker.list(2, Self::text)})
                };
                json!({"schemes": {name: scopes}})
            }),
            "supportsAuthenticatedExtendedCard" => json!(self.is(2)),
            "signatures" if kind == 'c' => self.list(
                1,
                |maker| json!({"algorithm": "ES256", "keyId": maker.text(), "jws": maker.text()}),
            ),
            "signatures" => {
                self.list(1, |maker| json!({"protected": maker.text(), "signature": maker.text()}))
            }
            "signedAt" => json!("2026-11-21T09:00:00Z"),
            "url" | "documentationUrl" | "iconUrl" => self.uri(),
            "transport" => json!(*self.chance.pick(&["http", "sse", "ws", "grpc"])),
            "extensions" => self.list(2, |maker| json!({"uri": maker.uri(), "required": true})),
            _ => self.text(),
        }
    }

    fn interface(&mut self, list: &str) -> Value {
        let binding = json!(*self.chance.pick(&[
            "HTTP+JSON",
            "GRPC",
            "gRPC",
            "WebSocket",
            "HTTP+JSON",
            "JSONRPC"
        ]));
        if list == "additionalInterfaces" {
            return json!({"url": self.uri(), "transport": binding});
        }
        let version = *self.chance.pick(&["1.0", "0.3", "1.2", "1.0.1", "0.3.0", "0.2.5"]);
        json!({"url": self.uri(), "protocolBinding": binding, "protocolVersion": version})
    }

    fn capabilities(&mut self, kind: char) -> Value {
        let mut made = json!({"streaming": self.is(2), "pushNotifications": self.is(2)});
        if self.is(2) {
            made["extendedAgentCard"] = json!(self.is(2));
        }
        if !matches!(kind, 'c' | 'l') && self.is(2) {
            made["extensions"] = self.list(2, |maker| {
                let mut extension = json!({"uri": maker.uri(), "required": true});
                if maker.is(4) {
                    extension["params"] = json!({"a": [1, {}]});
                }
                extension
            });
        }
        made
    }

    fn scheme(&mut self) -> Value {
        match self.chance.below(3) {
            0 => json!({"type": "apiKey", "id": self.text(), "in": "header", "name": self.text()}),
            1 => {
                json!({"type": "http", "id": self.text(), "scheme": "bearer", "bearerFormat": self.text()})
            }
            _ => {
                json!({"type": "openIdConnect", "id": self.text(), "openIdConnectUrl": self.uri()})
            }
        }
    }

    /// Schemes by name: in themselves before 1.0, and in wrappers since then.
    fn named_schemes(&mut self, kind: char) -> Value {
        let mut schemes = Map::new();
        for _ in 0..self.chance.below(3) {
            let (wrapper, content) = match self.chance.below(5) {
                0 if kind == '1' => {
                    ("apiKeySecurityScheme", json!({"location": "header", "name": self.text()}))
                }
                0 => ("apiKey", json!({"in": "query", "name": self.text()})),
                1 => ("http", json!({"scheme": "Bearer", "bearerFormat": self.text()})),
                2 => ("http", json!({"scheme": "basic"})),
                3 => ("oauth2", json!({"flows": {}})),
                _ => ("openIdConnect", json!({"openIdConnectUrl": self.uri()})),
            };
            let mut scheme = content;
            if kind == '1' {
                let wrapper = match wrapper {
                    "http" => "httpAuthSecurityScheme",
                    "openIdConnect" => "openIdConnectSecurityScheme",
                    other => other,
                };
                scheme = json!({wrapper: scheme});
            } else {
                scheme["type"] = json!(wrapper);
            }
            schemes.insert(self.name(), scheme);
        }
        Value::Object(schemes)
    }

    fn name(&mut self) -> String {
        self.texts += 1;
        format!("{}{}", self.chance.pick(&["key", "a/b~", "__proto__", "ü \""]), self.texts)
    }

    /// Changes one thing, at some depth.
    fn spoil(&mut self, value: &mut Value, depth: usize) {
        let is_here = depth > 4 || self.is(3);
        match value {
            Value::Object(members) if !members.is_empty() && !is_here => {
                let names: Vec<String> = members.keys().cloned().collect();
                let name = self.chance.pick(&names).clone();
                self.spoil(&mut members[&name], depth + 1);
            }
            Value::Array(items) if !items.is_empty() && !is_here => {
                let number = self.chance.below(items.len());
                self.spoil(&mut items[number], depth + 1);
            }
            Value::Object(members) => self.spoil_members(members),
            other if depth > 0 => *other = self.other(),
            _ => {}
        }
    }

    fn spoil_members(&mut self, members: &mut Map<String, Value>) {
        let names: Vec<String> = members.keys().cloned().collect();
        if names.is_empty() || self.is(3) {
            let name = self.name();
            let value = self.other();
            members.insert(name, value);
            return;
        }
        let name = self.chance.pick(&names).clone();
        let snake = snake(&name);
        match self.chance.below(4) {
            0 => {
                let value = members.remove(&name).unwrap_or_default();
                members.insert(snake, value);
            }
            1 => {
                let value = self.other();
                members.insert(snake, value);
            }
            2 => drop(members.insert(name, Value::Null)),
            _ => {
                let known = self.chance.pick(&MEMBERS).0;
                let value = self.member(known, '3');
                members.entry(known).or_insert(value);
            }
        }
    }

    /// Makes a value that belongs nowhere.
    fn other(&mut self) -> Value {
        match self.chance.below(7) {
            0 => Value::Null,
            1 => json!([]),
            2 => json!({}),
            3 => json!(self.texts),
            4 => json!({"a": {"b": self.text()}}),
            5 => json!([self.text()]),
            _ => self.text(),
        }
    }
}

/// Writes a name as pydantic and the bindings of protobuf do.
fn snake(name: &str) -> String {
    let mut written = String::new();
    for char in name.chars() {
        if char.is_ascii_uppercase() {
            written.push('_');
        }
        written.push(char.to_ascii_lowercase());
    }
    written
}
