//! Distributes connections over the replicas of an operator.

use std::io;
use std::net::{self, Ipv4Addr, Shutdown, SocketAddr};
use std::os::fd::AsFd as _;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::Error;

/// One address for several replicas, as a Service is for Pods. Replicas get connections in turn; if
/// one does not accept a connection, the next one gets it.
#[derive(Debug)]
pub(super) struct Balancer {
    replicas: Replicas,
    /// When dropped, all connections are closed.
    _accepting: JoinSet<()>,
}

#[derive(Clone, Debug, Default)]
struct Replicas(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The replica at the front gets the next connection.
    addresses: Vec<SocketAddr>,
    /// The open connections by replica: a second handle of the client's side, which does not keep
    /// the connection open.
    connections: Vec<(SocketAddr, Weak<net::TcpStream>)>,
}

impl Balancer {
    /// Accepts connections until it is dropped.
    pub(super) fn start(listener: TcpListener) -> Self {
        let replicas = Replicas::default();
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, replicas.clone()));
        Self {
            replicas,
            _accepting: accepting,
        }
    }

    /// Adds a replica and returns the socket on which it listens.
    ///
    /// # Cancel safety
    ///
    /// When dropped, no replica is added.
    pub(super) async fn add_replica(&self) -> Result<(TcpListener, SocketAddr), Error> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(any).await.map_err(Error::Listen)?;
        let address = listener.local_addr().map_err(Error::Listen)?;
        self.replicas.0.lock().addresses.push(address);
        Ok((listener, address))
    }

    /// Sends new connections to the other replicas.
    pub(super) fn remove(&self, address: SocketAddr) {
        self.replicas.remove(address);
    }

    /// Closes all connections to a replica before it returns, as the end of a process does: no
    /// client waits for a response while others still connect to the replica.
    pub(super) fn disconnect(&self, address: SocketAddr) {
        self.remove(address);
        let state = self.replicas.0.lock();
        let connections = state.connections.iter();
        let of_replica = connections.filter(|(replica, _)| *replica == address);
        for client in of_replica.filter_map(|(_, client)| client.upgrade()) {
            // Fails only if the client has closed the connection.
            client.shutdown(Shutdown::Both).ok();
        }
    }
}

impl Replicas {
    /// All addresses, beginning with the one that gets the next connection; it moves to the end.
    fn rotate(&self) -> Vec<SocketAddr> {
        let addresses = &mut self.0.lock().addresses;
        let now = addresses.clone();
        if !addresses.is_empty() {
            addresses.rotate_left(1);
        }
        now
    }

    /// Removes a replica for good: a replica that is started again has another address.
    fn remove(&self, address: SocketAddr) {
        self.0
            .lock()
            .addresses
            .retain(|replica| *replica != address);
    }

    /// Records a connection to a replica for as long as the returned handle lives; `None` when the
    /// replica has been removed.
    fn record(
        &self,
        client: &TcpStream,
        address: SocketAddr,
    ) -> io::Result<Option<Arc<net::TcpStream>>> {
        let client = Arc::new(net::TcpStream::from(client.as_fd().try_clone_to_owned()?));
        let state = &mut *self.0.lock();
        if !state.addresses.contains(&address) {
            return Ok(None);
        }
        state
            .connections
            .retain(|(_, client)| client.strong_count() > 0);
        state.connections.push((address, Arc::downgrade(&client)));
        Ok(Some(client))
    }
}

async fn accept(listener: TcpListener, replicas: Replicas) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(forward(stream, replicas.clone()));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Copies bytes in both directions until both sides have closed. Errors only end the connection.
async fn forward(mut client: TcpStream, replicas: Replicas) {
    for address in replicas.rotate() {
        match TcpStream::connect(address).await {
            Ok(mut server) => {
                let Ok(Some(_recorded)) = replicas.record(&client, address) else {
                    continue;
                };
                for stream in [&client, &server] {
                    stream.set_nodelay(true).ok();
                }
                copy_bidirectional(&mut client, &mut server).await.ok();
                return;
            }
            Err(_) => replicas.remove(address),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::Balancer;

    /// Accepts one connection and writes a word to it.
    async fn greet(listener: &TcpListener, word: &[u8]) {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(word).await.unwrap();
    }

    /// On one thread, no other task can close the connection before the call returns.
    #[tokio::test]
    async fn disconnect_closes_connections_before_it_returns() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let balancer = Balancer::start(listener);
        let (replica, replica_address) = balancer.add_replica().await.unwrap();
        let (stream, _open) = tokio::join!(TcpStream::connect(address), async {
            let (mut stream, _) = replica.accept().await.unwrap();
            stream.write_all(b"hello").await.unwrap();
            stream
        });
        let mut stream = stream.unwrap();
        stream.read_exact(&mut [0; 5]).await.unwrap();
        let stream = stream.into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        let soon = Some(Duration::from_secs(1));
        stream.set_read_timeout(soon).unwrap();
        balancer.disconnect(replica_address);
        assert_eq!((&stream).read(&mut [0; 1]).unwrap(), 0);
    }

    #[tokio::test]
    async fn replicas_get_connections_in_turn_until_one_is_gone() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let balancer = Balancer::start(listener);
        let (left, _) = balancer.add_replica().await.unwrap();
        let (right, _) = balancer.add_replica().await.unwrap();
        let connect = async || {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let mut word = String::new();
            stream.read_to_string(&mut word).await.unwrap();
            word
        };
        let (first, ()) = tokio::join!(connect(), greet(&left, b"left"));
        let (second, ()) = tokio::join!(connect(), greet(&right, b"right"));
        assert_eq!((first.as_str(), second.as_str()), ("left", "right"));
        drop(left);
        for _ in 0..2 {
            let (word, ()) = tokio::join!(connect(), greet(&right, b"right"));
            assert_eq!(word, "right");
        }
    }
}
