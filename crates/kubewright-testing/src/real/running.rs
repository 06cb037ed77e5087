use std::path::PathBuf;
use std::time::Duration;

use http::Request;
use kube::Client;
use kubewright_apiserver::User;
use kubewright_http::pki::Authority;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout};

use super::flags::{self, Ports};
use super::guard::Guard;
use super::options::{Parts, RealOptions};
use super::process::Process;
use super::run_folder::RunFolder;
use super::{access, authorization};
use crate::Error;
use crate::control_plane::{ControlPlane, Program};

/// A real control plane that runs until this value is dropped or this process ends.
#[derive(Debug)]
pub struct RealCluster {
    url: String,
    authority: Authority,
    options: RealOptions,
    // Fields are dropped in this order: what calls first, etcd last, then the guard is told and
    // the folder goes.
    processes: Vec<Process>,
    guard: Mutex<Guard>,
    run: RunFolder,
}

const ATTEMPTS: usize = 5;
const POLL: Duration = Duration::from_millis(50);
/// A loaded machine needs a tenth of this.
const READY_WITHIN: Duration = Duration::from_secs(120);
/// A server that takes a connection and says nothing is asked again.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
const STAGES: &str = include_str!("stages.yaml");
const PORT_TAKEN: &str = "address already in use";

impl RealCluster {
    /// Starts a control plane and waits until it answers.
    ///
    /// When another process takes one of its ports first, it is started anew on others.
    ///
    /// # Cancel safety
    ///
    /// When dropped, what was started ends.
    pub async fn start(control_plane: &ControlPlane, options: &RealOptions) -> Result<Self, Error> {
        let mut attempt = 1;
        loop {
            match Self::start_once(control_plane, options).await {
                Err(Error::NotReady { tail, .. })
                    if tail.contains(PORT_TAKEN) && attempt < ATTEMPTS =>
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

    /// How it was started.
    pub fn options(&self) -> &RealOptions {
        &self.options
    }

    /// The numbers of its processes, in the order in which they were started.
    pub fn process_ids(&self) -> Vec<u32> {
        self.processes.iter().rev().map(Process::id).collect()
    }

    /// Checks that all of its processes run; the error names the one that ended.
    pub fn alive(&self) -> Result<(), Error> {
        for process in &self.processes {
            if let Some(end) = process.ended() {
                return Err(process.not_ready(format!("to run: it ended with {end}")));
            }
        }
        Ok(())
    }

    /// Ends the API server and starts it again on the same port and with the same database; waits
    /// until it answers.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the new one may still be starting.
    pub async fn restart_api_server(&self) -> Result<(), Error> {
        let processes = self.processes.iter();
        for api_server in processes.filter(|one| one.program() == Program::ApiServer) {
            api_server.restart()?;
            self.guard.lock().watch(api_server.id())?;
        }
        let client = self.client().await?;
        self.ready(&client, "/readyz").await
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
        let client = access::client(&admin).await?;
        cluster.ready(&client, "/readyz").await?;
        if options.parts >= Parts::Controllers {
            let kubeconfig = cluster.write_access("system:kube-controller-manager")?;
            let flags = flags::controller_manager(&cluster.run, &kubeconfig, options);
            cluster.spawn(control_plane, Program::ControllerManager, &flags)?;
        }
        if options.parts >= Parts::Nodes {
            let kubeconfig = cluster.write_access("system:kube-scheduler")?;
            let flags = flags::scheduler(&kubeconfig, options);
            cluster.spawn(control_plane, Program::Scheduler, &flags)?;
            let stages = cluster.run.write("stages.yaml", STAGES)?;
            let flags = flags::kwok(&cluster.kubeconfig(), &stages, ports);
            cluster.spawn(control_plane, Program::Kwok, &flags)?;
        }
        if options.parts >= Parts::Controllers {
            // The account is among the first things that the controllers make.
            let account = "/api/v1/namespaces/default/serviceaccounts/default";
            cluster.ready(&client, account).await?;
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

    /// Waits until the API server answers a request for `path`, while all processes live.
    async fn ready(&self, client: &Client, path: &str) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            let request = Request::get(path)
                .body(Vec::new())
                .map_err(|source| Error::Client {
                    user: path.to_owned(),
                    source: source.into(),
                })?;
            let answer = match timeout(ANSWERS_WITHIN, client.request_text(request)).await {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("no answer within {ANSWERS_WITHIN:?}"),
            };
            self.alive()?;
            if start.elapsed() >= READY_WITHIN {
                let state = format!("and {path}: after {READY_WITHIN:?}, {answer}");
                let newest = self
                    .processes
                    .first()
                    .expect("etcd was started before this");
                return Err(newest.not_ready(state));
            }
            sleep(POLL).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::{ATTEMPTS, RealCluster};
    use crate::control_plane::{ControlPlane, Release};
    use crate::real::RealOptions;
    use crate::{Error, Settings};

    #[tokio::test]
    async fn a_taken_port_is_tried_again_on_others_and_then_told() {
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
        assert_eq!(starts.lines().count(), ATTEMPTS);
    }
}
