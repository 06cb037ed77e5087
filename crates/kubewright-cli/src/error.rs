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
        source: kubewright_http::pki::Error,
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
    /// The operator ended, although nothing had stopped it.
    #[error("the operator ended by itself, with {status}; its own words stand above")]
    OperatorEnded {
        /// How it ended.
        status: std::process::ExitStatus,
    },
    /// A program ended with an error, and these are its words.
    #[error("`{command}` failed:\n{said}")]
    FailedSaying {
        /// The command line.
        command: String,
        /// What it said.
        said: String,
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
    /// The samples were ready, and their reconciles went on.
    #[error("wait for the operator to come to rest: {reason}")]
    NotAtRest {
        /// What does not rest, and why.
        reason: String,
    },
    /// A flag's value is not what it has to be.
    #[error("{flag} {value:?}: give {wanted}")]
    Argument {
        /// The flag.
        flag: &'static str,
        /// What was given.
        value: String,
        /// What would do.
        wanted: &'static str,
    },
    /// A flag is missing, and nobody is at a terminal to be asked.
    #[error("{flag} is missing: give it, or answer the question at a terminal")]
    MissingFlag {
        /// The flag.
        flag: &'static str,
    },
    /// The terminal could not be used.
    #[error("ask at the terminal: give all flags instead")]
    Terminal {
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// `init` found a project.
    #[error(
        "make a project: {path} is there already and nothing was changed; \
         to add a kind to it, use `kubewright create api`"
    )]
    ProjectIsThere {
        /// The file that is there.
        path: PathBuf,
    },
    /// A new file would replace one.
    #[error("make {path}: it is there already and nothing was changed; move it away first")]
    FileIsThere {
        /// The file.
        path: PathBuf,
    },
    /// The folder has no `Cargo.toml`.
    #[error(
        "find a project in {folder}: make one with `kubewright init`, or name another --folder"
    )]
    NoProject {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// `Cargo.toml` cannot be read.
    #[error("read {path} as TOML")]
    CargoToml {
        /// The file.
        path: PathBuf,
        /// Where and why.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// `Cargo.toml` is that of a workspace.
    #[error("read {path}: it has no [package]; name the folder of one of its packages")]
    NotAPackage {
        /// The file.
        path: PathBuf,
    },
    /// The project has no Rust.
    #[error("find Rust files in {folder}: a project has a src/lib.rs with `pub fn operator()`")]
    NoSource {
        /// The folder.
        folder: PathBuf,
    },
    /// A file does not parse.
    #[error("read {path}:{line}:{column} as Rust: mend it first; nothing was changed")]
    NotRust {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the parser said.
        #[source]
        source: syn::Error,
    },
    /// The project has the kind already.
    #[error("add {kind}: {path} has that kind already and nothing was changed")]
    KindIsThere {
        /// Group, version and kind as they are there.
        kind: String,
        /// The file that has it.
        path: PathBuf,
    },
    /// The project has a webhook for the kind already.
    #[error(
        "add a webhook for {kind}: {path} has one already and nothing was changed; edit it there"
    )]
    WebhookIsThere {
        /// The kind.
        kind: String,
        /// The file that has it.
        path: PathBuf,
    },
    /// The crate has a module of the name already.
    #[error(
        "add the module `{module}`: {path} has one already and nothing was changed; rename it first"
    )]
    ModuleIsThere {
        /// The crate's root.
        path: PathBuf,
        /// The module.
        module: String,
    },
    /// No file derives the kind, and it is not one of Kubernetes' own.
    #[error(
        "find {kind} in {folder}: make it with `kubewright create api`, \
         or name --group and --version of a kind of Kubernetes' own (core and v1 for Pod)"
    )]
    NoSuchKind {
        /// The kind.
        kind: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// Neither the project nor Kubernetes has a kind.
    #[error(
        "find {kind} in {folder} and in {group_version} of Kubernetes, which has {there}: name one \
         that is there, or make it with `kubewright create api`"
    )]
    NoSuchBuiltin {
        /// The kind.
        kind: String,
        /// Where it was looked for.
        folder: PathBuf,
        /// The group and version, as they were named.
        group_version: String,
        /// What Kubernetes has there.
        there: String,
    },
    /// The project has the kind in other versions.
    #[error(
        "find {kind} in {version}: {path} has it in {found}; give --version {found}, or make {version} with `kubewright create api`"
    )]
    NotInVersion {
        /// The kind.
        kind: String,
        /// The version that was asked for.
        version: String,
        /// The file that has it.
        path: PathBuf,
        /// The version that is there.
        found: String,
    },
    /// A line has to be added by hand.
    #[error("register it in {path}: {place} add\n    {lines}")]
    AddByHand {
        /// The file.
        path: PathBuf,
        /// Where in it, and why it was not done.
        place: String,
        /// What to add.
        lines: String,
    },
    /// Somebody typed a command of kubebuilder's.
    #[error("`{typed}` is kubebuilder's; here it is: {ours}")]
    FormerCommand {
        /// What was typed.
        typed: String,
        /// What to type.
        ours: String,
    },
    /// A version cannot be made from the one that is there.
    #[error(
        "add {version} beside {path}:{line}: {why}; nothing was changed. Or write the type by hand, \
         and register `.webhook(Webhook::converts(to_hub, from_hub))` in `operator()`"
    )]
    NoVersion {
        /// Group, version and kind.
        version: String,
        /// The file that has the kind.
        path: PathBuf,
        /// Where in it.
        line: usize,
        /// What stands in the way.
        why: String,
    },
    /// The real control plane did not start.
    #[error("start a real control plane")]
    RealCluster {
        /// Why.
        #[source]
        source: Box<kubewright_testing::Error>,
    },
    /// The kubeconfig cannot be used.
    #[error(
        "reach a cluster by the kubeconfig {file}: name another with --kubeconfig or --context"
    )]
    Access {
        /// Which file.
        file: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Somebody else has set a field.
    #[error(
        "apply {object}: somebody else has set fields of it; \
         --force-conflicts takes them over, nothing was changed"
    )]
    Conflict {
        /// Which object.
        object: String,
        /// The server's answer, which names fields and managers.
        #[source]
        source: Box<kube::Error>,
    },
    /// No API server takes a change of a definition.
    #[error("change definitions: every API server refuses it, so nothing was sent\n  {reasons}")]
    ImpossibleChange {
        /// One line each, with the way out.
        reasons: String,
    },
    /// A definition would break what is there.
    #[error(
        "change definitions: objects that are there would break, so nothing was changed; \
         --allow-unsafe does it nevertheless\n  {reasons}"
    )]
    UnsafeChange {
        /// One line each.
        reasons: String,
    },
    /// Objects of a kind would go with its definition.
    #[error(
        "delete the definitions: {remaining} would go with them, so nothing was deleted; \
         delete the objects first, or say --delete-instances"
    )]
    InstancesRemain {
        /// How many of which kind.
        remaining: String,
    },
    /// Manifests have no text.
    #[error("write the manifests")]
    Manifest {
        /// Why.
        #[source]
        source: kubewright_manifest::Error,
    },
    /// `doctor` did not find everything.
    #[error("look for what Kubewright works with: {names} missing; what each costs stands above")]
    Missing {
        /// What is missing.
        names: String,
    },
    /// `check` found something.
    #[error("check the manifests: {count} faults; mend them, or --allow the rules that are meant")]
    Faults {
        /// How many.
        count: usize,
    },
    /// The program is not one that a Linux image can run.
    #[error("put {} into an image: it is no program for Linux; name a --platform", program.display())]
    NotForLinux {
        /// The program.
        program: PathBuf,
    },
    /// Nothing builds for a platform.
    #[error("build for {platform}: first `rustup target add {target}`")]
    NoTarget {
        /// The platform.
        platform: String,
        /// What would build for it.
        target: String,
    },
    /// A registry did not take an image.
    #[error("push {reference} ({path}): is the registry there, and may you write to it?")]
    Registry {
        /// The image.
        reference: String,
        /// What was asked for.
        path: String,
        /// What it answered.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no definition to make types from.
    #[error(
        "make types from {origin}: it has no CustomResourceDefinition of apiextensions.k8s.io/v1"
    )]
    NoDefinition {
        /// Where it was looked for.
        origin: String,
    },
    /// A definition lacks a version, or its schema.
    #[error(
        "make types of {definition}: there is no schema of the version {version}; known are {known}"
    )]
    NoSchema {
        /// The definition.
        definition: String,
        /// The version asked for.
        version: String,
        /// Those that are there.
        known: String,
    },
    /// Standard output is closed.
    #[error("write to standard output")]
    Output {
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl Error {
    /// Whether a server answered that something is not there.
    pub(crate) fn is_not_found(&self) -> bool {
        let Self::Request { source, .. } = self else {
            return false;
        };
        matches!(&**source, kube::Error::Api(status) if status.code == 404)
    }
}
