//! Exec plugins: programs that issue credentials.

use std::io::IsTerminal as _;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kube::config::{ExecConfig, ExecInteractiveMode};
use kubewright_core::Clock;
use kubewright_wire::yaml;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::Identity;
use super::authorization::bearer;
use super::grant::Grant;
use crate::client::connect_error::ConnectError;

/// How long before its expiration a credential is renewed.
const RENEW_BEFORE: Duration = Duration::from_secs(60);

/// How many characters of a failed plugin's standard error are in the error.
const MAX_STDERR: usize = 1000;

/// A program that issues credentials:
/// <https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins>
pub(super) struct Plugin {
    run: Arc<Run>,
    clock: Clock,
    issued: Arc<Mutex<Option<Issued>>>,
    /// One run at a time: requests that wait for it use its result.
    running: Arc<Semaphore>,
}

/// How the plugin is run.
struct Run {
    command: String,
    exec: ExecConfig,
    /// The client certificate of the configuration, used when the plugin issues none.
    own: Option<Arc<Identity>>,
}

struct Issued {
    grant: Grant,
    until: Option<Timestamp>,
}

impl Plugin {
    pub(super) fn new(
        exec: &ExecConfig,
        own: Option<Arc<Identity>>,
        clock: Clock,
    ) -> Result<Self, ConnectError> {
        let command = exec.command.clone().ok_or(ConnectError::NoCommand)?;
        let exec = exec.clone();
        Ok(Self {
            run: Arc::new(Run { command, exec, own }),
            clock,
            issued: Arc::default(),
            running: Arc::new(Semaphore::new(1)),
        })
    }

    /// The credentials that the plugin has issued. Runs it when there are none or they expire soon.
    ///
    /// # Cancel safety
    ///
    /// When dropped, nothing is lost: a run completes, and its result is kept.
    pub(super) async fn current(&self) -> Result<Grant, ConnectError> {
        if let Some(grant) = self.fresh() {
            return Ok(grant);
        }
        let permit = Arc::clone(&self.running)
            .acquire_owned()
            .await
            .map_err(|_| ConnectError::Interrupted)?;
        if let Some(grant) = self.fresh() {
            return Ok(grant);
        }
        let (run, issued) = (Arc::clone(&self.run), Arc::clone(&self.issued));
        let task = spawn_blocking(move || -> Result<Grant, ConnectError> {
            let result = run.issue()?;
            let grant = result.grant.clone();
            *issued.lock() = Some(result);
            drop(permit);
            Ok(grant)
        });
        task.await.unwrap_or(Err(ConnectError::Interrupted))
    }

    /// Discards `grant`, so that the next request runs the plugin. Does nothing when the plugin has
    /// run since.
    pub(super) fn reject(&self, grant: &Grant) {
        let mut issued = self.issued.lock();
        if issued
            .as_ref()
            .is_some_and(|issued| issued.grant.is_same(grant))
        {
            *issued = None;
        }
    }

    fn fresh(&self) -> Option<Grant> {
        let is_fresh = |until| self.clock.until(until) > RENEW_BEFORE;
        self.issued
            .lock()
            .as_ref()
            .filter(|issued| issued.until.is_none_or(is_fresh))
            .map(|issued| issued.grant.clone())
    }
}

impl Run {
    fn issue(&self) -> Result<Issued, ConnectError> {
        let interactive = self.is_interactive()?;
        let mut command = self.command(interactive);
        let output = command
            .output()
            .map_err(|source| ConnectError::PluginStart {
                command: self.command.clone(),
                hint: self.hint(),
                source,
            })?;
        if !output.status.success() {
            return Err(self.failed(&output));
        }
        self.read(&output.stdout)
    }

