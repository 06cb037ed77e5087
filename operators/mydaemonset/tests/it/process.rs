//! The program as a process, beside an embedded cluster on real time.

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

const PATIENCE: Duration = Duration::from_secs(60);

/// A cluster where the operator is installed and does not run, with work for it to do: a set
/// whose one Pod is gone.
async fn cluster_with_work(test: &str) -> Cluster {
    let cluster = Cluster::embedded().nodes(1).named(test).start().await;
    let cluster = cluster.expect("a cluster");
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

/// The program under way. It goes with the test.
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

    /// The next line of its log.
    async fn line(&mut self) -> String {
        let line = timeout(PATIENCE, self.log.next_line()).await;
        let line = line.expect("a line in time").expect("a readable log");
        line.expect("more lines")
    }

    /// The first line that `is_it` knows.
    async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.line().await;
            let line: Value = serde_json::from_str(&line).expect("a line of JSON");
            if is_it(&line) {
                return line;
            }
        }
    }

    async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status().await;
        assert!(sent.expect("kill runs").success());
    }

    async fn ended(&mut self) -> ExitStatus {
        let ended = timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it ends in time").expect("it ends")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_line_of_a_json_log_says_what_it_is_about() {
    let cluster = cluster_with_work("json_log").await;
    let mut program = Program::start(&cluster, &["--log-format=json", "--log=debug"]);
    let line = program.until(|line| line["controller"].is_string()).await;
    assert_eq!(line["controller"], "mydaemonset", "{line}");
    let line = program.until(|line| line["reconcile_id"].is_u64()).await;
    let about = ["group", "kind", "namespace", "name"].map(|field| line[field].as_str());
    let expected = [
        "apps.kubewright.dev",
        "MyDaemonSet",
        cluster.namespace(),
        "sample",
    ];
    assert_eq!(about, expected.map(Some), "{line}");
    for field in ["level", "ts", "logger", "msg"] {
        assert!(line[field].is_string(), "{field}: {line}");
    }
    program.signal("TERM").await;
    assert!(program.ended().await.success());
    cluster.close().await.expect("the cluster ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_kubebuilder_deployment_passes_starts_it_and_sigterm_ends_it_with_0() {
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
        .eventually("a pod again", async |c| c.list::<Pod>().await.len() == 1)
        .await;
    program.signal("TERM").await;
    assert_eq!(program.ended().await.code(), Some(0));
    while let Ok(Some(line)) = program.log.next_line().await {
        serde_json::from_str::<Value>(&line).expect("a line of JSON to the last");
    }
    cluster.close().await.expect("the cluster ends");
}

/// Has the API server ask somebody about each new Pod who takes the call and says nothing, so that
/// the write of a Pod takes half a minute.
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
async fn a_second_signal_ends_it_at_once_while_work_is_under_way() {
    let cluster = cluster_with_work("second_signal").await;
    let silent = hold_pods(&cluster).await;
    let mut program = Program::start(&cluster, &["--log-format=json"]);
    let call = timeout(PATIENCE, silent.accept()).await;
    let _call = call.expect("a write in time").expect("a connection");
    program.signal("TERM").await;
    // Without work it ends within a tenth of this.
    let early = timeout(Duration::from_millis(500), program.child.wait()).await;
    assert!(early.is_err(), "it waits for its work: {early:?}");
    program.signal("INT").await;
    let ended = timeout(Duration::from_secs(5), program.child.wait()).await;
    let ended = ended.expect("at once").expect("it ends");
    assert_eq!(ended.code(), Some(130));
}
