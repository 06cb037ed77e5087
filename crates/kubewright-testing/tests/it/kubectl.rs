//! The real kubectl against the chosen cluster, on real time.

use std::time::Duration;

use kubewright_testing::{Cluster, Kubectl};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// kubectl and its cluster.
struct Session {
    kubectl: Kubectl,
    cluster: Cluster,
}

impl Session {
    /// Starts a cluster with nodes; `None` if kubectl cannot be built.
    async fn start(test: &str, nodes: usize) -> Option<Self> {
        let builder = Cluster::from_environment()
            .expect("a choice")
            .nodes(nodes)
            .named(test);
        let cluster = builder.start_or_skip().await.expect("a cluster")?;
        let kubectl = Kubectl::locate_or_skip(&cluster, test).await;
        let kubectl = kubectl.expect("kubectl")?;
        Some(Self { kubectl, cluster })
    }

    fn command(&self, arguments: &str) -> Command {
        self.kubectl.command(arguments)
    }

    /// Runs a command with an input, and returns whether it succeeded and its output.
    async fn run(&self, arguments: &str, input: &str) -> (bool, String) {
        let printed = self.kubectl.run(arguments, input).await;
        let printed = printed.expect("kubectl runs");
        (printed.succeeded, printed.text)
    }

    /// The output of a command that succeeds.
    async fn ok(&self, arguments: &str) -> String {
        self.ok_with(arguments, "").await
    }

    async fn ok_with(&self, arguments: &str, input: &str) -> String {
        let (succeeded, text) = self.run(arguments, input).await;
        assert!(succeeded, "kubectl {arguments}:\n{text}");
        text
    }

    /// The output of a command that fails.
    async fn fails(&self, arguments: &str) -> String {
        let (succeeded, text) = self.run(arguments, "").await;
        assert!(!succeeded, "kubectl {arguments}:\n{text}");
        text
    }

