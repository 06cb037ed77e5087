use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::StatusCode;

/// Says what is wrong, if anything is.
pub(crate) type Check = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// Named checks, and how they are told, as controller-runtime and Kubernetes do it.
#[derive(Clone, Default)]
pub(crate) struct Checks {
    named: BTreeMap<String, Check>,
}

/// The answer to a probe.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) code: StatusCode,
    pub(super) text: String,
}

impl Checks {
    /// Adds a check; one of the same name is replaced.
    pub(crate) fn add(&mut self, name: impl Into<String>, check: Check) {
        self.named.insert(name.into(), check);
    }

    /// Adds a check that knows its answer at once.
    pub(crate) fn add_known(
        &mut self,
        name: impl Into<String>,
        problem: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) {
        let check = move || -> BoxFuture<'static, Result<(), String>> {
            let answer = problem().map_or(Ok(()), Err);
            Box::pin(async move { answer })
        };
        self.add(name, Arc::new(check));
    }

    /// What fails now, each with its reason.
    pub(crate) async fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, check) in &self.named {
            if let Err(why) = check().await {
                problems.push(format!("{name}: {why}"));
            }
        }
        problems
    }

    /// The one check of that name; none when there is none. Its reason is told.
    pub(super) async fn one(&self, name: &str) -> Option<Verdict> {
        let answer = match self.named.get(name) {
            Some(check) => check().await,
            None if self.named.is_empty() && name == "ping" => Ok(()),
            None => return None,
        };
        Some(match answer {
            Ok(()) => Verdict {
                code: StatusCode::OK,
                text: "ok".to_owned(),
            },
            Err(why) => Verdict {
                code: StatusCode::INTERNAL_SERVER_ERROR,
                text: format!("internal server error: {why}\n"),
            },
        })
    }

    /// All of them but those that the query excludes. Reasons are not told here: whoever reaches
    /// the port may ask.
    pub(super) async fn all(&self, query: Option<&str>) -> Verdict {
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
                    tracing::debug!(check = name, "a probe fails: {why}");
                    failed = true;
                    lines.push(format!("[-]{name} failed: reason withheld\n"));
                }
            }
        }
        if self.named.is_empty() {
            lines.push("[+]ping ok\n".to_owned());
        }
        let unknown = query.excluded.iter();
        let unknown = unknown.filter(|name| !self.named.contains_key(*name));
        let unknown: Vec<_> = unknown.map(|name| format!("{name:?}")).collect();
        if !unknown.is_empty() {
            lines.push(format!(
                "warn: some health checks cannot be excluded: no matches for {}\n",
                unknown.join(",")
            ));
        }
        match (failed, query.verbose) {
            (false, false) => Verdict {
                code: StatusCode::OK,
                text: "ok".to_owned(),
            },
            (false, true) => Verdict {
                code: StatusCode::OK,
                text: lines.concat() + "healthz check passed\n",
            },
            (true, _) => Verdict {
                code: StatusCode::INTERNAL_SERVER_ERROR,
                text: lines.concat() + "healthz check failed\n",
            },
        }
    }
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.named.keys()).finish()
    }
}

/// `?verbose&exclude=NAME`.
struct Query {
    verbose: bool,
    excluded: BTreeSet<String>,
}

impl Query {
    fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
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
        checks.add_known("caches", || None);
        checks.add_known("disk", || Some("full".to_owned()));
        checks
    }

    #[tokio::test]
    async fn one_that_fails_fails_all_and_its_reason_is_told_only_by_name() {
        let verdict = checks().all(None).await;
        assert_eq!(verdict.code, 500);
        assert_eq!(
            verdict.text,
            "[+]caches ok\n[-]disk failed: reason withheld\nhealthz check failed\n"
        );
        let named = checks().one("disk").await.unwrap();
        assert_eq!(
            (named.code.as_u16(), named.text.as_str()),
            (500, "internal server error: full\n")
        );
        assert_eq!(checks().one("caches").await.unwrap().text, "ok");
        assert_eq!(checks().one("other").await, None);
    }

    #[tokio::test]
    async fn excluded_checks_do_not_count_and_verbose_names_all() {
        let verdict = checks().all(Some("exclude=disk")).await;
        assert_eq!((verdict.code.as_u16(), verdict.text.as_str()), (200, "ok"));
        let verdict = checks().all(Some("verbose&exclude=disk&exclude=no")).await;
        assert_eq!(
            verdict.text,
            "[+]caches ok\n[+]disk excluded: ok\nwarn: some health checks cannot be excluded: no \
             matches for \"no\"\nhealthz check passed\n"
        );
    }

    #[tokio::test]
    async fn without_checks_there_is_ping() {
        let none = Checks::default();
        assert_eq!(none.all(None).await.text, "ok");
        assert_eq!(none.one("ping").await.unwrap().text, "ok");
        let verbose = none.all(Some("verbose")).await.text;
        assert_eq!(verbose, "[+]ping ok\nhealthz check passed\n");
    }
}
