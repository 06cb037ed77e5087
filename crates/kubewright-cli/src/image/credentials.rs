use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// The name and password for a registry, as the `Authorization` header has them: from the file
/// that `docker login`, `podman login` and `crane auth login` write, or from the helper that it
/// names. Nothing when nobody has logged in.
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
    let encoded = encoded.or_else(|| helper.and_then(|helper| ask(helper, registry)))?;
    Some(format!("Basic {encoded}"))
}

/// Where the file may be, in the order in which the other tools look.
fn files() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let docker = variable("DOCKER_CONFIG").or_else(|| Some(variable("HOME")?.join(".docker")));
    let podman = variable("XDG_RUNTIME_DIR").map(|folder| folder.join("containers/auth.json"));
    let named = variable("REGISTRY_AUTH_FILE");
    let docker = docker.map(|folder| folder.join("config.json"));
    [named, docker, podman].into_iter().flatten().collect()
}

/// Asks a helper, by the protocol of docker-credential-helpers: the registry in, JSON out.
fn ask(helper: &str, registry: &str) -> Option<String> {
    let mut child = Command::new(format!("docker-credential-{helper}"))
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(registry.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let answer: Value = serde_json::from_slice(&output.stdout).ok()?;
    let (name, secret) = (answer["Username"].as_str()?, answer["Secret"].as_str()?);
    Some(STANDARD.encode(format!("{name}:{secret}")))
}
