//! The network of a cluster whose Pods are processes of this machine: the API server reaches a
//! Service through a proxy, as it does by konnectivity where it stands outside the cluster.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::JoinSet;

/// Where connections to a Service's address end.
#[derive(Debug)]
pub(super) struct Route {
    /// The Service's address, with its port.
    pub(super) service: String,
    pub(super) process: SocketAddr,
}

/// The proxy; it ends with the test.
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

    /// The flag that makes the API server use it.
    pub(super) fn flag(&self) -> &str {
        &self.flag
    }

    /// From now on the Service is reached.
    pub(super) fn lead(&self, route: Route) {
        self.route.set(route).expect("one Service");
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
            // Either side may hang up whenever it likes.
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Reads `CONNECT 10.0.0.7:443 HTTP/1.1` and goes between from then on.
async fn forward(stream: UnixStream, route: Arc<OnceLock<Route>>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut asked = String::new();
    stream.read_line(&mut asked).await?;
    let mut header = asked.clone();
    while !header.trim().is_empty() {
        header.clear();
        stream.read_line(&mut header).await?;
    }
    let address = asked.split(' ').nth(1).unwrap_or_default();
    let process = match route.get() {
        Some(route) if route.service == address => TcpStream::connect(route.process).await,
        _ => Err(io::ErrorKind::AddrNotAvailable.into()),
    };
    let Ok(mut process) = process else {
        let refused = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n";
        return stream.write_all(refused).await;
    };
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    copy_bidirectional(&mut stream, &mut process).await?;
    Ok(())
}
