//! The network of a cluster whose Pods are processes of this machine: the API server reaches a
//! Service through a proxy, as with konnectivity when it runs outside the cluster.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::JoinSet;

/// The process that connections to a Service are forwarded to.
#[derive(Debug)]
pub(super) struct Route {
    /// The Service's address, with its port.
    pub(super) service: String,
    pub(super) process: SocketAddr,
}

/// The proxy, which stops when it is dropped.
pub(super) struct Egress {
    flag: String,
    route: Arc<OnceLock<Route>>,
    _tasks: JoinSet<()>,
}

impl Egress {
    /// Listens on a socket in the folder.
    pub(super) fn listen(folder: &Path) -> Self {
        let socket = folder.join("egress.sock");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let configuration = json!({
            "apiVersion": "apiserver.k8s.io/v1beta1",
            "kind": "EgressSelectorConfiguration",
            "egressSelections": [{
                "name": "cluster",
                "connection": {
                    "proxyProtocol": "HTTPConnect",
                    "transport": {"uds": {"udsName": socket}},
                },
            }],
        });
        let file = folder.join("egress.json");
        fs::write(&file, configuration.to_string()).expect("a file");
        let route = Arc::new(OnceLock::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&route)));
        Self {
            flag: format!("--egress-selector-config-file={}", file.display()),
            route,
            _tasks: tasks,
        }
    }

    /// Returns the flag with which the API server uses the proxy.
    pub(super) fn flag(&self) -> &str {
        &self.flag
    }

    /// Forwards connections to the Service from now on.
    pub(super) fn set_route(&self, route: Route) {
        self.route.set(route).expect("the only Service");
    }
}

async fn accept(listener: UnixListener, route: Arc<OnceLock<Route>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    return;
                };
                connections.spawn(forward(stream, Arc::clone(&route)));
            }
            // A connection that fails affects only its own request.
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Reads `CONNECT 10.0.0.7:443 HTTP/1.1` and forwards all bytes afterwards.
async fn forward(stream: UnixStream, route: Arc<OnceLock<Route>>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut request_line = String::new();
    stream.read_line(&mut request_line).await?;
    let mut header = request_line.clone();
    while !header.trim().is_empty() {
        header.clear();
        stream.read_line(&mut header).await?;
    }
    let address = request_line.split(' ').nth(1).unwrap_or_default();
    let process = match route.get() {
        Some(route) if route.service == address => TcpStream::connect(route.process).await,
        _ => Err(io::ErrorKind::AddrNotAvailable.into()),
    };
    let Ok(mut process) = process else {
        let bad_gateway = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n";
        return stream.write_all(bad_gateway).await;
    };
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    copy_bidirectional(&mut stream, &mut process).await?;
    Ok(())
}
