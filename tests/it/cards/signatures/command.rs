//! `svcctl cards sign`, `jwks` and `verify`, the real binary: what it prints stands in
//! `tests/data/cards/said` (`UPDATE=1 cargo test --test it cards`), and where it takes keys from.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::keys::Key;

/// A folder with keys and cards, in which commands run.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cards");
        for (from, to) in [
            ("keys/ed25519.pem", "ed.pem"),
            ("keys/rsa-2048-pkcs1.pem", "rsa.pem"),
            ("files/legacy.json", "legacy.json"),
        ] {
            std::fs::copy(root.join(from), folder.path(to)).unwrap();
            folder.mode(to, 0o600);
        }
        let card = "{\n  \"protocolVersion\": \"1.0\",\n  \"name\": \"Übersetzer\",\n  \
            \"description\": \"d\",\n  \"url\": \"https://a.example/\",\n  \"version\": \"1\"\n}\n";
        folder.write("card.json", card);
        folder
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn mode(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.path(name), PermissionsExt::from_mode(mode)).unwrap();
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn run(&self, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
        command.current_dir(self.0.path()).arg("cards").args(words.split(' ')).output().unwrap()
    }

    /// Runs a command that succeeds, and returns what it printed.
    fn printed(&self, words: &str) -> String {
        let ended = self.run(words);
        assert!(ended.status.success(), "{words}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    }

    /// Returns a folder in which cards were signed.
    fn signed() -> Self {
        let folder = Self::new();
        let signed = folder.printed("sign --key ed.pem --key-id ed card.json");
        folder.write("signed.json", &signed);
        let twice = folder.printed("sign --key rsa.pem --key-id rsa signed.json");
        folder.write("twice.json", &twice);
        folder.write("altered.json", &twice.replace("\"d\"", "\"D\""));
        folder.write("jwks.json", &folder.printed("jwks --key ed.pem --key-id ed"));
        folder.write("broken.json", "{\"name\": 7}");
        folder
    }
}

#[test]
fn what_is_said_about_signatures_is_what_was_written_down() {
    let folder = Folder::signed();
    folder.write("open.pem", &Key::new("EdDSA").pem());
    folder.mode("open.pem", 0o644);
    folder.write("text.pem", "no key\n");
    folder.mode("text.pem", 0o600);
    for (name, code, words) in [
        ("sign.json", 0, "sign --key ed.pem --key-id ed card.json"),
        ("sign-twice.txt", 1, "sign --key ed.pem --key-id ed signed.json"),
        ("sign-stale.txt", 1, "sign --key ed.pem --key-id new altered.json"),
        ("sign-legacy.txt", 1, "sign --key ed.pem --key-id ed legacy.json"),
        ("sign-broken.txt", 1, "sign --key ed.pem --key-id ed broken.json"),
        ("sign-open-key.txt", 74, "sign --key open.pem --key-id ed card.json"),
        ("sign-no-key.txt", 74, "sign --key text.pem --key-id ed card.json"),
        ("jwks.json", 0, "jwks --key ed.pem --key-id ed"),
        ("jwks-rsa.json", 0, "jwks --key rsa.pem --key-id rsa"),
        ("verify.txt", 0, "verify --jwks jwks.json signed.json"),
        (
            "verify-refused.txt",
            74,
            "verify --jwks jwks.json twice.json altered.json card.json broken.json none.json",
        ),
        ("verify.json", 1, "verify --jwks jwks.json -o json twice.json altered.json card.json"),
        ("verify-no-keys.txt", 74, "verify --jwks card.json signed.json"),
        ("verify-plain-http.txt", 64, "verify --jwks http://keys.example/ signed.json"),
    ] {
        let ended = folder.run(words);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let said = text(&ended.stderr) + &text(&ended.stdout);
        assert_eq!(ended.status.code(), Some(code), "{name}: {said}");
        if name == "sign-open-key.txt" || name == "sign-no-key.txt" {
            assert!(!said.contains("PRIVATE KEY"), "{said}");
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let file = root.join("tests/data/cards/said").join(name);
        if crate::generated::is_update() {
            std::fs::write(&file, &said).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(written == said, "{name} says now:\n{said}");
    }
}

#[test]
fn a_signed_card_differs_from_the_card_by_its_signature_alone() {
    let folder = Folder::signed();
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    let (card, signed) = (read("card.json"), read("signed.json"));
    let (begin, end) = card.split_at(card.rfind("\n}").unwrap());
    let added = signed.strip_prefix(begin).unwrap().strip_suffix(end).unwrap();
    assert!(added.starts_with(",\n  \"signatures\": [{\"algorithm\":\"EdDSA\",\"keyId\":\"ed\","));
    assert!(folder.run("validate --offline signed.json twice.json").status.success());
}

/// Answers every request with the same bytes, and counts them.
fn answering(answer: Vec<u8>) -> (String, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/jwks.json", listener.local_addr().unwrap());
    let count = std::sync::Arc::<std::sync::atomic::AtomicUsize>::default();
    let counted = std::sync::Arc::clone(&count);
    let serve = move |mut stream: TcpStream| {
        let mut request = [0; 4_096];
        drop(stream.read(&mut request));
        counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        drop(stream.write_all(&answer));
        if answer.is_empty() {
            // Nothing comes, until the other side gives up.
            drop(stream.read(&mut request));
        }
    };
    svc::runtime::thread::spawn("keys", move || listener.incoming().flatten().for_each(serve))
        .unwrap();
    (address, count)
}

fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n{body}").into_bytes()
}

#[test]
fn keys_come_from_the_named_address_and_from_nowhere_else() {
    let folder = Folder::signed();
    let jwks = std::fs::read_to_string(folder.path("jwks.json")).unwrap();
    let (good, asked) = answering(http("200 OK", "", &jwks));
    assert!(folder.run(&format!("verify --jwks {good} signed.json")).status.success());
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 1);
    let redirect = http("302 Found", &format!("Location: {good}\r\n"), "");
    for (answer, says) in [
        (redirect, "it answered 302 instead of 200"),
        (http("404 Not Found", "", &jwks), "it answered 404 instead of 200"),
        (http("200 OK", "", &" ".repeat(300_000)), "cannot fetch the keys from http://127.0.0.1"),
        (http("200 OK", "", "<html>"), "it is not a JSON Web Key Set"),
        (Vec::new(), "timeout"),
    ] {
        let (address, _) = answering(answer);
        let ended = folder.run(&format!("--timeout 1 verify --jwks {address} signed.json"));
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(said.contains(says), "{says}: {said}");
        assert!(matches!(ended.status.code(), Some(69 | 74)), "{said}");
        assert!(ended.stdout.is_empty());
    }
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 1);
}
