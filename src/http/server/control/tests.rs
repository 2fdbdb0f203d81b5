//! The path of a server.

use super::*;
use crate::config::CONTROL_SOCKET_BYTES_MAX;

#[test]
fn the_longest_path_that_the_settings_allow_can_be_bound() {
    let directory = tempfile::tempdir().unwrap();
    let rest = CONTROL_SOCKET_BYTES_MAX - directory.path().join("").as_os_str().len();
    let path = directory.path().join("x".repeat(rest));
    lock(&path).unwrap();
    let private = path.with_added_extension("inner");
    // The longest name there.
    fs::create_dir(&private).unwrap();
    UnixListener::bind(private.join("ffff")).unwrap();
}