    /// Whether the plugin can use the terminal; the rules are those of client-go
    /// (plugin/pkg/client/auth/exec/exec.go, `isInteractive`).
    fn is_interactive(&self) -> Result<bool, ConnectError> {
        let terminal = std::io::stdin().is_terminal();
        match self.exec.interactive_mode {
            Some(ExecInteractiveMode::Never) => Ok(false),
            Some(ExecInteractiveMode::Always) if !terminal => Err(ConnectError::NoTerminal {
                command: self.command.clone(),
            }),
            Some(ExecInteractiveMode::Always | ExecInteractiveMode::IfAvailable) | None => {
                Ok(terminal)
            }
        }
    }

    fn command(&self, interactive: bool) -> Command {
        let mut command = Command::new(&self.command);
        command.args(self.exec.args.iter().flatten());
        for variable in self.exec.env.iter().flatten() {
            if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
                command.env(name, value);
            }
        }
        command.env(
            "KUBERNETES_EXEC_INFO",
            self.exec_info(interactive).to_string(),
        );
        for name in self.exec.drop_env.iter().flatten() {
            command.env_remove(name);
        }
        if interactive {
            command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
        } else {
            command.stdin(Stdio::null());
        }
        command
    }

    fn exec_info(&self, interactive: bool) -> Value {
        let mut info = json!({
            "apiVersion": self.exec.api_version,
            "kind": "ExecCredential",
            "spec": {"interactive": interactive},
        });
        if self.exec.provide_cluster_info {
            info["spec"]["cluster"] = json!(self.exec.cluster);
        }
        info
    }

    fn hint(&self) -> String {
        let hint = self.exec.install_hint.clone();
        hint.unwrap_or_else(|| "check that it is installed and in PATH".to_owned())
    }

    fn failed(&self, output: &Output) -> ConnectError {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let message = match stderr.trim() {
            "" => "standard error is empty".to_owned(),
            text => text.chars().take(MAX_STDERR).collect(),
        };
        ConnectError::PluginFailed {
            command: self.command.clone(),
            status: output.status,
            message,
        }
    }

    /// Parses the output. Some plugins write YAML, which client-go accepts. Errors do not quote the
    /// output, because any part of it can be the secret.
    fn read(&self, stdout: &[u8]) -> Result<Issued, ConnectError> {
        let invalid = |what| ConnectError::PluginOutput {
            command: self.command.clone(),
            what,
        };
        let credential: Value = serde_json::from_slice(stdout)
            .ok()
            .or_else(|| yaml::from_str(str::from_utf8(stdout).ok()?).ok())
            .ok_or_else(|| invalid("neither JSON nor YAML"))?;
        let status = &credential["status"];
        let text = |field: &str| status[field].as_str().filter(|text| !text.is_empty());
        let until = text("expirationTimestamp")
            .map(str::parse::<Timestamp>)
            .transpose()
            .map_err(|_| invalid("an invalid expirationTimestamp"))?;
        let header = text("token").map(bearer).transpose()?;
        let issued = match (text("clientCertificateData"), text("clientKeyData")) {
            (Some(certificate), Some(key)) => {
                Some(Identity::from_pem(certificate.as_bytes(), key.as_bytes())?)
            }
            (None, None) => None,
            _ => {
                return Err(invalid(
                    "only one of clientCertificateData and clientKeyData",
                ));
            }
        };
        if header.is_none() && issued.is_none() {
            return Err(invalid(
                "no ExecCredential with a token or a client certificate",
            ));
        }
        let identity = issued.or_else(|| self.own.clone());
        let grant = Grant { header, identity };
        Ok(Issued { grant, until })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kube::config::ExecConfig;
    use kubewright_core::Clock;
    use serde_json::json;
    use tempfile::TempDir;
    use tokio::time::advance;

    use super::Plugin;
    use crate::client::connect_error::ConnectError;

    /// A plugin that is a shell script.
    fn plugin(script: &str) -> Plugin {
        let exec = json!({
            "apiVersion": "client.authentication.k8s.io/v1",
            "interactiveMode": "Never",
            "command": "sh",
            "args": ["-c", script],
            "env": [{"name": "WHO", "value": "ali"}],
        });
        let exec: ExecConfig = serde_json::from_value(exec).unwrap();
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        Plugin::new(&exec, None, clock).unwrap()
    }

    /// A plugin whose nth run issues the token `tn`, which expires at one o'clock of the nth day.
    fn counting(folder: &TempDir) -> Plugin {
        let runs = folder.path().join("runs");
        plugin(&format!(
            "echo run >> '{0}'; runs=$(wc -l < '{0}'); printf \
             '{{\"status\":{{\"token\":\"t%d\",\"expirationTimestamp\":\"2026-01-0%dT01:00:00Z\"}}}}' \
             $runs $runs",
            runs.display()
        ))
    }

    async fn token(plugin: &Plugin) -> String {
        let header = plugin.current().await.unwrap().header.unwrap();
        header.to_str().unwrap().to_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn token_is_renewed_a_minute_before_it_expires() {
        let folder = TempDir::new().unwrap();
        let plugin = counting(&folder);
        let (first, second) = tokio::join!(token(&plugin), token(&plugin));
        assert_eq!(
            (first.as_str(), second.as_str()),
            ("Bearer t1", "Bearer t1")
        );
        advance(Duration::from_secs(58 * 60)).await;
        assert_eq!(token(&plugin).await, "Bearer t1");
        advance(Duration::from_secs(60)).await;
        assert_eq!(token(&plugin).await, "Bearer t2");
    }

    #[tokio::test(start_paused = true)]
    async fn rejected_token_is_renewed_once() {
        let folder = TempDir::new().unwrap();
        let plugin = counting(&folder);
        let rejected = plugin.current().await.ok().unwrap();
        plugin.reject(&rejected);
        assert_eq!(token(&plugin).await, "Bearer t2");
        plugin.reject(&rejected);
        assert_eq!(token(&plugin).await, "Bearer t2");
    }

    #[tokio::test]
    async fn plugin_gets_its_variables_and_the_exec_info() {
        let plugin = plugin(
            "case \"$KUBERNETES_EXEC_INFO\" in *'\"interactive\":false'*) ;; *) exit 1;; esac\n\
             printf 'status:\\n  token: %s\\n' \"$WHO\"",
        );
        assert_eq!(token(&plugin).await, "Bearer ali");
    }

    #[tokio::test]
    async fn certificate_of_the_plugin_is_used() {
        let status = json!({"status": {
            "clientCertificateData":
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "clientKeyData": "-----BEGIN PRIVATE KEY-----\nBBBB\n-----END PRIVATE KEY-----\n",
        }});
        let plugin = plugin(&format!("cat <<'END'\n{status}\nEND"));
        let grant = plugin.current().await.ok().unwrap();
        assert!(grant.header.is_none());
        assert_eq!(grant.identity.unwrap().to_parts().0[0].to_vec(), [0, 0, 0]);
    }

    #[tokio::test]
    async fn failure_names_the_command_and_does_not_quote_the_output() {
        let failing = plugin("echo please log in >&2; exit 3");
        let error = failing.current().await.err().unwrap().to_string();
        assert!(
            error.contains("sh") && error.contains("exit status: 3"),
            "{error}"
        );
        assert!(error.contains("please log in"), "{error}");
        for script in [
            "echo sesame",
            "echo '{\"status\": \"sesame\"}'",
            "echo '{\"status\": {\"token\": \"sesame\", \"expirationTimestamp\": \"soon\"}}'",
            "echo '{\"status\": {\"clientKeyData\": \"sesame\"}}'",
            "echo 'sesame: [open'",
        ] {
            let error = plugin(script).current().await.err().unwrap();
            assert!(
                matches!(error, ConnectError::PluginOutput { .. }),
                "{error}"
            );
            assert!(!format!("{error} {error:?}").contains("sesame"), "{error}");
        }
    }
}
