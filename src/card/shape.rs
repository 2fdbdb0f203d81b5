//! The one table of what a card consists of: every shape, its properties, and what each may hold.

words! {
    /// The two variants of a card.
    Variant {
        /// `protocolVersion` 1.0 or 1.2.
        Current => "current",
        /// `protocolVersion` 0.3.
        Legacy => "legacy",
    }
}

impl Variant {
    /// Returns the other one.
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Current => Self::Legacy,
            Self::Legacy => Self::Current,
        }
    }

    /// Returns the shape of the whole card.
    pub(super) const fn shape(self) -> &'static Shape {
        match self {
            Self::Current => &CURRENT,
            Self::Legacy => &LEGACY,
        }
    }

    /// Returns the values of `protocolVersion`.
    pub(super) const fn versions(self) -> &'static [&'static str] {
        match self {
            Self::Current => &["1.0", "1.2"],
            Self::Legacy => &["0.3"],
        }
    }
}

/// What a property may hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Text,
    Uri,
    DateTime,
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An array of strings.
    Texts,
    /// A string, or an array of strings.
    TextOrTexts,
    Object(&'static Shape),
    /// An array of objects of one shape.
    Objects(&'static Shape),
    /// An array of security schemes, each of the shape its `type` names.
    Schemes,
    /// An array of objects from names, which are free, to arrays of strings.
    Scopes,
}

/// One property of an object.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
}

/// One kind of object. No other properties are allowed in it.
#[derive(Debug)]
pub(super) struct Shape {
    /// What a person calls it.
    pub(super) title: &'static str,
    pub(super) fields: &'static [Field],
    /// A bit for each required field, in the order of `fields`.
    pub(super) required: u32,
}

impl Shape {
    const fn new(title: &'static str, fields: &'static [Field]) -> Self {
        // A bit for each field, so a shape has at most 32 of them.
        let (mut required, mut bit, mut rest) = (0, 1, fields);
        // A `const fn` has no `for`.
        while let [field, others @ ..] = rest {
            if field.required {
                required |= bit;
            }
            bit <<= 1;
            rest = others;
        }
        Self { title, fields, required }
    }

    /// Returns the bit and the field of a name.
    pub(super) fn find(&self, name: &[u8]) -> Option<(u32, &'static Field)> {
        let mut bit = 1;
        for field in self.fields {
            if field.name.as_bytes() == name {
                return Some((bit, field));
            }
            bit <<= 1;
        }
        None
    }

    /// Returns the names of its properties.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.fields.iter().map(|field| field.name)
    }
}

const fn must(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true }
}

const fn may(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false }
}

use Kind::{DateTime, Flag, Object, Objects, Schemes, Scopes, Text, TextOrTexts, Texts, Uri, Word};

static CURRENT: Shape = Shape::new(
    "card",
    &[
        must("protocolVersion", Word(Variant::Current.versions())),
        must("name", Text),
        must("description", Text),
        must("url", Uri),
        must("version", Text),
        may("capabilities", Object(&CAPABILITIES)),
        may("defaultInputModes", Texts),
        may("defaultOutputModes", Texts),
        may("documentationUrl", Uri),
        may("iconUrl", Uri),
        may("modelHints", Texts),
        may("protocolBinding", Text),
        may("transport", Word(&["http", "sse", "ws", "grpc"])),
        may("provider", Object(&PROVIDER)),
        may("extensions", Objects(&EXTENSION)),
        may("security", Scopes),
        may("securitySchemes", Schemes),
        may("signatures", Objects(&SIGNATURE)),
        may("signedAt", DateTime),
        may("skills", Objects(&SKILL)),
        may("supportedInterfaces", Objects(&INTERFACE)),
    ],
);

static LEGACY: Shape = Shape::new(
    "card",
    &[
        must("protocolVersion", Word(Variant::Legacy.versions())),
        must("name", Text),
        must("description", Text),
        must("url", Uri),
        must("version", Text),
        may("authentication", Schemes),
        may("capabilities", Object(&CAPABILITIES)),
        may("defaultInputMode", Text),
        may("defaultOutputMode", Text),
        may("iconUrl", Uri),
        may("provider", Object(&PROVIDER)),
        may("skills", Objects(&SKILL)),
        may("supportsAuthenticatedExtendedCard", Flag),
    ],
);

static CAPABILITIES: Shape = Shape::new(
    "capabilities",
    &[
        may("backgroundJobs", Flag),
        may("extendedAgentCard", Flag),
        may("mcpCompatible", Flag),
        may("pushNotifications", Flag),
        may("stateTransitionHistory", Flag),
        may("streaming", Flag),
    ],
);

static PROVIDER: Shape = Shape::new("provider", &[must("name", Text), must("url", Uri)]);

static EXTENSION: Shape =
    Shape::new("extension", &[must("uri", Uri), may("required", Flag), may("version", Text)]);

static SIGNATURE: Shape = Shape::new(
    "signature",
    &[
        must("algorithm", Word(&["ES256", "RS256", "EdDSA"])),
        must("keyId", Text),
        must("jws", Text),
    ],
);

static SKILL: Shape = Shape::new(
    "skill",
    &[
        must("id", Text),
        must("name", Text),
        must("description", Text),
        may("examples", Texts),
        may("inputModes", Texts),
        may("outputModes", Texts),
        may("tags", Texts),
    ],
);

static INTERFACE: Shape = Shape::new(
    "interface",
    &[
        must("url", Uri),
        must("protocolBinding", Word(&["HTTP+JSON", "gRPC", "WebSocket"])),
        must("protocolVersion", Word(&["0.3", "1.0", "1.2"])),
    ],
);

/// The words of a scheme's `type`, each with its shape.
pub(super) static SCHEMES: [(&str, Shape); 3] = [
    (
        "apiKey",
        Shape::new(
            "apiKey scheme",
            &[
                must("type", Word(&["apiKey"])),
                must("id", Text),
                must("in", Word(&["header", "query"])),
                must("name", Text),
                may("description", Text),
            ],
        ),
    ),
    (
        "http",
        Shape::new(
            "http scheme",
            &[
                must("type", Word(&["http"])),
                must("id", Text),
                must("scheme", Word(&["bearer"])),
                may("algorithms", Texts),
                may("audience", TextOrTexts),
                may("bearerFormat", Text),
                may("description", Text),
                may("issuer", Text),
                may("jwksUri", Uri),
            ],
        ),
    ),
    (
        "openIdConnect",
        Shape::new(
            "openIdConnect scheme",
            &[
                must("type", Word(&["openIdConnect"])),
                must("id", Text),
                must("openIdConnectUrl", Uri),
                may("algorithms", Texts),
                may("audience", TextOrTexts),
                may("description", Text),
                may("issuer", Text),
                may("jwksUri", Uri),
            ],
        ),
    ),
];

/// The words of a scheme's `type`.
pub(super) static SCHEME_TYPES: [&str; 3] = ["apiKey", "http", "openIdConnect"];

/// Returns the names of the properties any scheme may have.
pub(super) fn scheme_names() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().flat_map(|(_, shape)| shape.names())
}
