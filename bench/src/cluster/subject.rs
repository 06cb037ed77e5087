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

const POLL: Duration = Duration::from_millis(1);
const READY_WITHIN: Duration = Duration::from_secs(60);

/// Whose server is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Server {
    /// kube-apiserver with etcd that does not wait for the disk.
    Kubernetes,
    /// This project's.
    Kubewright,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Kubernetes => "kubernetes",
            Self::Kubewright => "kubewright",
        })
    }
}

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(super) struct Started {
    kubeconfig: PathBuf,
    processes: Vec<u32>,
    /// From the start of the process to the first answer that it is ready.
    pub(super) ready: Duration,
    _running: Running,
}

#[derive(Debug)]
#[expect(dead_code, reason = "held so that what runs ends when this is dropped")]
enum Running {
    Real(Box<RealCluster>),
    Ours(Child),
}

impl Started {
    /// Starts a real control plane.
    pub(super) async fn kubernetes(programs: &ControlPlane) -> Result<Self, Error> {
        let start = Instant::now();
        let cluster = RealCluster::start(programs, &RealOptions::default()).await?;
        Ok(Self {
            ready: start.elapsed(),
            kubeconfig: cluster.kubeconfig(),
            processes: cluster.process_ids(),
            _running: Running::Real(Box::new(cluster)),
        })
    }

    /// Starts the command `kubewright cluster`.
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
            _running: Running::Ours(child),
        };
        while !started.is_ready().await {
            if start.elapsed() > READY_WITHIN {
                return Err(Error::NeverReady {
                    limit: READY_WITHIN,
                });
            }
            sleep(POLL).await;
        }
        started.ready = start.elapsed();
        Ok(started)
    }

    async fn is_ready(&self) -> bool {
        let Ok(client) = self.client().await else {
            return false;
        };
        let request = http::Request::get("/readyz").body(Vec::new());
        let request = request.expect("a constant path is a valid request");
        client.request_text(request).await.is_ok()
    }

    /// A client with a connection of its own, and a client certificate.
    pub(super) async fn client(&self) -> Result<Client, Error> {
        let failed = |why: String| Error::Kubeconfig {
            path: self.kubeconfig.clone(),
            why,
        };
        let kubeconfig =
            Kubeconfig::read_from(&self.kubeconfig).map_err(|error| failed(error.to_string()))?;
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .map_err(|error| failed(error.to_string()))?;
        Client::try_from(config).map_err(|error| failed(error.to_string()))
    }

    /// The processes that make up the server.
    pub(super) fn processes(&self) -> &[u32] {
        &self.processes
    }
}
