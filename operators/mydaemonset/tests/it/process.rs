//! The program as a process, on an embedded cluster in real time.

use std::process::{ExitStatus, Stdio};

use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

use crate::set::rolled_out;

/// How long the process may take to write a line, to send a request or to exit.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts a cluster where the operator is installed but not running, with a set whose only Pod was
/// deleted.
async fn cluster_with_work(test: &str) -> Cluster {
    let started = Cluster::embedded().nodes(1).named(test).start().await;
    let cluster = started.expect("a cluster");
    rolled_out(&cluster, 1).await;
    cluster.stop_operator().await;
    for pod in cluster.list::<Pod>().await {
        cluster.delete::<Pod>(&pod.name_any()).await;
    }
    cluster
        .eventually("no pod", async |c| c.list::<Pod>().await.is_empty())
        .await;
    cluster
}

/// The running program. It is killed at the end of the test.
struct Program {
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
}

impl Program {
    fn start(cluster: &Cluster, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mydaemonset"))
            .args(["--no-webhooks", "--health-probe-bind-address=0"])
            .args(arguments)
            .env("KUBECONFIG", cluster.kubeconfig().expect("an address"))
            .env_remove("RUST_LOG")
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let log = child.stderr.take().expect("a pipe");
        let log = BufReader::new(log).lines();
        Self { child, log }
    }

    /// Returns the next line of the log.
    async fn line(&mut self) -> String {
        let read = timeout(TIMEOUT, self.log.next_line()).await;
        let line = read.expect("a line in time").expect("a readable log");
        line.expect("more lines")
    }

    /// Returns the first line that matches.
    async fn line_where(&mut self, matches: impl Fn(&Value) -> bool) -> Value {
        loop {
            let text = self.line().await;
            let line: Value = serde_json::from_str(&text).expect("a line of JSON");
            if matches(&line) {
                return line;
            }
        }
    }

    async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("the program is running").to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status().await;
        assert!(sent.expect("kill runs").success());
    }

    async fn exit_status(&mut self) -> ExitStatus {
        let exit = timeout(TIMEOUT, self.child.wait()).await;
        exit.expect("an exit in time").expect("an exit status")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_log_names_controller_object_and_reconcile_id() {
    let cluster = cluster_with_work("json_log").await;
    let mut program = Program::start(&cluster, &["--log-format=json", "--log=debug"]);
    let line = program
        .line_where(|line| line["controller"].is_string())
        .await;
    assert_eq!(line["controller"], "mydaemonset", "{line}");
    let line = program
        .line_where(|line| line["reconcile_id"].is_u64())
        .await;
    let object = ["group", "kind", "namespace", "name"].map(|field| line[field].as_str());
    let expected = [
        "apps.kubewright.dev",
        "MyDaemonSet",
        cluster.namespace(),
        "sample",
    ];
    assert_eq!(object, expected.map(Some), "{line}");
    for field in ["level", "ts", "logger", "msg"] {
        assert!(line[field].is_string(), "{field}: {line}");
    }
    program.signal("TERM").await;
    assert!(program.exit_status().await.success());
    cluster.close().await.expect("the cluster stops");
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_of_a_kubebuilder_deployment_are_accepted_and_sigterm_exits_with_0() {
    let cluster = cluster_with_work("sigterm").await;
    let flags = [
        "--metrics-bind-address=0",
        "--zap-devel=false",
        "--zap-encoder=json",
        "--zap-log-level=info",
        "--zap-stacktrace-level=error",
        "--zap-time-encoding=rfc3339nano",
        "--enable-http2=false",
    ];
    let mut program = Program::start(&cluster, &flags);
    cluster
        .eventually("a new pod", async |c| c.list::<Pod>().await.len() == 1)
        .await;
    program.signal("TERM").await;
    assert_eq!(program.exit_status().await.code(), Some(0));
    while let Ok(Some(line)) = program.log.next_line().await {
        serde_json::from_str::<Value>(&line).expect("a line of JSON");
    }
    cluster.close().await.expect("the cluster stops");
}

/// Registers a webhook for new Pods whose server accepts connections and never responds, so that
/// the creation of a Pod takes 30 s.
async fn hold_pods(cluster: &Cluster) -> TcpListener {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = silent.local_addr().expect("an address");
    let webhook: ValidatingWebhookConfiguration = serde_json::from_value(json!({
        "metadata": {"name": "silent"},
        "webhooks": [{
            "name": "silent.kubewright.dev", "sideEffects": "None", "timeoutSeconds": 30,
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": format!("https://{address}/")},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"],
                "operations": ["CREATE"]}],
        }],
    }))
    .expect("a configuration");
    cluster.create(webhook).await;
    silent
}

#[tokio::test(flavor = "multi_thread")]
async fn second_signal_exits_at_once_while_a_reconcile_is_running() {
    let cluster = cluster_with_work("second_signal").await;
    let silent = hold_pods(&cluster).await;
    let mut program = Program::start(&cluster, &["--log-format=json"]);
    let accepted = timeout(TIMEOUT, silent.accept()).await;
    let _call = accepted.expect("a write in time").expect("a connection");
    program.signal("TERM").await;
    // Without a running reconcile it exits within a tenth of this time.
    let early = timeout(Duration::from_millis(500), program.child.wait()).await;
    assert!(early.is_err(), "the reconcile was not awaited: {early:?}");
    program.signal("INT").await;
    let exit = timeout(Duration::from_secs(5), program.child.wait()).await;
    let status = exit.expect("an exit at once").expect("an exit status");
    assert_eq!(status.code(), Some(130));
}
