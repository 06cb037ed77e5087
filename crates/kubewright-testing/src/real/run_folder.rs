//! The folder of a running control plane.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use kubewright_http::pki::{Authority, SigningKey, Subject, Usage};
use tempfile::TempDir;

use crate::Error;

/// The folder of one run with certificates, keys, data and logs. It is deleted when dropped.
#[derive(Debug)]
pub(super) struct RunFolder {
    folder: TempDir,
}

/// The names in the certificate of the API server.
const API_SERVER_NAMES: [&str; 7] = [
    "127.0.0.1",
    "10.0.0.1",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

impl RunFolder {
    /// Creates the folder with the certificates and keys of all programs.
    pub(super) fn create(authority: &Authority) -> Result<Self, Error> {
        let folder = tempfile::Builder::new()
            .prefix("kubewright-")
            // It contains private keys.
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir()
            .map_err(|source| Error::Write {
                path: std::env::temp_dir(),
                source,
            })?;
        let run = Self { folder };
        run.write("ca.crt", &authority.certificate_pem())?;
        run.write("ca.key", &authority.key_pem())?;
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let subjects = [
            ("etcd", Usage::Both, names(&["127.0.0.1", "localhost"])),
            ("kube-apiserver", Usage::Server, names(&API_SERVER_NAMES)),
            ("apiserver-etcd", Usage::Client, Vec::new()),
        ];
        for (common_name, usage, names) in subjects {
            let identity = authority.issue(&Subject {
                common_name: common_name.to_owned(),
                usage,
                names,
                ..Subject::default()
            })?;
            run.write(&format!("{common_name}.crt"), &identity.certificate_pem)?;
            run.write(&format!("{common_name}.key"), &identity.key_pem)?;
        }
        let accounts = SigningKey::generate()?;
        run.write("sa.key", &accounts.private_pem)?;
        run.write("sa.pub", &accounts.public_pem)?;
        Ok(run)
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.file(name);
        match fs::write(&path, text) {
            Ok(()) => Ok(path),
            Err(source) => Err(Error::Write { path, source }),
        }
    }
}
