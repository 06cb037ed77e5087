use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kubewright_testing::Cluster;
use tokio::time::{Instant, sleep};

/// A process as /proc shows it; one that ended and was not collected has no program any more.
fn program(process: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{process}/exe")).ok()
}

async fn gone_within(limit: Duration, processes: &[u32]) -> bool {
    let start = Instant::now();
    while processes.iter().any(|process| program(*process).is_some()) {
        if start.elapsed() > limit {
            return false;
        }
        sleep(Duration::from_millis(50)).await;
    }
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn three_real_clusters_run_at_once_and_share_nothing() {
    let start = || Cluster::real().own().named("apart").start_or_skip();
    let (one, two, three) = tokio::join!(start(), start(), start());
    let clusters = [one, two, three].map(|cluster| cluster.expect("a cluster starts"));
    let clusters: Vec<Cluster> = clusters.into_iter().flatten().collect();
    for cluster in &clusters {
        let namespaces = cluster
            .list::<k8s_openapi::api::core::v1::Namespace>()
            .await;
        // Four of Kubernetes' own and the test's.
        assert_eq!(namespaces.len(), 5);
    }
    let processes: Vec<u32> = clusters.iter().flat_map(Cluster::process_ids).collect();
    assert!(processes.iter().all(|process| program(*process).is_some()));
    drop(clusters);
    assert!(gone_within(Duration::from_secs(1), &processes).await);
}

/// Runs a cluster until it is killed, and tells the numbers of its processes.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the child of another test"]
async fn a_cluster_that_waits_to_be_killed() {
    let Some(cluster) = Cluster::real()
        .own()
        .start_or_skip()
        .await
        .expect("a cluster")
    else {
        return;
    };
    let numbers: Vec<_> = cluster.process_ids().iter().map(u32::to_string).collect();
    writeln!(std::io::stderr(), "processes: {}", numbers.join(" ")).expect("a parent listens");
    sleep(Duration::from_secs(600)).await;
}

/// A child that started no cluster must have said why and ended well.
fn was_skipped(mut child: Killed, said: &[String]) {
    let ended = child.0.wait().expect("the child ends");
    let skipped = |line: &String| line.starts_with("kubewright: skipped ");
    assert!(
        ended.success() && said.iter().any(skipped),
        "the child ended with {ended} and started no cluster:\n{}",
        said.join("\n")
    );
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        self.0.wait().map(drop).unwrap_or_default();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_test_process_leaves_nothing_running() {
    let own = std::env::current_exe().expect("this program has a path");
    let mut child = Command::new(own)
        .args([
            "--exact",
            "lifetime::a_cluster_that_waits_to_be_killed",
            "--ignored",
        ])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("this program starts");
    let output = BufReader::new(child.stderr.take().expect("it is piped"));
    let child = Killed(child);
    let reading = tokio::task::spawn_blocking(|| {
        let mut said = Vec::new();
        for line in output.lines().map_while(Result::ok) {
            if let Some(processes) = line.strip_prefix("processes: ") {
                return Ok(processes.to_owned());
            }
            said.push(line);
        }
        Err(said)
    });
    let line = match reading.await.expect("the child is read") {
        Ok(line) => line,
        Err(said) => return was_skipped(child, &said),
    };
    let processes: Vec<u32> = line
        .split(' ')
        .map(|number| number.parse().expect("a number"))
        .collect();
    assert_eq!(processes.len(), 2);
    let folder = std::fs::read_link(format!("/proc/{}/cwd", processes[0])).expect("it runs");
    drop(child);
    assert!(gone_within(Duration::from_secs(5), &processes).await);
    let start = Instant::now();
    while folder.exists() {
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{} is left",
            folder.display()
        );
        sleep(Duration::from_millis(50)).await;
    }
}
