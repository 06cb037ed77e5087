//! Credentials for registries, from the files of the other image tools.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Returns the `Authorization` header for a registry, from the file that `docker login`, `podman
/// login` and `crane auth login` write, or from the credential helper in that file. None without a
/// login.
pub(super) fn basic(registry: &str) -> Option<String> {
    let text = files()
        .into_iter()
        .find_map(|path| std::fs::read_to_string(path).ok())?;
    let config: Value = serde_json::from_str(&text).ok()?;
    let helper = config["credHelpers"][registry]
        .as_str()
        .or(config["credsStore"].as_str());
    let encoded = config["auths"][registry]["auth"]
        .as_str()
        .filter(|encoded| !encoded.is_empty())
        .map(str::to_owned);
    let credentials =
        encoded.or_else(|| helper.and_then(|helper| from_helper(helper, registry)))?;
    Some(format!("Basic {credentials}"))
}

/// Returns the possible paths of the file, in the order of the other tools.
fn files() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let docker_folder =
        variable("DOCKER_CONFIG").or_else(|| Some(variable("HOME")?.join(".docker")));
    let podman = variable("XDG_RUNTIME_DIR").map(|folder| folder.join("containers/auth.json"));
    let explicit = variable("REGISTRY_AUTH_FILE");
    let docker = docker_folder.map(|folder| folder.join("config.json"));
    [explicit, docker, podman].into_iter().flatten().collect()
}

/// Calls a credential helper with the protocol of docker-credential-helpers: it reads the registry
/// and prints JSON.
fn from_helper(helper: &str, registry: &str) -> Option<String> {
    let mut child = Command::new(format!("docker-credential-{helper}"))
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(registry.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let response: Value = serde_json::from_slice(&output.stdout).ok()?;
    let (name, secret) = (response["Username"].as_str()?, response["Secret"].as_str()?);
    Some(STANDARD.encode(format!("{name}:{secret}")))
}
