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
use super::grant::{Grant, bearer};
use crate::client::fault::Fault;

/// How long before its end a credential is had anew.
const EARLY: Duration = Duration::from_secs(60);

/// How much of what a plugin says about its failure is told.
const TOLD: usize = 1000;

/// A program that makes credentials:
/// <https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins>
pub(super) struct Plugin {
    run: Arc<Run>,
    clock: Clock,
    issued: Arc<Mutex<Option<Issued>>>,
    /// One run at a time: those who wait for a turn find what it answered.
    turn: Arc<Semaphore>,
}

/// What is run, and the certificate of those whom the plugin gives none.
struct Run {
    command: String,
    exec: ExecConfig,
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
    ) -> Result<Self, Fault> {
        let command = exec.command.clone().ok_or(Fault::NoCommand)?;
        let exec = exec.clone();
        Ok(Self {
            run: Arc::new(Run { command, exec, own }),
            clock,
            issued: Arc::default(),
            turn: Arc::new(Semaphore::new(1)),
        })
    }

    /// What the plugin has answered, or answers now.
    ///
    /// # Cancel safety
    ///
    /// Dropped, nothing is lost: a run comes to its end, and what it answers is kept.
    pub(super) async fn current(&self) -> Result<Grant, Fault> {
        if let Some(grant) = self.fresh() {
            return Ok(grant);
        }
        let turn = Arc::clone(&self.turn).acquire_owned().await;
        let turn = turn.map_err(|_| Fault::Interrupted)?;
        if let Some(grant) = self.fresh() {
            return Ok(grant);
        }
        let (run, issued) = (Arc::clone(&self.run), Arc::clone(&self.issued));
        let running = spawn_blocking(move || -> Result<Grant, Fault> {
            let answer = run.answer()?;
            let grant = answer.grant.clone();
            *issued.lock() = Some(answer);
            drop(turn);
            Ok(grant)
        });
        running.await.unwrap_or(Err(Fault::Interrupted))
    }

    /// Runs again for the next request, unless that has happened since `grant` was given.
    pub(super) fn forget(&self, grant: &Grant) {
        let mut issued = self.issued.lock();
        if issued.as_ref().is_some_and(|issued| issued.grant.is(grant)) {
            *issued = None;
        }
    }

    fn fresh(&self) -> Option<Grant> {
        let issued = self.issued.lock();
        let lasts = |until| self.clock.until(until) > EARLY;
        let issued = issued
            .as_ref()
            .filter(|issued| issued.until.is_none_or(lasts));
        issued.map(|issued| issued.grant.clone())
    }
}

impl Run {
    fn answer(&self) -> Result<Issued, Fault> {
        let interactive = self.is_interactive()?;
        let mut command = self.command(interactive);
        let output = command.output().map_err(|source| Fault::Start {
            command: self.command.clone(),
            hint: self.hint(),
            source,
        })?;
        if !output.status.success() {
            return Err(self.failed(&output));
        }
        self.read(&output.stdout)
    }

