//! The server on a socket: certificates, tokens, HTTP/2.

use http::Request;
use http_body_util::Full;
use kubewright_apiserver::{Server, ServerOptions};
use kubewright_http::pki::{Authority, Subject};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::Client;
use crate::socket::{Socket, get};

#[tokio::test]
async fn client_certificate_has_user_and_groups() {
    let server = Server::new(ServerOptions::default());
    let socket = Socket::open(&server).await;
    let admin = socket.client("root", &["devs", "system:masters"]);
    let (code, list) = socket.call(Some(admin), get("/api/v1/namespaces")).await;
    assert_eq!((code, &list["kind"]), (200, &json!("NamespaceList")));
    let bob = socket.client("bob", &["devs"]);
    let (code, rejected) = socket.call(Some(bob), get("/api/v1/namespaces")).await;
    assert_eq!(code, 403);
    assert!(
        rejected["message"]
            .to_string()
            .contains("User \\\"bob\\\" cannot list"),
        "{rejected}"
    );
    socket.close().await;
}

#[tokio::test]
async fn request_without_certificate_needs_a_token() {
    let server = Server::new(ServerOptions::default());
    let socket = Socket::open(&server).await;
    let (code, rejected) = socket.call(None, get("/version")).await;
    assert_eq!((code, &rejected["reason"]), (401, &json!("Unauthorized")));
    let admin = Client::admin(&server);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    admin
        .post(accounts, &json!({"metadata": {"name": "robot"}}))
        .await
        .ok();
    let issued = admin
        .post(&format!("{accounts}/robot/token"), &json!({}))
        .await
        .ok();
    let token = issued["status"]["token"].as_str().unwrap();
    let request = Request::get("/version")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {token}"))
        .body(Full::default())
        .unwrap();
    assert_eq!(socket.call(None, request).await.0, 200);
    socket.close().await;
}

#[tokio::test]
async fn foreign_certificates_and_malformed_connections_do_not_block_others() {
    let server = Server::new(ServerOptions::default());
    let socket = Socket::open(&server).await;
    let stranger = Authority::new("other").unwrap();
    let stranger = stranger
        .issue(&Subject {
            common_name: "root".to_owned(),
            organizations: vec!["system:masters".to_owned()],
            ..Subject::default()
        })
        .unwrap();
    // The server's refusal arrives with the first read at the latest.
    if let Ok(mut stream) = socket.connect(Some(stranger), &[]).await {
        let mut byte = [0];
        assert!(matches!(stream.read(&mut byte).await, Ok(0) | Err(_)));
    }
    let mut noise = TcpStream::connect(socket.address).await.unwrap();
    noise.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut rest = Vec::new();
    noise.read_to_end(&mut rest).await.ok();
    let silent = TcpStream::connect(socket.address).await.unwrap();
    let admin = socket.client("root", &["system:masters"]);
    assert_eq!(socket.call(Some(admin), get("/version")).await.0, 200);
    drop(silent);
    socket.close().await;
}

#[cfg(feature = "http2")]
mod http2 {
    use std::time::Duration;

    use bytes::Bytes;
    use http::{Request, Version};
    use http_body_util::{BodyExt, Empty};
    use hyper::client::conn::http2;
    use hyper::rt::Executor;
    use hyper_util::rt::TokioIo;
    use kubewright_apiserver::{Server, ServerOptions};
    use tokio_util::task::TaskTracker;

    use crate::socket::Socket;

    #[tokio::test]
    async fn http2_is_negotiated_and_shutdown_ends_watches() {
        let server = Server::new(ServerOptions::default());
        let socket = Socket::open(&server).await;
        let admin = socket.client("root", &["system:masters"]);
        let stream = socket
            .connect(Some(admin), &["h2", "http/1.1"])
            .await
            .unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
        let tasks = Owned(TaskTracker::new());
        let (mut sender, connection) = http2::handshake(tasks.clone(), TokioIo::new(stream))
            .await
            .unwrap();
        tasks.execute(connection);
        let watch = Request::get("https://localhost/api/v1/namespaces?watch=1")
            .body(Empty::<Bytes>::new())
            .unwrap();
        let response = sender.send_request(watch).await.unwrap();
        assert_eq!(
            (response.status().as_u16(), response.version()),
            (200, Version::HTTP_2)
        );
        let mut body = response.into_body();
        assert!(body.frame().await.unwrap().is_ok());
        let stopped = tokio::time::timeout(Duration::from_secs(20), socket.close()).await;
        assert!(stopped.is_ok());
    }

    /// Gives what hyper's client starts an owner.
    #[derive(Clone)]
    struct Owned(TaskTracker);

    impl<F> Executor<F> for Owned
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        fn execute(&self, task: F) {
            self.0.spawn(task);
        }
    }
}
