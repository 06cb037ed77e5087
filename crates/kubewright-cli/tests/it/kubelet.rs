//! Runs the container of a Pod as a process of this machine: from its image, with the arguments,
//! environment, volumes and user of the Pod.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use kube::{Client, Config};
use rustix::process::{Pid, Signal, getuid, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::image::{blob, json as read_json, unpack};

/// The time for a program to become ready, and to exit.
const TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(100);

/// A Pod, and the file system of its container.
pub(super) struct Kubelet {
    client: Client,
    /// The host and the port of the API server.
    server: (String, u16),
    pod: Value,
    root: PathBuf,
    /// The configuration of the image.
    image: Value,
}

impl Kubelet {
    /// Unpacks an image and mounts the Pod's volumes into it.
    pub(super) async fn prepare(config: Config, pod: Value, archive: &Path, folder: &Path) -> Self {
        let address = &config.cluster_url;
        let host = address.host().expect("a host").to_owned();
        let server = (host, address.port_u16().expect("a port"));
        let layout = folder.join("layout");
        unpack(archive, &layout);
        let index = read_json(&layout.join("index.json"));
        let manifest = read_json(&blob(&layout, &index["manifests"][0]));
        let configuration = read_json(&blob(&layout, &manifest["config"]));
        let root = folder.join("root");
        for layer in manifest["layers"].as_array().expect("layers") {
            unpack(&blob(&layout, layer), &root);
        }
        let kubelet = Self {
            client: Client::try_from(config).expect("a client"),
            server,
            pod,
            root,
            image: configuration["config"].clone(),
        };
        for mount in list(&kubelet.container()["volumeMounts"]) {
            kubelet.mount(mount).await;
        }
        kubelet
    }

    fn container(&self) -> &Value {
        &self.pod["spec"]["containers"][0]
    }

    /// Returns the address of a port that a probe or a Service refers to by name or by number.
    pub(super) fn port(&self, port: &Value) -> SocketAddr {
        let mut ports = list(&self.container()["ports"]);
        let named = ports.find(|candidate| candidate["name"] == *port);
        let number = named.map_or(port, |named| &named["containerPort"]).as_u64();
        let port = number.and_then(|number| u16::try_from(number).ok());
        SocketAddr::from((Ipv4Addr::LOCALHOST, port.expect("a port")))
    }

    async fn mount(&self, mount: &Value) {
        let mut volumes = list(&self.pod["spec"]["volumes"]);
        let volume = volumes
            .find(|volume| volume["name"] == mount["name"])
            .expect("the volume of the mount");
        let path = text(&mount["mountPath"]);
        let folder = self.root.join(path.trim_start_matches('/'));
        fs::create_dir_all(&folder).expect("a folder");
        let (files, mode) = match volume.get("secret") {
            Some(secret) => (self.secret(secret).await, &secret["defaultMode"]),
            None => {
                let projected = &volume["projected"];
                (self.projected(projected).await, &projected["defaultMode"])
            }
        };
        assert!(!files.is_empty(), "a volume of an unknown kind: {volume}");
        let mode = mode.as_u64().and_then(|mode| u32::try_from(mode).ok());
        for (name, bytes) in files {
            let file = folder.join(name);
            fs::write(&file, bytes).expect("a file");
            let permissions = fs::Permissions::from_mode(mode.unwrap_or(0o644));
            fs::set_permissions(&file, permissions).expect("its permissions");
            if getuid().is_root() {
                chown(&file, None, self.identity("fsGroup")).expect("its group");
            }
        }
    }

    async fn secret(&self, secret: &Value) -> Vec<(String, Vec<u8>)> {
        let name = text(&secret["secretName"]);
        let found = self.read(&format!("secrets/{name}")).await;
        let data = found["data"].as_object().into_iter().flatten();
        data.map(|(name, value)| {
            let bytes = STANDARD.decode(text(value)).expect("base64");
            (name.clone(), bytes)
        })
        .collect()
    }

    /// Returns the files of a projected volume: the token of the account, the cluster's authority and the
    /// name of the namespace.
    async fn projected(&self, projected: &Value) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        for source in list(&projected["sources"]) {
            if let Some(token) = source.get("serviceAccountToken") {
                files.push((text(&token["path"]), self.token(token).await.into_bytes()));
            }
            let map = match source.get("configMap") {
                Some(map) => {
                    let name = text(&map["name"]);
                    let found = self.read(&format!("configmaps/{name}")).await;
                    found["data"].clone()
                }
                None => Value::Null,
            };
            for item in list(&source["configMap"]["items"]) {
                let value = text(&map[text(&item["key"])]);
                files.push((text(&item["path"]), value.into_bytes()));
            }
            for item in list(&source["downwardAPI"]["items"]) {
                let value = self.field(&item["fieldRef"]);
                files.push((text(&item["path"]), value.into_bytes()));
            }
        }
        files
    }

    /// Returns a token that is valid while the Pod exists.
    async fn token(&self, projection: &Value) -> String {
        let metadata = &self.pod["metadata"];
        let body = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {
                "expirationSeconds": projection["expirationSeconds"],
                "boundObjectRef": {
                    "apiVersion": "v1", "kind": "Pod",
                    "name": metadata["name"], "uid": metadata["uid"],
                },
            },
        });
        let account = text(&self.pod["spec"]["serviceAccountName"]);
        let path = self.path(&format!("serviceaccounts/{account}/token"));
        let request = Request::post(path)
            .header("content-type", "application/json")
            .body(body.to_string().into_bytes());
        let response = self.client.request::<Value>(request.expect("a request"));
        text(&response.await.expect("a token")["status"]["token"])
    }

    fn path(&self, rest: &str) -> String {
        let namespace = text(&self.pod["metadata"]["namespace"]);
        format!("/api/v1/namespaces/{namespace}/{rest}")
    }

    async fn read(&self, rest: &str) -> Value {
        let request = Request::get(self.path(rest)).body(Vec::new());
        let response = self.client.request::<Value>(request.expect("a request"));
        response.await.expect("an object that the Pod mounts")
    }

    /// Returns the value of a field of the Pod.
    fn field(&self, reference: &Value) -> String {
        let path = text(&reference["fieldPath"]).replace('.', "/");
        let found = self.pod.pointer(&format!("/{path}"));
        text(found.expect("a field of the Pod"))
    }

    fn identity(&self, field: &str) -> Option<u32> {
        let number = self.pod["spec"]["securityContext"][field].as_u64()?;
        u32::try_from(number).ok()
    }

    /// Starts the container; its output goes to a file in the folder.
    pub(super) fn start(&self, folder: &Path) -> Container {
        let log = folder.join("operator.log");
        let file = fs::File::create(&log).expect("a file");
        let mut command = self.inside();
        command.env_clear();
        for pair in list(&self.image["Env"]) {
            let pair = text(pair);
            let (name, value) = pair.split_once('=').expect("a name and a value");
            command.env(name, value);
        }
        for variable in list(&self.container()["env"]) {
            let value = match variable.get("valueFrom") {
                Some(from) => self.field(&from["fieldRef"]),
                None => text(&variable["value"]),
            };
            command.env(text(&variable["name"]), value);
        }
        let (host, port) = &self.server;
        command.env("KUBERNETES_SERVICE_HOST", host);
        command.env("KUBERNETES_SERVICE_PORT", port.to_string());
        command.args(list(&self.image["Entrypoint"]).map(text));
        command.args(list(&self.container()["args"]).map(text));
        command.stdin(Stdio::null());
        command.stdout(file.try_clone().expect("another handle"));
        let child = command.stderr(file).spawn().expect("it starts");
        let probe = &self.container()["readinessProbe"]["httpGet"];
        Container {
            child,
            log,
            ready: (self.port(&probe["port"]), text(&probe["path"])),
        }
    }

    /// Returns a command that sees only the image and runs as the Pod's user. Only root can switch to
    /// another user.
    fn inside(&self) -> Command {
        if !getuid().is_root() {
            let mut command = Command::new(tool("unshare"));
            command.args(["--user", "--map-current-user", "--wd=/", "--root"]);
            command.arg(&self.root);
            return command;
        }
        let [user, group, files] = ["runAsUser", "runAsGroup", "fsGroup"]
            .map(|field| self.identity(field).expect("an identity in the Pod"));
        assert_ne!(user, 0, "an operator does not run as root");
        let mut command = Command::new(tool("chroot"));
        command.arg(format!("--userspec={user}:{group}"));
        command.arg(format!("--groups={files}")).arg(&self.root);
        command
    }
}