    /// As client-go decides it.
    fn is_interactive(&self) -> Result<bool, Fault> {
        let terminal = std::io::stdin().is_terminal();
        match self.exec.interactive_mode {
            Some(ExecInteractiveMode::Never) => Ok(false),
            Some(ExecInteractiveMode::Always) if !terminal => Err(Fault::NoTerminal {
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
            self.question(interactive).to_string(),
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

    fn question(&self, interactive: bool) -> Value {
        let mut question = json!({
            "apiVersion": self.exec.api_version,
            "kind": "ExecCredential",
            "spec": {"interactive": interactive},
        });
        if self.exec.provide_cluster_info {
            question["spec"]["cluster"] = json!(self.exec.cluster);
        }
        question
    }

    fn hint(&self) -> String {
        let hint = self.exec.install_hint.clone();
        hint.unwrap_or_else(|| "check that it is installed and in PATH".to_owned())
    }

    fn failed(&self, output: &Output) -> Fault {
        let told = String::from_utf8_lossy(&output.stderr);
        let told = match told.trim() {
            "" => "it says nothing".to_owned(),
            told => told.chars().take(TOLD).collect(),
        };
        Fault::Failed {
            command: self.command.clone(),
            status: output.status,
            told,
        }
    }

    /// Some plugins write YAML, which client-go accepts. What is wrong is told without quoting:
    /// any part of the text may be the secret.
    fn read(&self, stdout: &[u8]) -> Result<Issued, Fault> {
        let wrong = |what| Fault::Answer {
            command: self.command.clone(),
            what,
        };
        let credential: Value = serde_json::from_slice(stdout)
            .ok()
            .or_else(|| yaml::from_str(str::from_utf8(stdout).ok()?).ok())
            .ok_or_else(|| wrong("neither JSON nor YAML"))?;
        let status = &credential["status"];
        let text = |field: &str| status[field].as_str().filter(|text| !text.is_empty());
        let until = text("expirationTimestamp").map(str::parse::<Timestamp>);
        let until = until
            .transpose()
            .map_err(|_| wrong("an expirationTimestamp that is no time"))?;
        let header = text("token").map(bearer).transpose()?;
        let identity = match (text("clientCertificateData"), text("clientKeyData")) {
            (Some(certificate), Some(key)) => {
                Some(Identity::from_pem(certificate.as_bytes(), key.as_bytes())?)
            }
            (None, None) => None,
            _ => return Err(wrong("only one of clientCertificateData and clientKeyData")),
        };
        if header.is_none() && identity.is_none() {
            return Err(wrong(
                "no ExecCredential with a token or a client certificate",
            ));
        }
        let identity = identity.or_else(|| self.own.clone());
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
    use crate::client::fault::Fault;

    /// A plugin of these lines of shell.
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

    /// Its token is how often it has run, and lasts until one o'clock of that day of the month.
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
    async fn a_token_is_had_anew_a_minute_before_it_ends() {
        let folder = TempDir::new().unwrap();
        let plugin = counting(&folder);
        let (one, other) = tokio::join!(token(&plugin), token(&plugin));
        assert_eq!((one.as_str(), other.as_str()), ("Bearer t1", "Bearer t1"));
        advance(Duration::from_secs(58 * 60)).await;
        assert_eq!(token(&plugin).await, "Bearer t1");
        advance(Duration::from_secs(60)).await;
        assert_eq!(token(&plugin).await, "Bearer t2");
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_that_is_refused_is_had_anew_once() {
        let folder = TempDir::new().unwrap();
        let plugin = counting(&folder);
        let refused = plugin.current().await.ok().unwrap();
        plugin.forget(&refused);
        assert_eq!(token(&plugin).await, "Bearer t2");
        plugin.forget(&refused);
        assert_eq!(token(&plugin).await, "Bearer t2");
    }

    #[tokio::test]
    async fn the_plugin_knows_its_variables_and_what_it_is_asked() {
        let plugin = plugin(
            "case \"$KUBERNETES_EXEC_INFO\" in *'\"interactive\":false'*) ;; *) exit 1;; esac\n\
             printf 'status:\\n  token: %s\\n' \"$WHO\"",
        );
        assert_eq!(token(&plugin).await, "Bearer ali");
    }

    #[tokio::test]
    async fn a_certificate_of_the_plugin_is_used() {
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
    async fn a_failure_names_the_command_and_quotes_no_answer() {
        let failing = plugin("echo please log in >&2; exit 3");
        let fault = failing.current().await.err().unwrap().to_string();
        assert!(
            fault.contains("sh") && fault.contains("exit status: 3"),
            "{fault}"
        );
        assert!(fault.contains("please log in"), "{fault}");
        for script in [
            "echo sesame",
            "echo '{\"status\": \"sesame\"}'",
            "echo '{\"status\": {\"token\": \"sesame\", \"expirationTimestamp\": \"soon\"}}'",
            "echo '{\"status\": {\"clientKeyData\": \"sesame\"}}'",
            "echo 'sesame: [open'",
        ] {
            let fault = plugin(script).current().await.err().unwrap();
            assert!(matches!(fault, Fault::Answer { .. }), "{fault}");
            assert!(!format!("{fault} {fault:?}").contains("sesame"), "{fault}");
        }
    }
}
