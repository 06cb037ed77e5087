//! The errors of all commands. Each message says what was tried, on what, and the next step; the
//! cause is the source.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// An error whose type depends on the library that failed.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The error that ends a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The async runtime did not start.
    #[error("start the async runtime: check the limits on threads and file descriptors")]
    Runtime { source: io::Error },
    /// The port is in use, or not allowed.
    #[error("listen on 127.0.0.1:{port}: choose another --port, or 0 for any free port")]
    Listen { port: u16, source: io::Error },
    /// A file or folder could not be read or written.
    #[error("{action} {path}")]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The kubeconfig could not be written; an existing file is never replaced.
    #[error("write the kubeconfig {path}: name a new file in a writable folder")]
    Kubeconfig { path: PathBuf, source: io::Error },
    /// The data folder of a cluster cannot be used.
    #[error("use the data folder {folder}")]
    DataFolder {
        folder: PathBuf,
        source: kubewright_apiserver::store::DiskError,
    },
    /// The value of `--log` is invalid.
    #[error("read the log filter {filter:?}: use a level such as info, or part=level")]
    LogFilter {
        filter: String,
        source: tracing_subscriber::filter::ParseError,
    },
    /// Certificates could not be created.
    #[error("create certificates")]
    Certificates { source: kubewright_http::pki::Error },
    /// The embedded API server failed.
    #[error("serve the cluster")]
    Serve { source: kubewright_apiserver::Error },
    /// A program could not be started.
    #[error("run `{command}`: check that it is installed and on the PATH")]
    Start { command: String, source: io::Error },
    /// A program failed after it printed its own messages.
    #[error("`{command}` ended with {status}")]
    Failed { command: String, status: ExitStatus },
    /// A program failed, and this is what it printed.
    #[error("`{command}` failed:\n{output}")]
    FailedWithOutput { command: String, output: String },
    /// The operator's process ended although `dev` did not stop it.
    #[error("the operator exited with {status}; its log is above")]
    OperatorExited { status: ExitStatus },
    /// The package does not build exactly one program.
    #[error(
        "find the operator's program in {folder}: the package builds {found} programs, it must \
         build one"
    )]
    NotOneProgram { folder: PathBuf, found: usize },
    /// `dev --once` has no sample to wait for.
    #[error("find samples in {folder}: add a .yaml file with at least one object")]
    NoSamples { folder: PathBuf },
    /// A text is not YAML.
    #[error("read {origin} as Kubernetes objects: each must be a YAML document")]
    Document {
        origin: String,
        source: kubewright_wire::yaml::YamlError,
    },
    /// The cluster does not serve a kind.
    #[error(
        "apply {object}: the cluster does not serve this kind; check that its CRD is in the \
         manifests"
    )]
    UnknownKind { object: String },
    /// A request to the cluster failed.
    #[error("{action}")]
    Request {
        action: String,
        source: Box<kube::Error>,
    },
    /// `dev --once` was interrupted.
    #[error("interrupted before the samples were ready")]
    Interrupted,
    /// An object did not become ready in time.
    #[error("wait {seconds} s for {object} to become ready: {reason}")]
    NotReady {
        seconds: u64,
        object: String,
        reason: String,
    },
    /// The samples are ready, but their reconciles keep writing.
    #[error("wait for the operator to become idle: {reason}")]
    NotIdle { reason: String },
    /// The value of a flag is invalid.
    #[error("{flag} {value:?}: expected {expected}")]
    Argument {
        flag: &'static str,
        value: String,
        expected: &'static str,
    },
    /// A required flag is missing, and there is no terminal for a prompt.
    #[error("{flag} is missing: set it, or run the command in a terminal to be prompted for it")]
    MissingFlag { flag: &'static str },
    /// The terminal could not be used.
    #[error("use the terminal: set all flags on the command line, and --plain for `dev`")]
    Terminal { source: io::Error },
    /// `init` found a project in the folder.
    #[error(
        "create a project: {path} is there already and nothing was changed; \
         to add a kind to it, use `kubewright create api`"
    )]
    ProjectExists { path: PathBuf },
    /// A new file would replace an existing one.
    #[error("create {path}: it is there already and nothing was changed; move it away first")]
    FileExists { path: PathBuf },
    /// The folder has no `Cargo.toml`.
    #[error(
        "find a project in {folder}: create one with `kubewright init`, or choose another --folder"
    )]
    NoProject { folder: PathBuf, source: io::Error },
    /// `Cargo.toml` is not TOML.
    #[error("read {path} as TOML")]
    CargoToml {
        path: PathBuf,
        source: Box<toml::de::Error>,
    },
    /// `Cargo.toml` has no package.
    #[error("read {path}: it has no [package]; choose the folder of a package")]
    NotAPackage { path: PathBuf },
    /// The project has no Rust sources.
    #[error("find Rust files in {folder}: a project has a src/lib.rs with `pub fn operator()`")]
    NoSource { folder: PathBuf },
    /// A Rust file does not parse.
    #[error("read {path}:{line}:{column} as Rust: fix it first; nothing was changed")]
    NotRust {
        path: PathBuf,
        line: usize,
        column: usize,
        source: syn::Error,
    },
    /// The project has the kind already.
    #[error("add {kind}: {path} has that kind already and nothing was changed")]
    KindExists { kind: String, path: PathBuf },
    /// The project has the webhook already.
    #[error(
        "add a webhook for {kind}: {path} has one already and nothing was changed; edit it there"
    )]
    WebhookExists { kind: String, path: PathBuf },
    /// The crate has a module of the same name already.
    #[error(
        "add the module `{module}`: {path} has one already and nothing was changed; rename it first"
    )]
    ModuleExists { path: PathBuf, module: String },
    /// No file derives the kind, and no built-in group was named.
    #[error(
        "find {kind} in {folder}: create it with `kubewright create api`, \
         or set --group and --version of a built-in kind (core and v1 for Pod)"
    )]
    KindNotFound { kind: String, folder: PathBuf },
    /// Neither the project nor Kubernetes has the kind.
    #[error(
        "find {kind} in {folder} and in {group_version} of Kubernetes, which has {available}: \
         choose one of these, or create the kind with `kubewright create api`"
    )]
    BuiltinKindNotFound {
        kind: String,
        folder: PathBuf,
        group_version: String,
        available: String,
    },
    /// The project has the kind in other versions.
    #[error(
        "find {kind} in {version}: {path} has it in {found}; set --version {found}, or create \
         {version} with `kubewright create api`"
    )]
    VersionNotFound {
        kind: String,
        version: String,
        path: PathBuf,
        found: String,
    },
    /// The place where a call belongs was not found.
    #[error("register it by hand in {path}: {place}\n    {lines}")]
    RegisterByHand {
        path: PathBuf,
        place: String,
        lines: String,
    },
    /// The command line is one of kubebuilder.
    #[error("`{typed}` belongs to kubebuilder; in kubewright: {replacement}")]
    KubebuilderCommand { typed: String, replacement: String },
    /// A version or conversion cannot be derived from the existing type.
    #[error(
        "add {version} beside {path}:{line}: {reason}; nothing was changed. Or write the type by \
         hand, and register `.webhook(Webhook::converts(to_hub, from_hub))` in `operator()`"
    )]
    CannotAddVersion {
        version: String,
        path: PathBuf,
        line: usize,
        reason: String,
    },
    /// The real control plane did not start.
    #[error("start a real control plane")]
    RealCluster {
        source: Box<kubewright_testing::Error>,
    },
    /// The kubeconfig cannot be used.
    #[error(
        "reach a cluster with the kubeconfig {file}: choose another with --kubeconfig or --context"
    )]
    ClusterAccess { file: String, source: Cause },
    /// Another field manager owns a field of the object.
    #[error(
        "apply {object}: another field manager owns some of its fields, nothing was changed; \
         --force-conflicts takes them over"
    )]
    Conflict {
        object: String,
        source: Box<kube::Error>,
    },
    /// Every API server rejects a change of a definition.
    #[error("change definitions: the API server would reject this, nothing was sent\n  {reasons}")]
    RejectedChange { reasons: String },
    /// A definition would break stored objects.
    #[error(
        "change definitions: existing objects would break, nothing was changed; \
         --allow-unsafe applies it anyway\n  {reasons}"
    )]
    UnsafeChange { reasons: String },
    /// Objects of a kind would be deleted with its definition.
    #[error(
        "delete the definitions: {remaining} would be deleted with them, nothing was deleted; \
         delete the objects first, or set --delete-instances"
    )]
    InstancesRemain { remaining: String },
    /// Manifests could not be written as YAML.
    #[error("write the manifests")]
    Manifest { source: kubewright_manifest::Error },
    /// `doctor` did not find every tool.
    #[error(
        "check the tools that Kubewright uses: {names} missing; the lines above say how to get them"
    )]
    MissingTools { names: String },
    /// `check` found faults.
    #[error("check the manifests: {count} faults; fix them, or accept a rule with --allow RULE")]
    Faults { count: usize },
    /// The program does not run in a Linux image.
    #[error("put {} into an image: it is not a Linux program; set --platform", program.display())]
    NotForLinux { program: PathBuf },
    /// No installed target builds for the platform.
    #[error("build for {platform}: first `rustup target add {target}`")]
    NoTarget { platform: String, target: String },
    /// A request to an image registry failed.
    #[error(
        "push {reference} ({path}): check that the registry is reachable and that you may push to it"
    )]
    Registry {
        reference: String,
        path: String,
        source: Cause,
    },
    /// The input of `generate types` has no definition.
    #[error(
        "generate types from {origin}: it has no CustomResourceDefinition of \
         apiextensions.k8s.io/v1"
    )]
    NoDefinition { origin: String },
    /// A definition does not have the version, or no schema for it.
    #[error(
        "generate types of {definition}: it has no schema for the version {version}; it has \
         {available}"
    )]
    NoSchema {
        definition: String,
        version: String,
        available: String,
    },
    /// Standard output could not be written.
    #[error("write to standard output")]
    Output { source: io::Error },
}

impl Error {
    /// Whether a server responded that an object or a resource does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        let Self::Request { source, .. } = self else {
            return false;
        };
        matches!(&**source, kube::Error::Api(status) if status.code == 404)
    }
}
