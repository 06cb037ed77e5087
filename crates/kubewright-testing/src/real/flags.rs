//! The command-line flags of the programs of a control plane.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use super::options::{Components, RealOptions};
use super::run_folder::RunFolder;
use crate::Error;

/// The file that configures authorization.
pub(super) const AUTHORIZATION: &str = "authorization.json";

/// The ports of one control plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ports {
    etcd_clients: u16,
    etcd_peers: u16,
    pub(super) api_server: u16,
    kwok: u16,
}

impl Ports {
    /// Four ports that are free now.
    ///
    /// The programs cannot choose and report a port themselves. If another process takes one of the
    /// ports first, the whole start is retried.
    pub(super) fn reserve() -> Result<Self, Error> {
        let ports = (0..4)
            .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
            .collect::<Result<Vec<_>, _>>()
            .and_then(|listeners| {
                let port = |listener: &TcpListener| Ok(listener.local_addr()?.port());
                listeners.iter().map(port).collect::<Result<Vec<_>, _>>()
            });
        match ports.as_deref() {
            Ok([etcd_clients, etcd_peers, api_server, kwok]) => Ok(Self {
                etcd_clients: *etcd_clients,
                etcd_peers: *etcd_peers,
                api_server: *api_server,
                kwok: *kwok,
            }),
            _ => Err(Error::Unsupported {
                operation: "find four free ports on 127.0.0.1".to_owned(),
                reason: "none can be opened; check the limits of this process",
            }),
        }
    }
}

fn flag(name: &str, value: impl std::fmt::Display) -> String {
    format!("--{name}={value}")
}

fn file_flag(name: &str, path: &Path) -> String {
    flag(name, path.display())
}

pub(super) fn etcd(run: &RunFolder, ports: Ports) -> Vec<String> {
    let clients = format!("https://127.0.0.1:{}", ports.etcd_clients);
    let peers = format!("http://127.0.0.1:{}", ports.etcd_peers);
    vec![
        flag("name", "cp"),
        file_flag("data-dir", &run.file("etcd")),
        "--unsafe-no-fsync".to_owned(),
        flag("log-level", "warn"),
        flag("listen-client-urls", &clients),
        flag("advertise-client-urls", &clients),
        flag("listen-peer-urls", &peers),
        flag("initial-advertise-peer-urls", &peers),
        flag("initial-cluster", format!("cp={peers}")),
        file_flag("cert-file", &run.file("etcd.crt")),
        file_flag("key-file", &run.file("etcd.key")),
        "--client-cert-auth".to_owned(),
        file_flag("trusted-ca-file", &run.file("ca.crt")),
        flag("quota-backend-bytes", 8_u64 << 30),
    ]
}

pub(super) fn api_server(run: &RunFolder, ports: Ports, options: &RealOptions) -> Vec<String> {
    let mut flags = vec![
        flag(
            "etcd-servers",
            format!("https://127.0.0.1:{}", ports.etcd_clients),
        ),
        file_flag("etcd-cafile", &run.file("ca.crt")),
        file_flag("etcd-certfile", &run.file("apiserver-etcd.crt")),
        file_flag("etcd-keyfile", &run.file("apiserver-etcd.key")),
        flag("bind-address", "127.0.0.1"),
        flag("advertise-address", "127.0.0.1"),
        flag("endpoint-reconciler-type", "none"),
        flag("secure-port", ports.api_server),
        file_flag("tls-cert-file", &run.file("kube-apiserver.crt")),
        file_flag("tls-private-key-file", &run.file("kube-apiserver.key")),
        file_flag("client-ca-file", &run.file("ca.crt")),
        flag("anonymous-auth", "false"),
        flag("service-cluster-ip-range", "10.0.0.0/24"),
        flag(
            "service-account-issuer",
            "https://kubernetes.default.svc.cluster.local",
        ),
        file_flag("service-account-key-file", &run.file("sa.pub")),
        file_flag("service-account-signing-key-file", &run.file("sa.key")),
    ];
    flags.push(match &options.authorizer {
        None => flag("authorization-mode", "RBAC"),
        Some(_) => file_flag("authorization-config", &run.file(AUTHORIZATION)),
    });
    let mut disabled = options.disable_admission.clone();
    if options.components == Components::ApiServer {
        // No controller creates the default account, without which this plugin admits no Pod.
        disabled.insert("ServiceAccount".to_owned());
    }
    let list = |names: &std::collections::BTreeSet<String>| {
        names.iter().cloned().collect::<Vec<_>>().join(",")
    };
    if !disabled.is_empty() {
        flags.push(flag("disable-admission-plugins", list(&disabled)));
    }
    if !options.enable_admission.is_empty() {
        flags.push(flag(
            "enable-admission-plugins",
            list(&options.enable_admission),
        ));
    }
    flags.extend(feature_gates(options));
    flags.extend(options.api_server_flags.iter().cloned());
    flags
}

pub(super) fn controller_manager(
    run: &RunFolder,
    kubeconfig: &Path,
    options: &RealOptions,
) -> Vec<String> {
    let mut flags = client_flags(kubeconfig);
    flags.extend([
        flag("use-service-account-credentials", "true"),
        file_flag("service-account-private-key-file", &run.file("sa.key")),
        file_flag("root-ca-file", &run.file("ca.crt")),
        file_flag("cluster-signing-cert-file", &run.file("ca.crt")),
        file_flag("cluster-signing-key-file", &run.file("ca.key")),
    ]);
    flags.extend(feature_gates(options));
    flags
}

pub(super) fn scheduler(kubeconfig: &Path, options: &RealOptions) -> Vec<String> {
    let mut flags = client_flags(kubeconfig);
    flags.extend(feature_gates(options));
    flags
}

pub(super) fn kwok(kubeconfig: &Path, stages: &Path, ports: Ports) -> Vec<String> {
    vec![
        file_flag("kubeconfig", kubeconfig),
        file_flag("config", stages),
        flag("manage-all-nodes", "true"),
        flag("node-lease-duration-seconds", 40),
        flag("cidr", "10.64.0.0/16"),
        flag("node-ip", "127.0.0.1"),
        flag("node-port", ports.kwok),
        flag("server-address", format!("127.0.0.1:{}", ports.kwok)),
    ]
}

fn client_flags(kubeconfig: &Path) -> Vec<String> {
    vec![
        file_flag("kubeconfig", kubeconfig),
        flag("bind-address", "127.0.0.1"),
        flag("secure-port", 0),
        flag("leader-elect", "false"),
    ]
}

fn feature_gates(options: &RealOptions) -> Option<String> {
    let gates: Vec<_> = options
        .feature_gates
        .iter()
        .map(|(name, on)| format!("{name}={on}"))
        .collect();
    (!gates.is_empty()).then(|| flag("feature-gates", gates.join(",")))
}