    /// Repeats a command until its output contains a text, and returns the output.
    async fn until(&self, arguments: &str, expected: &str) -> String {
        let mut last = String::new();
        let found = timeout(COMMAND_TIMEOUT, async {
            loop {
                last = self.run(arguments, "").await.1;
                if last.contains(expected) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        let found = found.await.is_ok();
        assert!(found, "kubectl {arguments}: no {expected:?} in\n{last}");
        last
    }

    async fn close(self) {
        self.cluster.close().await.expect("the cluster ends");
    }
}

/// The rows of a table without its ages, each as the words in it.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines();
    lines
        .map(|line| line.split_whitespace().collect())
        .collect()
}

fn map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{k: {value}}}\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_creates_shows_changes_and_deletes_objects() {
    let Some(kubectl) = Session::start("kubectl_objects", 0).await else {
        return;
    };
    let created = kubectl.ok("create configmap a --from-literal=k=v").await;
    assert_eq!(created, "configmap/a created\n");
    assert!(
        kubectl
            .ok("get configmap a -o yaml")
            .await
            .contains("  k: v\n")
    );
    let wide = kubectl.ok("get configmap a -o wide").await;
    assert_eq!(rows(&wide)[0], ["NAME", "DATA", "AGE"]);
    assert_eq!(rows(&wide)[1][..2], ["a", "1"]);
    for (value, result) in [("v", "created"), ("v", "unchanged"), ("w", "configured")] {
        let applied = kubectl.ok_with("apply -f -", &map("b", value)).await;
        assert_eq!(applied, format!("configmap/b {result}\n"));
    }
    let applied = kubectl
        .ok_with("apply --server-side -f -", &map("c", "v"))
        .await;
    assert_eq!(applied, "configmap/c serverside-applied\n");
    let patched = kubectl
        .ok("patch configmap a -p {\"data\":{\"k\":\"w\"}}")
        .await;
    assert_eq!(patched, "configmap/a patched\n");
    let described = kubectl.ok("describe configmap a").await;
    assert!(described.contains("k:\n----\nw\n"), "{described}");
    let deleted = kubectl.ok("delete configmap a --wait").await;
    assert!(deleted.starts_with("configmap \"a\" deleted"), "{deleted}");
    assert_eq!(
        kubectl.fails("get configmap a").await,
        "Error from server (NotFound): configmaps \"a\" not found\n"
    );
    let unknown = format!("{}moon: full\n", map("d", "v"));
    let (succeeded, error) = kubectl.run("create -f -", &unknown).await;
    assert!(
        !succeeded && error.contains("unknown field \"moon\""),
        "{error}"
    );
    let explained = kubectl.ok("explain pod.spec.containers.image").await;
    assert!(explained.contains("FIELD: image <string>"), "{explained}");
    kubectl.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_watches() {
    let Some(kubectl) = Session::start("kubectl_watches", 0).await else {
        return;
    };
    let mut watch = kubectl.command("get secrets --watch --output-watch-events");
    let mut watch = watch.spawn().expect("kubectl starts");
    let stdout = watch.stdout.take().expect("a pipe");
    let mut lines = BufReader::new(stdout).lines();
    kubectl
        .ok("create secret generic a --from-literal=k=v")
        .await;
    kubectl.ok("label secret a x=y").await;
    kubectl.ok("delete secret a").await;
    let mut seen = Vec::new();
    while seen.last().is_none_or(|event| event != "DELETED") {
        let line = timeout(COMMAND_TIMEOUT, lines.next_line())
            .await
            .expect("an event");
        let line = line.expect("text").expect("a line");
        let words = rows(&line).concat();
        if words.get(1) == Some(&"a") {
            seen.push(words[0].to_owned());
        }
    }
    assert_eq!(seen, ["ADDED", "MODIFIED", "DELETED"]);
    watch.kill().await.expect("it ends");
    kubectl.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_shows_the_cluster_and_permissions() {
    let Some(kubectl) = Session::start("kubectl_cluster", 1).await else {
        return;
    };
    let about = kubectl.ok("cluster-info").await;
    assert!(about.contains("control plane"), "{about}");
    assert_eq!(kubectl.ok("auth can-i create pods").await, "yes\n");
    assert_eq!(
        kubectl.fails("auth can-i create pods --as joe").await,
        "no\n"
    );
    let resources = kubectl.ok("api-resources --api-group=apps -o name").await;
    assert!(resources.contains("deployments.apps\n"), "{resources}");
    let ready = kubectl.until("get nodes", "Ready").await;
    assert_eq!(
        rows(&ready)[0],
        ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    );
    assert_eq!(kubectl.ok("cordon node-1").await, "node/node-1 cordoned\n");
    let nodes = kubectl.ok("get nodes -o wide").await;
    assert!(nodes.contains("Ready,SchedulingDisabled"), "{nodes}");
    assert_eq!(
        kubectl.ok("uncordon node-1").await,
        "node/node-1 uncordoned\n"
    );
    let node = kubectl.ok("describe node node-1").await;
    assert!(node.contains("Unschedulable:      false"), "{node}");
    kubectl.ok("create namespace moon").await;
    let gone = kubectl.ok("delete namespace moon --wait").await;
    assert!(gone.starts_with("namespace \"moon\" deleted"), "{gone}");
    kubectl.fails("get namespace moon").await;
    kubectl.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_rolls_out_scales_and_drains() {
    let Some(kubectl) = Session::start("kubectl_workloads", 2).await else {
        return;
    };
    kubectl
        .ok("create deployment web --image=web:1 --replicas=3")
        .await;
    let status = kubectl.ok("rollout status deployment/web").await;
    assert!(
        status.ends_with("deployment \"web\" successfully rolled out\n"),
        "{status}"
    );
    let shown = kubectl.ok("get deployment web -o wide").await;
    assert_eq!(rows(&shown)[1][..4], ["web", "3/3", "3", "3"]);
    kubectl.ok("set image deployment/web web=web:2").await;
    kubectl.ok("rollout status deployment/web").await;
    let undone = kubectl.ok("rollout undo deployment/web").await;
    assert_eq!(undone, "deployment.apps/web rolled back\n");
    kubectl.ok("rollout status deployment/web").await;
    let image = "get deployment web -o jsonpath={.spec.template.spec.containers[0].image}";
    assert_eq!(kubectl.ok(image).await, "web:1");
    kubectl
        .ok("create poddisruptionbudget web --selector=app=web --min-available=1")
        .await;
    assert_eq!(
        kubectl.ok("scale deployment web --replicas=1").await,
        "deployment.apps/web scaled\n"
    );
    kubectl.until("get deployment web", "1/1").await;
    let budget = "get pdb web -o jsonpath={.status.currentHealthy}/{.status.disruptionsAllowed}";
    kubectl.until(budget, "1/0").await;
    let budget = kubectl.ok("get pdb").await;
    assert_eq!(rows(&budget)[1][..4], ["web", "1", "N/A", "0"]);
    let node = "get pods -o jsonpath={.items[0].spec.nodeName}";
    let drain = format!(
        "drain {} --ignore-daemonsets --force --timeout=2s",
        kubectl.ok(node).await
    );
    let error = kubectl.fails(&drain).await;
    assert!(
        error.contains("Cannot evict pod as it would violate the pod's disruption budget."),
        "{error}"
    );
    kubectl.ok("delete pdb web").await;
    let drained = kubectl.ok(&drain.replace("2s", "50s")).await;
    assert!(drained.contains(" drained\n"), "{drained}");
    kubectl
        .ok("delete deployment web --wait --cascade=foreground")
        .await;
    kubectl.until("get pods", "No resources found").await;
    for number in 1..=2 {
        kubectl.ok(&format!("uncordon node-{number}")).await;
    }
    kubectl.close().await;
}
