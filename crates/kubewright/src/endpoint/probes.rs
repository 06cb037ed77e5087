//! The probes of the kubelet: `/healthz` and `/readyz`.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};
use http_body_util::Full;

use super::Checks;
use super::server::{Handler, text};

/// The checks of `/healthz`, whether the process works, and of `/readyz`, whether it is ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probes {
    pub(crate) healthz: Checks,
    pub(crate) readyz: Checks,
}

impl Probes {
    pub(crate) fn handler(self: Arc<Self>) -> Handler {
        Arc::new(move |head| {
            let probes = Arc::clone(&self);
            Box::pin(async move { probes.respond(&head).await })
        })
    }

    async fn respond(&self, head: &Parts) -> Response<Full<Bytes>> {
        let path = head.uri.path().trim_end_matches('/');
        let probe = [("/healthz", &self.healthz), ("/readyz", &self.readyz)]
            .into_iter()
            .find_map(|(root, checks)| Some((checks, path.strip_prefix(root)?)));
        let response = match probe {
            Some((checks, "")) => Some(checks.run_all(head.uri.query()).await),
            Some((checks, rest)) => match rest.strip_prefix('/') {
                Some(name) => checks.run_named(name).await,
                None => None,
            },
            None => None,
        };
        match response {
            Some(response) => text(response.code, response.text),
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

    async fn get(probes: &Probes, path: &str) -> (u16, String) {
        let (head, ()) = Request::get(path).body(()).unwrap().into_parts();
        let response = Arc::new(probes.clone()).handler()(head).await;
        let code = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (code, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn process_that_is_not_ready_is_still_healthy() {
        let mut probes = Probes::default();
        probes
            .readyz
            .add_sync("caches", || Some("empty".to_owned()));
        assert_eq!(get(&probes, "/healthz").await, (200, "ok".to_owned()));
        assert_eq!(get(&probes, "/readyz/").await.0, 500);
        let named = get(&probes, "/readyz/caches").await;
        assert_eq!(named, (500, "internal server error: empty\n".to_owned()));
        for path in ["/", "/readyzz", "/readyz/no", "/metrics"] {
            assert_eq!(get(&probes, path).await.0, 404, "{path}");
        }
    }
}
