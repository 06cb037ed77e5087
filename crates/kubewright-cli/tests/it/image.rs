//! `kubewright image`: an archive, and a push to a registry.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use kubewright_testing::control_plane::Tool;
use serde_json::Value;
use tempfile::TempDir;

use super::nested_build::{prepare, succeeds, without_package_variables};
use super::tools::tool;
use super::{error_of, kubewright, stderr, stdout};

/// Writes a package whose program prints a line.
fn package() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().expect("a folder");
    prepare(home.path());
    let folder = home.path().join("project");
    fs::create_dir_all(folder.join("src")).expect("a folder");
    let cargo = "[package]\nname = \"hello-image\"\nversion = \"0.3.0\"\nlicense = \"MIT\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), cargo).expect("a file");
    let main = "fn main() { println!(\"hello from an image\"); }\n";
    fs::write(folder.join("src/main.rs"), main).expect("a file");
    (home, folder)
}

fn image(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = kubewright(&["image", "--output", "json"]);
    without_package_variables(&mut command);
    command.args(arguments).current_dir(folder);
    command
}

fn result(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("JSON")
}

pub(super) fn unpack(archive: &Path, folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(archive);
    succeeds(tar, folder);
}

pub(super) fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

/// Returns the path of a blob in a layout.
pub(super) fn blob(layout: &Path, descriptor: &Value) -> PathBuf {
    let digest = descriptor["digest"].as_str().expect("a digest");
    layout.join("blobs").join(digest.replace(':', "/"))
}

#[test]
fn image_is_reproducible_and_its_program_runs_with_its_libraries() {
    let (_home, folder) = package();
    let first = result(&succeeds(image(&folder, &["--archive", "a.tar"]), &folder));
    let second = result(&succeeds(image(&folder, &["--archive", "b.tar"]), &folder));
    assert_eq!(first["digest"], second["digest"]);
    let archives = ["a.tar", "b.tar"].map(|name| fs::read(folder.join(name)).expect("an archive"));
    assert!(archives[0] == archives[1], "the archives differ");

    let layout = folder.join("layout");
    unpack(&folder.join("a.tar"), &layout);
    let index = json(&layout.join("index.json"));
    assert_eq!(index["manifests"][0]["digest"], first["digest"]);
    let manifest = json(&blob(&layout, &index["manifests"][0]));
    let config = json(&blob(&layout, &manifest["config"]));
    assert_eq!(config["config"]["User"], "65532:65532");
    assert_eq!(
        config["config"]["Labels"]["org.opencontainers.image.version"],
        "0.3.0"
    );
    let root = folder.join("root");
    for layer in manifest["layers"].as_array().expect("layers") {
        unpack(&blob(&layout, layer), &root);
    }
    assert_eq!(stdout(&run_in(&root)), "hello from an image\n");
}

/// Runs the program with the loader and the libraries of the image, not of this machine.
fn run_in(root: &Path) -> Output {
    let mut loaders = fs::read_dir(root.join("lib64")).into_iter().flatten();
    let Some(loader) = loaders.find_map(Result::ok) else {
        return succeeds(Command::new(root.join("operator")), root); // a static program
    };
    let libraries = fs::read_dir(root.join("lib")).expect("libraries");
    let libraries = libraries.filter_map(Result::ok).next().expect("a folder");
    let mut command = Command::new(loader.path());
    command.arg("--library-path").arg(libraries.path());
    command.arg("--inhibit-cache").arg(root.join("operator"));
    succeeds(command, root)
}

/// The reference registry, for one test.
struct Registry {
    child: Child,
    address: String,
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it exits");
    }
}

/// The user `test` with the password `secret`.
const PASSWORDS: &str = "test:$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n";

impl Registry {
    async fn start(program: &Path, folder: &Path) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = free.local_addr().expect("its address").to_string();
        drop(free);
        let passwords = folder.join("passwords");
        fs::write(&passwords, PASSWORDS).expect("a file");
        let settings = format!(
            "version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\nstorage: {{inmemory: {{}}}}\n\
             http: {{addr: \"{address}\"}}\nauth: {{htpasswd: {{realm: test, path: {passwords:?}}}}}\n"
        );
        let file = folder.join("registry.yaml");
        fs::write(&file, settings).expect("a file");
        let child = Command::new(program)
            .arg("serve")
            .arg(&file)
            .env("OTEL_TRACES_EXPORTER", "none")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the registry starts");
        let registry = Self { child, address };
        let listening = async {
            while tokio::net::TcpStream::connect(&registry.address)
                .await
                .is_err()
            {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let within = tokio::time::timeout(Duration::from_secs(20), listening);
        within.await.expect("the registry listens");
        registry
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pushed_image_is_valid_for_crane() {
    let (Some(program), Some(crane)) = (tool(Tool::Registry).await, tool(Tool::Crane).await) else {
        return;
    };
    let (home, folder) = package();
    let registry = Registry::start(&program, home.path()).await;
    let name = format!("{}/team/hello:0.3.0", registry.address);
    let docker = home.path().join("docker");
    fs::create_dir(&docker).expect("a folder");
    let push = || {
        let mut command = image(&folder, &["--push", "--tag", &name]);
        command.env("DOCKER_CONFIG", &docker);
        command
    };
    let error = error_of(&push().output().expect("the command runs"));
    assert!(error.contains("log in first"), "{error}");

    let login = serde_json::json!({"auths": {&registry.address: {"auth": "dGVzdDpzZWNyZXQ="}}});
    fs::write(docker.join("config.json"), login.to_string()).expect("a file");
    let pushed = succeeds(push(), &folder);
    let progress = stderr(&pushed);
    assert!(progress.contains("pushing  1 of "), "{progress}");
    let digest = result(&pushed)["digest"]
        .as_str()
        .expect("a digest")
        .to_owned();
    let progress = stderr(&succeeds(push(), &folder));
    assert!(
        progress.contains("exists   1 of ") && !progress.contains("pushing"),
        "{progress}"
    );

    let read = |arguments: &[&str]| {
        let mut command = Command::new(&crane);
        command.args(arguments).env("DOCKER_CONFIG", &docker);
        stdout(&succeeds(command, &folder)).trim().to_owned()
    };
    assert_eq!(read(&["digest", &name]), digest);
    let validation = read(&["validate", "--remote", &name]);
    assert!(validation.starts_with("PASS"), "{validation}");
    let config: Value = serde_json::from_str(&read(&["config", &name])).expect("JSON");
    assert_eq!(config["config"]["Entrypoint"][0], "/operator");
    let file = folder.join("flat.tar");
    read(&["export", &name, file.to_str().expect("a path in UTF-8")]);
    unpack(&file, &folder.join("flat"));
    let output = run_in(&folder.join("flat"));
    assert_eq!(stdout(&output), "hello from an image\n");
}
