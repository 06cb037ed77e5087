use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::Error;

/// One address for several replicas, as a Service is where there are Pods: connections take turns,
/// and one that a replica refuses goes to the next.
#[derive(Debug)]
pub(super) struct Balancer {
    behind: Behind,
    /// Dropped, it ends with all of its connections.
    _accepting: JoinSet<()>,
}

/// Those behind it; the first has the next turn.
#[derive(Clone, Debug, Default)]
struct Behind(Arc<Mutex<Vec<SocketAddr>>>);

impl Balancer {
    /// Takes connections until it is dropped.
    pub(super) fn start(listener: TcpListener) -> Self {
        let behind = Behind::default();
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, behind.clone()));
        Self {
            behind,
            _accepting: accepting,
        }
    }

    /// A socket for one more replica.
    ///
    /// # Cancel safety
    ///
    /// Dropped, there is none.
    pub(super) async fn replica(&self) -> Result<(TcpListener, SocketAddr), Error> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(any).await.map_err(Error::Listen)?;
        let address = listener.local_addr().map_err(Error::Listen)?;
        self.behind.0.lock().push(address);
        Ok((listener, address))
    }

    /// Sends new connections to the others.
    pub(super) fn forget(&self, address: SocketAddr) {
        self.behind.forget(address);
    }
}

impl Behind {
    /// All of them, beginning with the one whose turn it is.
    fn turn(&self) -> Vec<SocketAddr> {
        let mut all = self.0.lock();
        let now = all.clone();
        if !all.is_empty() {
            all.rotate_left(1);
        }
        now
    }

    /// Nobody listens there any more: a replica that comes back has another address.
    fn forget(&self, address: SocketAddr) {
        self.0.lock().retain(|one| *one != address);
    }
}

async fn accept(listener: TcpListener, behind: Behind) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(forward(stream, behind.clone()));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Whatever one side says, until both have ended. That a side ends is no failure of ours.
async fn forward(mut near: TcpStream, behind: Behind) {
    for address in behind.turn() {
        match TcpStream::connect(address).await {
            Ok(mut far) => {
                for stream in [&near, &far] {
                    stream.set_nodelay(true).ok();
                }
                copy_bidirectional(&mut near, &mut far).await.ok();
                return;
            }
            Err(_) => behind.forget(address),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::Balancer;

    /// Greets the next who comes.
    async fn greet(listener: &TcpListener, word: &[u8]) {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(word).await.unwrap();
    }

    #[tokio::test]
    async fn replicas_take_turns_and_one_that_has_gone_is_passed_over() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let balancer = Balancer::start(listener);
        let [one, two] = [balancer.replica().await, balancer.replica().await];
        let ((one, _), (two, _)) = (one.unwrap(), two.unwrap());
        let heard = async || {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let mut said = String::new();
            stream.read_to_string(&mut said).await.unwrap();
            said
        };
        let (first, ()) = tokio::join!(heard(), greet(&one, b"one"));
        let (second, ()) = tokio::join!(heard(), greet(&two, b"two"));
        assert_eq!((first.as_str(), second.as_str()), ("one", "two"));
        drop(one);
        for _ in 0..2 {
            let (said, ()) = tokio::join!(heard(), greet(&two, b"two"));
            assert_eq!(said, "two");
        }
    }
}
