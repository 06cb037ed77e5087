//! The command line of the program.

use std::process::Command;

/// `UPDATE_EXPECT=1` rewrites the file.
#[test]
fn manifests_match_the_golden_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/manifests.yaml");
    let output = Command::new(env!("CARGO_BIN_EXE_sidecarset"))
        .arg("manifests")
        .output()
        .expect("the program starts");
    assert!(output.status.success());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(file, &output.stdout).expect("write the file");
    }
    let expected = std::fs::read_to_string(file).expect("read the file");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
