use std::io::{BufRead as _, BufReader, Lines};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

use k8s_openapi::api::core::v1::Node;
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt as _};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{complaint, kubewright};

/// Ends the command when a test fails half-way.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A cluster that the command serves until the test ends.
pub(super) struct Served {
    // Ends before the folder goes.
    _cluster: Running,
    // A reader that goes away would end the command at its next line.
    _said: Lines<BufReader<ChildStdout>>,
    kubeconfig: PathBuf,
    _folder: TempDir,
}

impl Served {
    pub(super) fn start(nodes: usize) -> Self {
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
        let mut cluster = Running(
            kubewright(&arguments)
                .stdout(Stdio::piped())
                .spawn()
                .expect("the command starts"),
        );
        let mut said = BufReader::new(cluster.0.stdout.take().expect("a pipe")).lines();
        said.next().expect("a line").expect("text");
        Self {
            _cluster: cluster,
            _said: said,
            kubeconfig,
            _folder: folder,
        }
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }
}

#[tokio::test]
async fn a_cluster_serves_its_kubeconfig_until_it_is_interrupted() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kubeconfig");
    let path = file.to_str().expect("a path in UTF-8");
    let mut cluster = Running(
        kubewright(&["cluster", "--nodes", "2", "--kubeconfig", path])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts"),
    );
    let mut said = BufReader::new(cluster.0.stdout.take().expect("a pipe")).lines();
    let first = said.next().expect("a line").expect("text");
    assert!(
        first.starts_with("Kubernetes API on https://127.0.0.1:"),
        "{first}"
    );
    let second = said.next().expect("a line").expect("text");
    assert!(second.contains(path), "{second} names {path}");

    let kubeconfig = Kubeconfig::read_from(&file).expect("a kubeconfig");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .expect("a configuration");
    let client = Client::try_from(config).expect("a client");
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
    kill_process(pid, Signal::INT).expect("the process is there");
    let status = cluster.0.wait().expect("it ends");
    assert!(status.success(), "{status}");
    assert!(
        !file.exists(),
        "the kubeconfig of a cluster that is gone is removed"
    );
}

#[test]
fn a_port_that_is_taken_is_named_with_what_to_do() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("its address").port().to_string();
    let output = kubewright(&["cluster", "--port", &port])
        .output()
        .expect("the command runs");
    let complaint = complaint(&output);
    assert!(
        complaint.contains(&format!(
            "listen on 127.0.0.1:{port}: choose another --port"
        )),
        "{complaint}"
    );
}

#[test]
fn a_file_that_is_there_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("config");
    std::fs::write(&file, "precious").expect("a file");
    let path = file.to_str().expect("a path in UTF-8");
    let output = kubewright(&["cluster", "--kubeconfig", path])
        .output()
        .expect("it runs");
    let complaint = complaint(&output);
    assert!(complaint.contains("write the kubeconfig"), "{complaint}");
    assert_eq!(
        std::fs::read_to_string(&file).expect("the file"),
        "precious"
    );
}

#[test]
fn a_kubeconfig_that_cannot_be_written_is_named() {
    let output = kubewright(&["cluster", "--kubeconfig", "/nowhere/at/all"])
        .output()
        .expect("the command runs");
    let complaint = complaint(&output);
    assert!(
        complaint.contains("write the kubeconfig /nowhere/at/all: name a new file"),
        "{complaint}"
    );
}
