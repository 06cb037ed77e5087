//! The API servers of the benchmark `cluster`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use kubewright_testing::control_plane::ControlPlane;
use kubewright_testing::real::{RealCluster, RealOptions};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use crate::error::Error;

const POLL_INTERVAL: Duration = Duration::from_millis(1);
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// The implementation of an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Implementation {
    /// kube-apiserver with etcd, which runs without fsync.
    Kubernetes,
    /// The embedded API server of this project.
    Kubewright,
}

impl fmt::Display for Implementation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Kubernetes => "kubernetes",
            Self::Kubewright => "kubewright",
        })
    }
}

/// A running API server. Dropping the value stops it.
#[derive(Debug)]
pub(super) struct RunningServer {
    kubeconfig: PathBuf,
    processes: Vec<u32>,
    /// The time from the start of the process until `/readyz` succeeds.
    pub(super) ready: Duration,
    _running: Processes,
}

#[derive(Debug)]
#[expect(dead_code, reason = "the processes end when the value is dropped")]
enum Processes {
    Real(Box<RealCluster>),
    Embedded(Child),
}

impl RunningServer {
    /// Starts a real control plane.
    pub(super) async fn kubernetes(programs: &ControlPlane) -> Result<Self, Error> {
        let start = Instant::now();
        let cluster = RealCluster::start(programs, &RealOptions::default()).await?;
        Ok(Self {
            ready: start.elapsed(),
            kubeconfig: cluster.kubeconfig(),
            processes: cluster.process_ids(),
            _running: Processes::Real(Box::new(cluster)),
        })
    }

    /// Starts `kubewright cluster`.
    pub(super) async fn kubewright(program: &Path, folder: &Path) -> Result<Self, Error> {
        let kubeconfig = folder.join(format!("kubeconfig-{}", std::process::id()));
        std::fs::remove_file(&kubeconfig).ok();
        let start = Instant::now();
        let child = Command::new(program)
            .args(["cluster", "--nodes", "0", "--kubeconfig"])
            .arg(&kubeconfig)
            .stdout(Stdio::null())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| Error::Spawn {
                command: program.display().to_string(),
                source,
            })?;
        let processes = child.id().into_iter().collect();
        let mut started = Self {
            kubeconfig,
            processes,
            ready: Duration::ZERO,
            _running: Processes::Embedded(child),
        };
        while !started.is_ready().await {
            if start.elapsed() > READY_TIMEOUT {
                return Err(Error::NotReady {
                    timeout: READY_TIMEOUT,
                });
            }
            sleep(POLL_INTERVAL).await;
        }
        started.ready = start.elapsed();
        Ok(started)
    }

    async fn is_ready(&self) -> bool {
        let Ok(client) = self.client().await else {
            return false;
        };
        let request = http::Request::get("/readyz")
            .body(Vec::new())
            .expect("a constant path is a valid request");
        client.request_text(request).await.is_ok()
    }

    /// Returns a client with its own connection and a client certificate.
    pub(super) async fn client(&self) -> Result<Client, Error> {
        let failed = |reason: String| Error::Kubeconfig {
            path: self.kubeconfig.clone(),
            reason,
        };
        let kubeconfig =
            Kubeconfig::read_from(&self.kubeconfig).map_err(|error| failed(error.to_string()))?;
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .map_err(|error| failed(error.to_string()))?;
        Client::try_from(config).map_err(|error| failed(error.to_string()))
    }

    /// Returns the ids of all processes of the server.
    pub(super) fn processes(&self) -> &[u32] {
        &self.processes
    }
}
