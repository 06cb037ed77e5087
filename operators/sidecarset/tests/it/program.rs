//! The program as a user calls it.

use std::process::Command;

/// `UPDATE_EXPECT=1` writes the file anew.
#[test]
fn the_manifests_are_those_on_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/manifests.yaml");
    let output = Command::new(env!("CARGO_BIN_EXE_sidecarset"))
        .arg("manifests")
        .output()
        .expect("the program starts");
    assert!(output.status.success());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(file, &output.stdout).expect("the file can be written");
    }
    let expected = std::fs::read_to_string(file).expect("the file is there");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
