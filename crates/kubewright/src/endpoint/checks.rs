//! Named health checks, with the responses of controller-runtime and Kubernetes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::StatusCode;

/// A health check, which returns the problem as an error.
pub(crate) type Check = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// Named checks of one probe.
#[derive(Clone, Default)]
pub(crate) struct Checks {
    named: BTreeMap<String, Check>,
}

/// The response to a probe.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProbeResponse {
    pub(super) code: StatusCode,
    pub(super) text: String,
}

impl Checks {
    /// Adds a check, or replaces the check of that name.
    pub(crate) fn add(&mut self, name: impl Into<String>, check: Check) {
        self.named.insert(name.into(), check);
    }

    /// Adds a check that returns without waiting.
    pub(crate) fn add_sync(
        &mut self,
        name: impl Into<String>,
        problem: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) {
        let check = move || -> BoxFuture<'static, Result<(), String>> {
            let result = problem().map_or(Ok(()), Err);
            Box::pin(async move { result })
        };
        self.add(name, Arc::new(check));
    }

    /// Returns the failing checks, each with its reason.
    pub(crate) async fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, check) in &self.named {
            if let Err(why) = check().await {
                problems.push(format!("{name}: {why}"));
            }
        }
        problems
    }

    /// Runs the check of that name and returns the response, which includes the reason of a
    /// failure.
    pub(super) async fn run_named(&self, name: &str) -> Option<ProbeResponse> {
        let result = match self.named.get(name) {
            Some(check) => check().await,
            None if self.named.is_empty() && name == "ping" => Ok(()),
            None => return None,
        };
        Some(match result {
            Ok(()) => ProbeResponse {
                code: StatusCode::OK,
                text: "ok".to_owned(),
            },
            Err(why) => ProbeResponse {
                code: StatusCode::INTERNAL_SERVER_ERROR,
                text: format!("internal server error: {why}\n"),
            },
        })
    }

    /// Runs all checks that the query does not exclude. The response has no reasons, because any
    /// client that reaches the port can send a probe.
    pub(super) async fn run_all(&self, query: Option<&str>) -> ProbeResponse {
        let query = Query::parse(query.unwrap_or_default());
        let mut lines = Vec::new();
        let mut failed = false;
        for (name, check) in &self.named {
            if query.excluded.contains(name) {
                lines.push(format!("[+]{name} excluded: ok\n"));
                continue;
            }
            match check().await {
                Ok(()) => lines.push(format!("[+]{name} ok\n")),
                Err(why) => {
                    tracing::debug!(check = name, "a check of a probe failed: {why}");
                    failed = true;
                    lines.push(format!("[-]{name} failed: reason withheld\n"));
                }
            }
        }
        if self.named.is_empty() {
            lines.push("[+]ping ok\n".to_owned());
        }
        let unknown: Vec<_> = query
            .excluded
            .iter()
            .filter(|name| !self.named.contains_key(*name))
            .map(|name| format!("{name:?}"))
            .collect();
        if !unknown.is_empty() {
            lines.push(format!(
                "warn: some health checks cannot be excluded: no matches for {}\n",
                unknown.join(",")
            ));
        }
        if failed {
            return ProbeResponse {
                code: StatusCode::INTERNAL_SERVER_ERROR,
                text: lines.concat() + "healthz check failed\n",
            };
        }
        ProbeResponse {
            code: StatusCode::OK,
            text: if query.verbose {
                lines.concat() + "healthz check passed\n"
            } else {
                "ok".to_owned()
            },
        }
    }
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.named.keys()).finish()
    }
}

/// The query of a probe: `?verbose&exclude=NAME`.
struct Query {
    verbose: bool,
    excluded: BTreeSet<String>,
}

impl Query {
    fn parse(text: &str) -> Self {
        let pairs = text
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let mut query = Self {
            verbose: false,
            excluded: BTreeSet::new(),
        };
        for (name, value) in pairs {
            match name {
                "verbose" => query.verbose = true,
                "exclude" => drop(query.excluded.insert(value.to_owned())),
                _ => {}
            }
        }
        query
    }
}

#[cfg(test)]
mod tests {
    use super::Checks;

    fn checks() -> Checks {
        let mut checks = Checks::default();
        checks.add_sync("caches", || None);
        checks.add_sync("disk", || Some("full".to_owned()));
        checks
    }

    #[tokio::test]
    async fn failing_check_fails_the_probe_and_only_its_own_path_has_the_reason() {
        let response = checks().run_all(None).await;
        assert_eq!(response.code, 500);
        assert_eq!(
            response.text,
            "[+]caches ok\n[-]disk failed: reason withheld\nhealthz check failed\n"
        );
        let named = checks().run_named("disk").await.unwrap();
        assert_eq!(
            (named.code.as_u16(), named.text.as_str()),
            (500, "internal server error: full\n")
        );
        assert_eq!(checks().run_named("caches").await.unwrap().text, "ok");
        assert_eq!(checks().run_named("other").await, None);
    }

    #[tokio::test]
    async fn excluded_checks_are_not_run_and_verbose_lists_all() {
        let response = checks().run_all(Some("exclude=disk")).await;
        assert_eq!(
            (response.code.as_u16(), response.text.as_str()),
            (200, "ok")
        );
        let response = checks()
            .run_all(Some("verbose&exclude=disk&exclude=no"))
            .await;
        assert_eq!(
            response.text,
            "[+]caches ok\n[+]disk excluded: ok\nwarn: some health checks cannot be excluded: no \
             matches for \"no\"\nhealthz check passed\n"
        );
    }

    #[tokio::test]
    async fn probe_without_checks_has_ping() {
        let none = Checks::default();
        assert_eq!(none.run_all(None).await.text, "ok");
        assert_eq!(none.run_named("ping").await.unwrap().text, "ok");
        let verbose = none.run_all(Some("verbose")).await.text;
        assert_eq!(verbose, "[+]ping ok\nhealthz check passed\n");
    }
}
