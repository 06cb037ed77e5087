//! A container of a Pod as a process of this machine: out of its image, with the Pod's arguments,
//! environment, volumes and user.

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

/// How long a program may take to become ready, and to end.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(100);

/// A Pod, the root of its container, and the cluster that both belong to.
pub(super) struct Kubelet {
    client: Client,
    /// The API server's host and port, as each container is told.
    server: (String, u16),
    pod: Value,
    root: PathBuf,
    /// What the image says of how it is run.
    image: Value,
}

impl Kubelet {
    /// Takes an image apart and mounts the Pod's volumes into it.
    pub(super) async fn prepare(config: Config, pod: Value, archive: &Path, folder: &Path) -> Self {
        let address = &config.cluster_url;
        let host = address.host().expect("a host").to_owned();
        let server = (host, address.port_u16().expect("a port"));
        let layout = folder.join("layout");
        unpack(archive, &layout);
        let index = read_json(&layout.join("index.json"));
        let manifest = read_json(&blob(&layout, &index["manifests"][0]));
        let about = read_json(&blob(&layout, &manifest["config"]));
        let root = folder.join("root");
        for layer in manifest["layers"].as_array().expect("layers") {
            unpack(&blob(&layout, layer), &root);
        }
        let kubelet = Self {
            client: Client::try_from(config).expect("a client"),
            server,
            pod,
            root,
            image: about["config"].clone(),
        };
        for mount in list(&kubelet.container()["volumeMounts"]) {
            kubelet.mount(mount).await;
        }
        kubelet
    }

    fn container(&self) -> &Value {
        &self.pod["spec"]["containers"][0]
    }

    /// The number of a port that a probe or a Service names, or gives.
    pub(super) fn port(&self, port: &Value) -> SocketAddr {
        let mut ports = list(&self.container()["ports"]);
        let named = ports.find(|one| one["name"] == *port);
        let number = named.map_or(port, |one| &one["containerPort"]).as_u64();
        let number = number.and_then(|number| u16::try_from(number).ok());
        SocketAddr::from((Ipv4Addr::LOCALHOST, number.expect("a port")))
    }

    async fn mount(&self, mount: &Value) {
        let mut volumes = list(&self.pod["spec"]["volumes"]);
        let volume = volumes.find(|one| one["name"] == mount["name"]);
        let volume = volume.expect("the volume of the mount");
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

    /// The account's token, the cluster's authority and the name of the namespace.
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

    /// A token that is good as long as the Pod is there.
    async fn token(&self, wanted: &Value) -> String {
        let metadata = &self.pod["metadata"];
        let asked = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {
                "expirationSeconds": wanted["expirationSeconds"],
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
            .body(asked.to_string().into_bytes());
        let answer = self.client.request::<Value>(request.expect("a request"));
        text(&answer.await.expect("a token")["status"]["token"])
    }

    fn path(&self, rest: &str) -> String {
        let namespace = text(&self.pod["metadata"]["namespace"]);
        format!("/api/v1/namespaces/{namespace}/{rest}")
    }

    async fn read(&self, rest: &str) -> Value {
        let request = Request::get(self.path(rest)).body(Vec::new());
        let answer = self.client.request::<Value>(request.expect("a request"));
        answer.await.expect("what the Pod mounts")
    }

    /// What a field of the Pod says.
    fn field(&self, reference: &Value) -> String {
        let path = text(&reference["fieldPath"]).replace('.', "/");
        let found = self.pod.pointer(&format!("/{path}"));
        text(found.expect("a field of the Pod"))
    }

    fn identity(&self, field: &str) -> Option<u32> {
        let number = self.pod["spec"]["securityContext"][field].as_u64()?;
        u32::try_from(number).ok()
    }

    /// Starts the container; what it says goes to a file in the folder.
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
        command.stdout(file.try_clone().expect("the file again"));
        let child = command.stderr(file).spawn().expect("it starts");
        let probe = &self.container()["readinessProbe"]["httpGet"];
        Container {
            child,
            log,
            ready: (self.port(&probe["port"]), text(&probe["path"])),
        }
    }

    /// A command that sees nothing but the image, as the Pod's user. Only root can become somebody
    /// else; others stay who they are.
    fn inside(&self) -> Command {
        if !getuid().is_root() {
            let mut command = Command::new(tool("unshare"));
            command.args(["--user", "--map-current-user", "--wd=/", "--root"]);
            command.arg(&self.root);
            return command;
        }
        let [user, group, files] = ["runAsUser", "runAsGroup", "fsGroup"]
            .map(|field| self.identity(field).expect("the Pod says who runs it"));
        assert_ne!(user, 0, "an operator is not root");
        let mut command = Command::new(tool("chroot"));
        command.arg(format!("--userspec={user}:{group}"));
        command.arg(format!("--groups={files}")).arg(&self.root);
        command
    }
}

/// A container at work; it ends with the test.
pub(super) struct Container {
    child: Child,
    log: PathBuf,
    /// Where it says that it is ready.
    ready: (SocketAddr, String),
}

impl Container {
    /// What it has said so far.
    pub(super) fn said(&self) -> String {
        fs::read_to_string(&self.log).expect("the log")
    }

    /// Waits until it answers its readiness probe.
    pub(super) async fn until_ready(&mut self) {
        let ready = async {
            while !answers(self.ready.0, &self.ready.1).await {
                let ended = self.child.try_wait().expect("a child");
                if ended.is_some() {
                    return false;
                }
                tokio::time::sleep(POLL).await;
            }
            true
        };
        let is_ready = tokio::time::timeout(PATIENCE, ready).await;
        assert_eq!(is_ready, Ok(true), "{}", self.said());
    }

    /// Asks it to end, as a kubelet does, and waits until it has.
    pub(super) async fn stop(mut self) -> ExitStatus {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), Signal::TERM).expect("it is there");
        let ended = async {
            loop {
                if let Some(status) = self.child.try_wait().expect("a child") {
                    return status;
                }
                tokio::time::sleep(POLL).await;
            }
        };
        let ended = tokio::time::timeout(PATIENCE, ended).await;
        ended.expect("it ends in time")
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // One that has ended is not there any more.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

async fn answers(address: SocketAddr, path: &str) -> bool {
    let answer = ask(address, path).await.unwrap_or_default();
    answer.starts_with("HTTP/1.1 200")
}

async fn ask(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let asked = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

/// Where a program of the system is: the container's own environment has no PATH to find it by.
fn tool(name: &str) -> PathBuf {
    let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
    let mut places = folders.iter().map(|folder| Path::new(folder).join(name));
    places.find(|place| place.is_file()).expect("a system tool")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
