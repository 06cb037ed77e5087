//! `kubewright cluster`: its kubeconfig, its port, and how it stops.

use std::io::{BufRead as _, BufReader, Lines};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{ListParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt as _};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{error_of, kubewright};

/// A process that is killed when a test fails.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A cluster that the command serves until the test ends.
pub(super) struct ServedCluster {
    // Dropped before the folder.
    _process: Process,
    // A closed pipe would end the process at its next line.
    _stdout: Lines<BufReader<ChildStdout>>,
    kubeconfig: PathBuf,
    _folder: TempDir,
}

impl ServedCluster {
    pub(super) fn start(nodes: usize) -> Self {
        Self::start_with(nodes, &[])
    }

    fn start_with(nodes: usize, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let kubeconfig = folder.path().join("kubeconfig");
        let path = kubeconfig.to_str().expect("a path in UTF-8");
        let arguments = [
            "cluster",
            "--nodes",
            &nodes.to_string(),
            "--kubeconfig",
            path,
        ];
        let mut process = Process(
            kubewright(&[&arguments, flags].concat())
                .stdout(Stdio::piped())
                .spawn()
                .expect("the command starts"),
        );
        let mut stdout = BufReader::new(process.0.stdout.take().expect("a pipe")).lines();
        stdout.next().expect("a line").expect("text");
        Self {
            _process: process,
            _stdout: stdout,
            kubeconfig,
            _folder: folder,
        }
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }
}

/// A client with a kubeconfig.
async fn client_of(kubeconfig: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .expect("a configuration");
    Client::try_from(config).expect("a client")
}

#[tokio::test]
async fn cluster_serves_until_it_is_interrupted() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kubeconfig");
    let path = file.to_str().expect("a path in UTF-8");
    let mut cluster = Process(
        kubewright(&["cluster", "--nodes", "2", "--kubeconfig", path])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts"),
    );
    let mut stdout = BufReader::new(cluster.0.stdout.take().expect("a pipe")).lines();
    let first = stdout.next().expect("a line").expect("text");
    assert!(
        first.starts_with("Kubernetes API on https://127.0.0.1:"),
        "{first}"
    );
    let second = stdout.next().expect("a line").expect("text");
    assert!(second.contains(path), "{second}");

    let client = client_of(&file).await;
    let nodes = Api::<Node>::all(client)
        .list(&ListParams::default())
        .await
        .expect("the nodes");
    let names: Vec<_> = nodes.iter().map(|node| node.name_any()).collect();
    assert_eq!(names, ["node-1", "node-2"]);

    let pid = i32::try_from(cluster.0.id())
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process id");
    kill_process(pid, Signal::INT).expect("the signal is sent");
    let status = cluster.0.wait().expect("it exits");
    assert!(status.success(), "{status}");
    assert!(
        !file.exists(),
        "the kubeconfig of a stopped cluster is removed"
    );
}

#[test]
fn error_for_a_port_in_use_names_the_port_and_the_flag() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("its address").port().to_string();
    let output = kubewright(&["cluster", "--port", &port])
        .output()
        .expect("the command runs");
    let error = error_of(&output);
    assert!(
        error.contains(&format!(
            "listen on 127.0.0.1:{port}: choose another --port"
        )),
        "{error}"
    );
}

#[test]
fn existing_file_is_not_replaced_by_the_kubeconfig() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("config");
    std::fs::write(&file, "precious").expect("a file");
    let path = file.to_str().expect("a path in UTF-8");
    let output = kubewright(&["cluster", "--kubeconfig", path])
        .output()
        .expect("it runs");
    let error = error_of(&output);
    assert!(error.contains("write the kubeconfig"), "{error}");
    assert_eq!(
        std::fs::read_to_string(&file).expect("the file"),
        "precious"
    );
}

#[test]
fn error_names_a_kubeconfig_that_cannot_be_written() {
    let output = kubewright(&["cluster", "--kubeconfig", "/nowhere/at/all"])
        .output()
        .expect("the command runs");
    let error = error_of(&output);
    assert!(
        error.contains("write the kubeconfig /nowhere/at/all: name a new file"),
        "{error}"
    );
}

#[tokio::test]
async fn disabled_admission_plugins_do_not_change_objects() {
    let flags = ["--disable-admission-plugins", "ServiceAccount,Priority"];
    let cluster = ServedCluster::start_with(1, &flags);
    let client = client_of(cluster.kubeconfig()).await;
    let pod = serde_json::json!({
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    let pod: Pod = serde_json::from_value(pod).expect("a Pod");
    let created = Api::<Pod>::namespaced(client, "default")
        .create(&PostParams::default(), &pod)
        .await
        .expect("a Pod without a ServiceAccount");
    let spec = created.spec.expect("a spec");
    assert_eq!((spec.service_account_name, spec.priority), (None, None));
    // The others are enabled.
    assert_eq!(spec.tolerations.map(|all| all.len()), Some(2));
}

#[test]
fn unknown_admission_plugin_is_an_error_that_lists_the_known_ones() {
    let output = kubewright(&["cluster", "--disable-admission-plugins", "Quota"])
        .output()
        .expect("the command runs");
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("unknown admission plugin \"Quota\""),
        "{error}"
    );
    assert!(error.contains("PodSecurity, Priority"), "{error}");
}
