//! `svcctl demo relay`, as a person runs it.

use std::process::{Command, Stdio};

#[test]
fn the_demonstration_shows_every_part_and_ends_well() {
    let ran = Command::new(env!("CARGO_BIN_EXE_svcctl"))
        .args(["demo", "relay", "--yes"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{stdout}\n{stderr}");
    let mut rest = stdout.as_ref();
    for part in [
        "plugin   code ",
        "pair_design_session",
        "Let local, through ",
        "set_text",
        "\"Log in\" becomes \"Sign in\"",
        "the title reads \"Log in\"",
        "succeeded",
        "the title reads \"Sign in\"",
        "refused (not_approved)",
        "done 1 time",
        "Ctrl+Z",
        "the title reads \"Log in\"",
        "\"intact\":true",
        "# Done",
    ] {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("{part}: {stdout}"));
        rest = after;
    }
}

#[test]
fn without_a_terminal_or_a_yes_no_person_has_agreed() {
    let ran = Command::new(env!("CARGO_BIN_EXE_svcctl"))
        .args(["demo", "relay"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(64), "{stderr}");
    assert!(stderr.contains("hint: approve everything with --yes"), "{stderr}");
    assert!(ran.stdout.is_empty());
}
