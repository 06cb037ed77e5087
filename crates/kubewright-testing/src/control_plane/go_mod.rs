use std::fmt::Write as _;

use super::program::Program;

/// The oldest Go whose `go.mod` may name tools.
const FIRST_WITH_TOOLS: (u32, u32) = (1, 24);

/// What a `go.mod` says, as far as we need it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GoMod<'a> {
    /// The language version, such as `1.24.0`.
    go: &'a str,
    /// As `default=go1.24`.
    godebug: Vec<&'a str>,
    /// Path and version.
    requires: Vec<(&'a str, &'a str)>,
    /// What is taken from elsewhere, and from where.
    replaces: Vec<(&'a str, &'a str)>,
}

impl<'a> GoMod<'a> {
    /// Reads the form that `go mod tidy` writes.
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
                    parsed.take(directive, rest.trim());
                }
                directive => parsed.take(directive, line),
            }
        }
        parsed
    }

    fn take(&mut self, directive: &str, rest: &'a str) {
        match directive {
            "go" => self.go = rest,
            "godebug" => self.godebug.push(rest),
            "require" => self.requires.extend(rest.split_once(' ')),
            "replace" => self.replaces.extend(rest.split_once(" => ")),
            _ => {}
        }
    }

    /// The version of a module that is required.
    pub(super) fn version_of(&self, module: &str) -> Option<&'a str> {
        let mut requires = self.requires.iter();
        requires
            .find(|(path, _)| *path == module)
            .map(|(_, version)| *version)
    }

    /// For the `go.mod` of Kubernetes of that version: one of ours that names its programs, with
    /// the same modules. What Kubernetes takes from its own folder `staging` is published as 0.N.
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
        for (path, place) in &self.replaces {
            match place.starts_with("./") {
                true => line(&mut text, format_args!("\t{path} => {path} v0.{staging}")),
                false => line(&mut text, format_args!("\t{path} => {place}")),
            }
        }
        line(&mut text, format_args!(")"));
        text
    }

    /// Its own, unless that is too old for tools.
    fn language(&self) -> String {
        let mut numbers = self.go.split('.').map(|number| number.parse().ok());
        let own = (numbers.next().flatten(), numbers.next().flatten());
        match own {
            (Some(major), Some(minor)) if (major, minor) >= FIRST_WITH_TOOLS => self.go.to_owned(),
            _ => format!("{}.{}.0", FIRST_WITH_TOOLS.0, FIRST_WITH_TOOLS.1),
        }
    }
}

/// Writing to text does not fail.
fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::GoMod;

    const THEIRS: &str = "// Comment.\nmodule k8s.io/kubernetes\n\ngo 1.24.0\n\n\
                          godebug default=go1.24\n\nrequire (\n\tgithub.com/a/b v1.2.3\n\t\
                          k8s.io/api v0.0.0\n)\n\nrequire go.etcd.io/etcd/server/v3 v3.6.4 // \
                          indirect\n\nreplace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n\t\
                          github.com/c => github.com/d v1.0.0\n)\n";

    #[test]
    fn the_modules_of_kubernetes_are_ours_and_its_staging_is_published() {
        let ours = GoMod::parse(THEIRS).control_plane("1.34.2");
        for wanted in [
            "go 1.24.0\n",
            "godebug default=go1.24\n",
            "\tk8s.io/kubernetes v1.34.2\n",
            "\tgithub.com/a/b v1.2.3\n",
            "\tk8s.io/kubernetes/cmd/kube-apiserver\n",
            "\tk8s.io/api => k8s.io/api v0.34.2\n",
            "\tgithub.com/c => github.com/d v1.0.0\n",
        ] {
            assert!(ours.contains(wanted), "{wanted:?} in\n{ours}");
        }
        let parsed = GoMod::parse(&ours);
        assert_eq!(
            parsed.version_of("go.etcd.io/etcd/server/v3"),
            Some("v3.6.4")
        );
        assert_eq!(parsed.version_of("k8s.io/kubernetes"), Some("v1.34.2"));
    }

    #[test]
    fn a_language_without_tools_is_made_newer() {
        let older = THEIRS.replace("go 1.24.0", "go 1.23.0");
        let ours = GoMod::parse(&older).control_plane("1.32.1");
        assert!(ours.contains("\ngo 1.24.0\n"), "{ours}");
    }
}
