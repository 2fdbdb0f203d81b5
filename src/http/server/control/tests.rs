//! The path of a server.

use super::*;

#[test]
fn a_path_too_long_for_a_socket_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let name = "x".repeat(96 - directory.path().join("").as_os_str().len());
    let path = directory.path().join(&name);
    assert!(lock(&path).is_ok());
    // The longest path of all.
    let private = path.with_added_extension("inner");
    fs::create_dir(&private).unwrap();
    UnixListener::bind(private.join("ffff")).unwrap();
    let problem = lock(&directory.path().join(name + "y")).unwrap_err().to_string();
    assert_eq!(problem, "the path of the control socket has 97 bytes, but at most 96 are allowed");
}
