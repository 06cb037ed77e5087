//! A real control plane that is running.

use std::path::PathBuf;
use std::time::Duration;

use http::Request;
use kube::Client;
use kubewright_apiserver::User;
use kubewright_http::pki::Authority;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout};

use super::authorization;
use super::flags::{self, Ports};
use super::guard::Guard;
use super::options::{Components, RealOptions};
use super::process::Process;
use super::run_folder::RunFolder;
use crate::Error;
use crate::control_plane::{ControlPlane, Program};

/// A real control plane that runs until this value is dropped or this process ends.
#[derive(Debug)]
pub struct RealCluster {
    url: String,
    authority: Authority,
    options: RealOptions,
    // Fields are dropped in this order: clients before servers, etcd last, then the guard ends and
    // the folder is deleted.
    processes: Vec<Process>,
    guard: Mutex<Guard>,
    run: RunFolder,
}

const START_ATTEMPTS: usize = 5;
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Ten times what a machine under load needs.
const READY_TIMEOUT: Duration = Duration::from_secs(120);
/// After this time, a request to a server that accepted the connection is retried.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const STAGES: &str = include_str!("stages.yaml");
const PORT_TAKEN: &str = "address already in use";

impl RealCluster {
    /// Starts a control plane and waits until it is ready.
    ///
    /// If another process takes one of its ports first, it is started again on other ports.
    ///
    /// # Cancel safety
    ///
    /// When dropped, all started processes end.
    pub async fn start(control_plane: &ControlPlane, options: &RealOptions) -> Result<Self, Error> {
        let mut attempt = 1;
        loop {
            match Self::start_once(control_plane, options).await {
                Err(Error::NotReady { tail, .. })
                    if tail.contains(PORT_TAKEN) && attempt < START_ATTEMPTS =>
                {
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    /// The API server's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The options with which it was started.
    pub fn options(&self) -> &RealOptions {
        &self.options
    }

    /// The ids of its processes, in the order in which they were started.
    pub fn process_ids(&self) -> Vec<u32> {
        self.processes.iter().rev().map(Process::id).collect()
    }

    /// Checks that all processes run; the error names the one that ended.
    pub fn alive(&self) -> Result<(), Error> {
        for process in &self.processes {
            if let Some(status) = process.exit_status() {
                return Err(process.not_ready(format!("to run: it ended with {status}")));
            }
        }
        Ok(())
    }

    /// Restarts the API server on the same port and with the same database, and waits until it is
    /// ready.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the API server may still be starting.
    pub async fn restart_api_server(&self) -> Result<(), Error> {
        let processes = self.processes.iter();
        for api_server in processes.filter(|process| process.program() == Program::ApiServer) {
            api_server.restart()?;
            self.guard.lock().watch(api_server.id())?;
        }
        let client = self.client().await?;
        self.wait_until_ready(&client, "/readyz").await
    }

    pub(super) fn authority(&self) -> &Authority {
        &self.authority
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.run.file(name)
    }

    async fn start_once(
        control_plane: &ControlPlane,
        options: &RealOptions,
    ) -> Result<Self, Error> {
        let authority = Authority::new("kubewright-test-ca")?;
        let run = RunFolder::create(&authority)?;
        let ports = Ports::reserve()?;
        let mut cluster = Self {
            url: format!("https://127.0.0.1:{}", ports.api_server),
            authority,
            options: options.clone(),
            processes: Vec::new(),
            guard: Mutex::new(Guard::start(run.path())?),
            run,
        };
        if let Some(authorizer) = &options.authorizer {
            authorization::write(&cluster.run, authorizer)?;
        }
        let etcd = flags::etcd(&cluster.run, ports);
        cluster.spawn(control_plane, Program::Etcd, &etcd)?;
        let api_server = flags::api_server(&cluster.run, ports, options);
        cluster.spawn(control_plane, Program::ApiServer, &api_server)?;
        let admin = cluster.access(&User::admin())?;
        cluster.run.write("admin.kubeconfig", &admin.to_text())?;
        let client = admin.client().await?;
        cluster.wait_until_ready(&client, "/readyz").await?;
        if options.components >= Components::Controllers {
            let kubeconfig = cluster.write_access("system:kube-controller-manager")?;
            let flags = flags::controller_manager(&cluster.run, &kubeconfig, options);
            cluster.spawn(control_plane, Program::ControllerManager, &flags)?;
        }
        if options.components >= Components::Nodes {
            let kubeconfig = cluster.write_access("system:kube-scheduler")?;
            let flags = flags::scheduler(&kubeconfig, options);
            cluster.spawn(control_plane, Program::Scheduler, &flags)?;
            let stages = cluster.run.write("stages.yaml", STAGES)?;
            let flags = flags::kwok(&cluster.kubeconfig(), &stages, ports);
            cluster.spawn(control_plane, Program::Kwok, &flags)?;
        }
        if options.components >= Components::Controllers {
            // The account is one of the first objects that the controllers create.
            let account = "/api/v1/namespaces/default/serviceaccounts/default";
            cluster.wait_until_ready(&client, account).await?;
        }
        Ok(cluster)
    }

    fn spawn(
        &mut self,
        control_plane: &ControlPlane,
        program: Program,
        flags: &[String],
    ) -> Result<(), Error> {
        let process = Process::start(control_plane, program, flags, self.run.path())?;
        self.guard.get_mut().watch(process.id())?;
        self.processes.insert(0, process);
        Ok(())
    }

    fn write_access(&self, user: &str) -> Result<PathBuf, Error> {
        let access = self.access(&User::system(user))?;
        let name = user.rsplit(':').next().unwrap_or(user);
        self.run
            .write(&format!("{name}.kubeconfig"), &access.to_text())
    }

    /// Waits until a GET of `path` succeeds. Fails when a process ends.
    async fn wait_until_ready(&self, client: &Client, path: &str) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            let request = Request::get(path)
                .body(Vec::new())
                .map_err(Error::client(path))?;
            let failure = match timeout(REQUEST_TIMEOUT, client.request_text(request)).await {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("no response within {REQUEST_TIMEOUT:?}"),
            };
            self.alive()?;
            if start.elapsed() >= READY_TIMEOUT {
                let state = format!("and {path}: after {READY_TIMEOUT:?}, {failure}");
                let newest = self
                    .processes
                    .first()
                    .expect("etcd was started before this");
                return Err(newest.not_ready(state));
            }
            sleep(POLL_INTERVAL).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::{RealCluster, START_ATTEMPTS};
    use crate::control_plane::{ControlPlane, Release};
    use crate::real::RealOptions;
    use crate::{Error, Settings};

    #[tokio::test]
    async fn start_is_retried_on_other_ports_and_then_fails() {
        let folder = tempfile::tempdir().unwrap();
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/port-taken");
        for name in ["etcd", "kube-apiserver"] {
            symlink(programs.join(name), folder.path().join(name)).unwrap();
        }
        let settings = Settings {
            assets: Some(folder.path().to_owned()),
            ..Settings::default()
        };
        let release = Release::current();
        let control_plane = ControlPlane::locate(release, &settings).await.unwrap();
        let started = RealCluster::start(&control_plane, &RealOptions::default()).await;
        let error = started.unwrap_err();
        assert!(
            matches!(
                error,
                Error::NotReady {
                    program: "etcd",
                    ..
                }
            ),
            "{error}"
        );
        assert!(
            error.to_string().contains("address already in use"),
            "{error}"
        );
        let starts = fs::read_to_string(folder.path().join("starts")).unwrap();
        assert_eq!(starts.lines().count(), START_ATTEMPTS);
    }
}
