//! The processes of real clusters end with the test.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kubewright_testing::Cluster;
use tokio::time::{Instant, sleep};

/// The program of a process from /proc; a process that has ended has none.
fn program(process: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{process}/exe")).ok()
}

async fn have_ended_within(limit: Duration, processes: &[u32]) -> bool {
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
    let start = || Cluster::real().dedicated().named("apart").start_or_skip();
    let clusters: [_; 3] = tokio::join!(start(), start(), start()).into();
    let clusters = clusters.map(|cluster| cluster.expect("a cluster starts"));
    let clusters: Vec<Cluster> = clusters.into_iter().flatten().collect();
    for cluster in &clusters {
        let namespaces = cluster
            .list::<k8s_openapi::api::core::v1::Namespace>()
            .await;
        // The four of Kubernetes and the test's.
        assert_eq!(namespaces.len(), 5);
    }
    let processes: Vec<u32> = clusters.iter().flat_map(Cluster::process_ids).collect();
    assert!(processes.iter().all(|process| program(*process).is_some()));
    drop(clusters);
    assert!(have_ended_within(Duration::from_secs(1), &processes).await);
}

/// Prints the ids of its processes, and runs a cluster until this process is killed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the child of another test"]
async fn cluster_runs_until_its_test_is_killed() {
    let Some(cluster) = Cluster::real()
        .dedicated()
        .start_or_skip()
        .await
        .expect("a cluster")
    else {
        return;
    };
    let ids: Vec<_> = cluster.process_ids().iter().map(u32::to_string).collect();
    writeln!(std::io::stderr(), "processes: {}", ids.join(" ")).expect("the parent reads stderr");
    sleep(Duration::from_secs(600)).await;
}

/// Checks that a child that started no cluster reported why, and succeeded.
fn expect_skipped(mut child: KilledOnDrop, lines: &[String]) {
    let status = child.0.wait().expect("the child ends");
    let is_skip = |line: &String| line.starts_with("kubewright: skipped ");
    assert!(
        status.success() && lines.iter().any(is_skip),
        "the child ended with {status} and started no cluster:\n{}",
        lines.join("\n")
    );
}

struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        // Both fail if the child was waited for.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_test_process_leaves_no_processes() {
    let own = std::env::current_exe().expect("this program has a path");
    let mut child = Command::new(own)
        .args([
            "--exact",
            "lifetime::cluster_runs_until_its_test_is_killed",
            "--ignored",
        ])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("this program starts");
    let output = BufReader::new(child.stderr.take().expect("it is piped"));
    let child = KilledOnDrop(child);
    let reading = tokio::task::spawn_blocking(|| {
        let mut lines = Vec::new();
        for line in output.lines().map_while(Result::ok) {
            if let Some(processes) = line.strip_prefix("processes: ") {
                return Ok(processes.to_owned());
            }
            lines.push(line);
        }
        Err(lines)
    });
    let ids = match reading.await.expect("the output is read") {
        Ok(ids) => ids,
        Err(lines) => return expect_skipped(child, &lines),
    };
    let processes: Vec<u32> = ids
        .split(' ')
        .map(|id| id.parse().expect("a number"))
        .collect();
    assert_eq!(processes.len(), 2);
    let folder = std::fs::read_link(format!("/proc/{}/cwd", processes[0])).expect("it runs");
    drop(child);
    assert!(have_ended_within(Duration::from_secs(5), &processes).await);
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
