use std::fs;

use super::{complaint, kubewright};

#[test]
fn a_folder_that_is_not_there_is_named() {
    let output = kubewright(&["dev", "no-such-folder", "--once"])
        .output()
        .expect("it runs");
    let complaint = complaint(&output);
    assert!(complaint.contains("no-such-folder"), "{complaint}");
}

#[test]
fn a_package_that_builds_no_program_is_told_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = "[package]\nname = 'library'\nedition = '2024'\n[workspace]\n";
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("a manifest");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    fs::write(folder.path().join("src/lib.rs"), "").expect("a source");
    let path = folder.path().to_str().expect("a path in UTF-8");
    let output = kubewright(&["dev", path, "--once"])
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .expect("it runs");
    let complaint = complaint(&output);
    assert!(
        complaint.contains("builds 0 programs, one is needed"),
        "{complaint}"
    );
}
