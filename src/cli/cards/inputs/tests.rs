//! Which files are found, in which order, and what is left out.

use super::*;

fn found(names: &[PathBuf], folder: &Path) -> Vec<String> {
    selected(names, folder, &[], false)
}

fn selected(names: &[PathBuf], folder: &Path, exclude: &[&str], no_ignore: bool) -> Vec<String> {
    Finder::new(false, names, &Selection::of(exclude, no_ignore))
        .unwrap()
        .map(|input| match input {
            Input::Card(CardPath { path, .. }) => format!("Card({path:?})"),
            other => format!("{other:?}"),
        })
        .map(|shown| shown.replace(&format!("{}/", folder.display()), ""))
        .collect()
}

#[test]
fn folders_are_walked_once_and_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("b/.well-known")).unwrap();
    for name in ["c.json", "a.jsonl", "b/.well-known/agent-card.json", "readme.md"] {
        fs::write(at(name), "").unwrap();
    }
    std::os::unix::fs::symlink(folder.path(), at("b/loop")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("d.json")).unwrap();
    let expected = [
        "Lines(\"a.jsonl\")",
        "Card(\"b/.well-known/agent-card.json\")",
        "AlreadyWalked(\"b/loop\")",
        "Card(\"c.json\")",
        "Unreadable(\"d.json\", \"No such file or directory (os error 2)\")",
    ];
    assert_eq!(found(&[folder.path().to_owned()], folder.path()), expected);
    let named = [at("b/.well-known"), at("*.json*"), at("b/.well-known"), at("*.md"), at("?x")];
    let expected = [
        "Card(\"b/.well-known/agent-card.json\")",
        "Lines(\"a.jsonl\")",
        "Card(\"c.json\")",
        "Unreadable(\"d.json\", \"No such file or directory (os error 2)\")",
        "AlreadyWalked(\"b/.well-known\")",
        "Card(\"readme.md\")",
        "Unreadable(\"?x\", \"no file matches\")",
    ];
    assert_eq!(found(&named, folder.path()), expected);
}

#[test]
fn what_is_not_the_users_own_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in [".git", "node_modules/a", "drafts/old", "build", ".well-known", "links"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    let cards = [
        ".git/a.json",
        ".well-known/b.json",
        "build/c.json",
        "drafts/d.json",
        "drafts/old/e.json",
        "node_modules/a/f.json",
        "own.json",
        "secret.json",
    ];
    for name in cards {
        fs::write(at(name), "").unwrap();
    }
    fs::write(at(".gitignore"), "build/\n*.tmp\n").unwrap();
    fs::write(at(".ignore"), "/secret.json\n").unwrap();
    std::os::unix::fs::symlink("../node_modules/a", at("links/node_modules")).unwrap();
    let all = [folder.path().to_owned()];
    let shown = |names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("Card({name:?})")).collect()
    };
    let own = [".well-known/b.json", "drafts/d.json", "drafts/old/e.json", "own.json"];
    assert_eq!(found(&all, folder.path()), shown(&own));
    let every = selected(&all, folder.path(), &[], true);
    for name in cards.iter().filter(|name| !name.contains("node_modules")) {
        assert!(every.contains(&format!("Card({name:?})")), "{name}: {every:?}");
    }
    assert_eq!(every.iter().filter(|input| input.contains("f.json")).count(), 1, "{every:?}");
    for (exclude, left) in [
        (&["drafts"][..], &[own[0], own[3]][..]),
        (&["d.json", "own.*"], &[own[0], own[2]]),
        (&["**/drafts/*.json"], &[own[0], own[2], own[3]]),
        (&["*.json", "!own.json"], &[own[3]]),
    ] {
        assert_eq!(selected(&all, folder.path(), exclude, false), shown(left), "{exclude:?}");
    }
    // What is named is read although it is ignored, unless it is excluded.
    let named = [at("secret.json"), at("node_modules"), at("drafts/old/*.json")];
    let expected = shown(&["secret.json", "node_modules/a/f.json", "drafts/old/e.json"]);
    assert_eq!(found(&named, folder.path()), expected);
    assert_eq!(selected(&named, folder.path(), &["drafts/"], false), expected[..2]);
}
