use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};
use http_body_util::Full;

use super::Checks;
use super::server::{Handler, text};

/// What a kubelet asks: whether the process lives, and whether it can do its work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probes {
    pub(crate) healthz: Checks,
    pub(crate) readyz: Checks,
}

impl Probes {
    pub(crate) fn handler(self: Arc<Self>) -> Handler {
        Arc::new(move |head| {
            let probes = Arc::clone(&self);
            Box::pin(async move { probes.answer(&head).await })
        })
    }

    async fn answer(&self, head: &Parts) -> Response<Full<Bytes>> {
        let path = head.uri.path().trim_end_matches('/');
        let asked = [("/healthz", &self.healthz), ("/readyz", &self.readyz)]
            .into_iter()
            .find_map(|(root, checks)| Some((checks, path.strip_prefix(root)?)));
        let verdict = match asked {
            Some((checks, "")) => Some(checks.all(head.uri.query()).await),
            Some((checks, rest)) => match rest.strip_prefix('/') {
                Some(name) => checks.one(name).await,
                None => None,
            },
            None => None,
        };
        match verdict {
            Some(verdict) => text(verdict.code, verdict.text),
            None => text(StatusCode::NOT_FOUND, "404 page not found\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::Request;
    use http_body_util::BodyExt as _;

    use super::Probes;

    async fn ask(probes: &Probes, path: &str) -> (u16, String) {
        let (head, ()) = Request::get(path).body(()).unwrap().into_parts();
        let response = Arc::new(probes.clone()).handler()(head).await;
        let code = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (code, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_process_that_is_not_ready_lives_all_the_same() {
        let mut probes = Probes::default();
        probes
            .readyz
            .add_known("caches", || Some("empty".to_owned()));
        assert_eq!(ask(&probes, "/healthz").await, (200, "ok".to_owned()));
        assert_eq!(ask(&probes, "/readyz/").await.0, 500);
        let named = ask(&probes, "/readyz/caches").await;
        assert_eq!(named, (500, "internal server error: empty\n".to_owned()));
        for path in ["/", "/readyzz", "/readyz/no", "/metrics"] {
            assert_eq!(ask(&probes, path).await.0, 404, "{path}");
        }
    }
}
