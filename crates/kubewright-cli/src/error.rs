use std::io;
use std::path::PathBuf;

/// What went wrong in a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The async runtime did not start.
    #[error("start the runtime: are there threads and file descriptors left?")]
    Runtime {
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The address is not free.
    #[error("listen on 127.0.0.1:{port}: choose another --port, or 0 for any that is free")]
    Listen {
        /// The port asked for.
        port: u16,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file could not be read or written.
    #[error("{action} {path}")]
    File {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The kubeconfig could not be written; a file of that name is never replaced.
    #[error("write the kubeconfig {path}: name a new file in a folder that you may write to")]
    Kubeconfig {
        /// Where.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The data folder cannot be used.
    #[error("use the data folder {folder}")]
    Data {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: kubewright_apiserver::store::DiskError,
    },
    /// What is to be logged cannot be read.
    #[error("read the log filter {filter:?}: name a level such as info, or part=level")]
    LogFilter {
        /// The filter.
        filter: String,
        /// What is wrong with it.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    /// The cluster's certificates could not be made.
    #[error("make the cluster's certificates")]
    Certificates {
        /// Why.
        #[source]
        source: kubewright_apiserver::pki::Error,
    },
    /// The cluster itself failed.
    #[error("serve the cluster")]
    Serve {
        /// Why.
        #[source]
        source: kubewright_apiserver::Error,
    },
    /// A program could not be started.
    #[error("run `{command}`: is it installed and on the PATH?")]
    Start {
        /// The command line.
        command: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A program ended with an error; its own words stand above.
    #[error("`{command}` ended with {status}")]
    Failed {
        /// The command line.
        command: String,
        /// Its exit status.
        status: std::process::ExitStatus,
    },
    /// The folder does not hold an operator's program.
    #[error(
        "find the operator's program in {folder}: the package builds {found} programs, one is needed"
    )]
    NotOneProgram {
        /// The folder.
        folder: PathBuf,
        /// How many it builds.
        found: usize,
    },
    /// There is nothing to wait for.
    #[error("find samples in {folder}: put at least one object into a .yaml file there")]
    NoSamples {
        /// The folder.
        folder: PathBuf,
    },
    /// A document is not YAML.
    #[error("read {origin} as Kubernetes objects: each is a YAML document")]
    Document {
        /// The file or command it came from.
        origin: String,
        /// Where and why.
        #[source]
        source: kubewright_wire::yaml::YamlError,
    },
    /// The cluster does not serve a kind.
    #[error("apply {object}: the cluster serves no such kind; is its CRD in the manifests?")]
    UnknownKind {
        /// apiVersion and kind.
        object: String,
    },
    /// A request to the cluster failed.
    #[error("{action}")]
    Request {
        /// What was tried, on what.
        action: String,
        /// The server's answer.
        #[source]
        source: Box<kube::Error>,
    },
    /// Somebody ended the command before it was done.
    #[error("interrupted before the samples were ready")]
    Interrupted,
    /// The samples did not become ready.
    #[error("wait {seconds} s for {object} to become ready: {reason}")]
    NotReady {
        /// How long.
        seconds: u64,
        /// Which sample.
        object: String,
        /// What was missing.
        reason: String,
    },
}
