//! `kubewright dev` as a process of a test.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use rustix::process::{Pid, Signal, kill_process};

use super::kubewright;
use super::nested_build::without_package_variables;

/// A running `kubewright dev`, which is interrupted when it is dropped.
pub(super) struct DevProcess {
    child: Child,
    stderr: Lines<BufReader<ChildStderr>>,
}

impl DevProcess {
    pub(super) fn start(folder: &Path) -> Self {
        let mut command = kubewright(&["dev"]);
        without_package_variables(&mut command);
        let mut child = command
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        Self { child, stderr }
    }

    /// Reads standard error until a line contains the text, and returns that line.
    pub(super) fn wait_for(&mut self, text: &str) -> String {
        let mut lines = Vec::new();
        let mut stderr = (&mut self.stderr).map(|line| line.expect("text"));
        let found = stderr.find(|line| {
            lines.push(line.clone());
            line.contains(text)
        });
        assert!(found.is_some(), "{text} is not in\n{}", lines.join("\n"));
        found.unwrap_or_default()
    }

    /// Returns a client for its cluster.
    pub(super) async fn client(&mut self) -> kube::Client {
        let line = self.wait_for("kubectl --kubeconfig ");
        let path = line.split(' ').nth(3).expect("a path").to_owned();
        let kubeconfig = Kubeconfig::read_from(&path).expect("a kubeconfig");
        let config =
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        kube::Client::try_from(config.expect("a configuration")).expect("a client")
    }

    /// Kills the process of the operator, as the system does when memory is low.
    pub(super) fn kill_operator(&self) {
        let output = Command::new("ps").args(["-axo", "ppid=,pid="]).output();
        let processes = String::from_utf8(output.expect("ps runs").stdout).expect("text");
        let rows = processes.lines().filter_map(|line| {
            let mut numbers = line.split_whitespace().map(str::parse::<i32>);
            Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
        });
        let dev = i32::try_from(self.child.id()).expect("a process");
        let children: Vec<i32> = rows
            .filter(|(parent, _)| *parent == dev)
            .map(|(_, child)| child)
            .collect();
        let [operator] = children.try_into().expect("one child process");
        let operator = Pid::from_raw(operator).expect("a process");
        kill_process(operator, Signal::KILL).expect("the signal is sent");
    }
}

impl Drop for DevProcess {
    fn drop(&mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        pid.map(|pid| kill_process(pid, Signal::INT).ok());
        self.child.wait().ok();
    }
}
