//! Reads and writes `go.mod` files.

use std::fmt::Write as _;

use super::program::Program;

/// The first version of Go with tools in `go.mod`.
const FIRST_WITH_TOOLS: (u32, u32) = (1, 24);

/// The parts of a `go.mod` that this crate needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GoMod<'a> {
    /// The language version, such as `1.24.0`.
    go: &'a str,
    /// Settings such as `default=go1.24`.
    godebug: Vec<&'a str>,
    /// Paths and versions.
    requires: Vec<(&'a str, &'a str)>,
    /// Paths and their replacements.
    replaces: Vec<(&'a str, &'a str)>,
}

impl<'a> GoMod<'a> {
    /// Parses the format that `go mod tidy` writes.
    pub(super) fn parse(text: &'a str) -> Self {
        let mut parsed = Self::default();
        let mut block = "";
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or_default().trim();
            if let Some(name) = line.strip_suffix('(') {
                block = name.trim();
                continue;
            }
            if line == ")" {
                block = "";
                continue;
            }
            match block {
                "" => {
                    let (directive, rest) = line.split_once(' ').unwrap_or_default();
                    parsed.add(directive, rest.trim());
                }
                directive => parsed.add(directive, line),
            }
        }
        parsed
    }

    fn add(&mut self, directive: &str, rest: &'a str) {
        match directive {
            "go" => self.go = rest,
            "godebug" => self.godebug.push(rest),
            "require" => self.requires.extend(rest.split_once(' ')),
            "replace" => self.replaces.extend(rest.split_once(" => ")),
            _ => {}
        }
    }

    /// The version of a required module.
    pub(super) fn version_of(&self, module: &str) -> Option<&'a str> {
        let mut requires = self.requires.iter();
        requires
            .find(|(path, _)| *path == module)
            .map(|(_, version)| *version)
    }

    /// If this is the `go.mod` of a Kubernetes version: the `go.mod` of a module that has its
    /// programs as tools, with the same dependencies. The modules in the folder `staging` of
    /// Kubernetes are published as 0.N.
    pub(super) fn control_plane(&self, version: &str) -> String {
        let staging = version.strip_prefix("1.").unwrap_or(version);
        let mut text = format!(
            "module kubewright.dev/controlplane\n\ngo {}\n\n",
            self.language()
        );
        for setting in &self.godebug {
            line(&mut text, format_args!("godebug {setting}"));
        }
        line(&mut text, format_args!("\nrequire ("));
        line(&mut text, format_args!("\tk8s.io/kubernetes v{version}"));
        for (path, version) in &self.requires {
            line(&mut text, format_args!("\t{path} {version}"));
        }
        line(&mut text, format_args!(")\n\ntool ("));
        for program in Program::ALL {
            if program != Program::Kwok {
                line(&mut text, format_args!("\t{}", program.package()));
            }
        }
        line(&mut text, format_args!(")\n\nreplace ("));
        for (path, replacement) in &self.replaces {
            if replacement.starts_with("./") {
                line(&mut text, format_args!("\t{path} => {path} v0.{staging}"));
            } else {
                line(&mut text, format_args!("\t{path} => {replacement}"));
            }
        }
        line(&mut text, format_args!(")"));
        text
    }

    /// The language version, or the first one with tools if that is newer.
    fn language(&self) -> String {
        let mut numbers = self.go.split('.').map(|number| number.parse().ok());
        let own = (numbers.next().flatten(), numbers.next().flatten());
        match own {
            (Some(major), Some(minor)) if (major, minor) >= FIRST_WITH_TOOLS => self.go.to_owned(),
            _ => format!("{}.{}.0", FIRST_WITH_TOOLS.0, FIRST_WITH_TOOLS.1),
        }
    }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    writeln!(text, "{line}").ok();
}

#[cfg(test)]
mod tests {
    use super::GoMod;

    const KUBERNETES: &str = "// Comment.\nmodule k8s.io/kubernetes\n\ngo 1.24.0\n\n\
                          godebug default=go1.24\n\nrequire (\n\tgithub.com/a/b v1.2.3\n\t\
                          k8s.io/api v0.0.0\n)\n\nrequire go.etcd.io/etcd/server/v3 v3.6.4 // \
                          indirect\n\nreplace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n\t\
                          github.com/c => github.com/d v1.0.0\n)\n";

    #[test]
    fn dependencies_are_those_of_kubernetes_with_published_staging_modules() {
        let text = GoMod::parse(KUBERNETES).control_plane("1.34.2");
        for expected in [
            "go 1.24.0\n",
            "godebug default=go1.24\n",
            "\tk8s.io/kubernetes v1.34.2\n",
            "\tgithub.com/a/b v1.2.3\n",
            "\tk8s.io/kubernetes/cmd/kube-apiserver\n",
            "\tk8s.io/api => k8s.io/api v0.34.2\n",
            "\tgithub.com/c => github.com/d v1.0.0\n",
        ] {
            assert!(text.contains(expected), "{expected:?} in\n{text}");
        }
        let parsed = GoMod::parse(&text);
        assert_eq!(
            parsed.version_of("go.etcd.io/etcd/server/v3"),
            Some("v3.6.4")
        );
        assert_eq!(parsed.version_of("k8s.io/kubernetes"), Some("v1.34.2"));
    }

    #[test]
    fn language_version_without_tools_is_raised() {
        let older = KUBERNETES.replace("go 1.24.0", "go 1.23.0");
        let text = GoMod::parse(&older).control_plane("1.32.1");
        assert!(text.contains("\ngo 1.24.0\n"), "{text}");
    }
}