/// A running container, which is killed when it is dropped.
pub(super) struct Container {
    child: Child,
    log: PathBuf,
    /// The address and the path of the readiness probe.
    ready: (SocketAddr, String),
}

impl Container {
    /// Returns its output so far.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("the log")
    }

    /// Waits until the readiness probe succeeds.
    pub(super) async fn wait_until_ready(&mut self) {
        let ready = async {
            while !is_ready(self.ready.0, &self.ready.1).await {
                let exited = self.child.try_wait().expect("a child");
                if exited.is_some() {
                    return false;
                }
                tokio::time::sleep(POLL).await;
            }
            true
        };
        let is_ready = tokio::time::timeout(TIMEOUT, ready).await;
        assert_eq!(is_ready, Ok(true), "{}", self.log());
    }

    /// Stops it with SIGTERM, as a kubelet does, and waits until it exits.
    pub(super) async fn stop(mut self) -> ExitStatus {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), Signal::TERM).expect("the signal is sent");
        let exited = async {
            loop {
                if let Some(status) = self.child.try_wait().expect("a child") {
                    return status;
                }
                tokio::time::sleep(POLL).await;
            }
        };
        let status = tokio::time::timeout(TIMEOUT, exited).await;
        status.expect("it exits in time")
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // After `stop` the process has exited, and the kill fails.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

async fn is_ready(address: SocketAddr, path: &str) -> bool {
    let response = get(address, path).await;
    response.is_ok_and(|response| response.starts_with("HTTP/1.1 200"))
}

async fn get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    Ok(response)
}

/// Returns the path of a system program: the environment of the container has no PATH to find it.
fn tool(name: &str) -> PathBuf {
    let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
    let mut paths = folders.iter().map(|folder| Path::new(folder).join(name));
    paths.find(|path| path.is_file()).expect("a system program")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
