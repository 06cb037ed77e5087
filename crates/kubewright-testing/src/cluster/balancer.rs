use std::io;
use std::net::{self, Ipv4Addr, Shutdown, SocketAddr};
use std::os::fd::AsFd as _;
use std::sync::{Arc, Weak};

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

#[derive(Clone, Debug, Default)]
struct Behind(Arc<Mutex<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    /// Those behind it; the first has the next turn.
    replicas: Vec<SocketAddr>,
    /// Who talks with which of them: a second handle of the near side, gone with the first.
    open: Vec<(SocketAddr, Weak<net::TcpStream>)>,
}

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
        self.behind.0.lock().replicas.push(address);
        Ok((listener, address))
    }

    /// Sends new connections to the others.
    pub(super) fn forget(&self, address: SocketAddr) {
        self.behind.forget(address);
    }

    /// Ends all connections to a replica before it returns, as the end of a process does: those
    /// that wait for an answer are not let down one by one while others are still sent there.
    pub(super) fn cut(&self, address: SocketAddr) {
        self.forget(address);
        let lines = self.behind.0.lock();
        let its = lines.open.iter().filter(|(one, _)| *one == address);
        for near in its.filter_map(|(_, near)| near.upgrade()) {
            // One that the other side has ended is as it should be.
            near.shutdown(Shutdown::Both).ok();
        }
    }
}

impl Behind {
    /// All of them, beginning with the one whose turn it is.
    fn turn(&self) -> Vec<SocketAddr> {
        let replicas = &mut self.0.lock().replicas;
        let now = replicas.clone();
        if !replicas.is_empty() {
            replicas.rotate_left(1);
        }
        now
    }

    /// Nobody listens there any more: a replica that comes back has another address.
    fn forget(&self, address: SocketAddr) {
        self.0.lock().replicas.retain(|one| *one != address);
    }

    /// Notes that one talks with a replica, for as long as what it returns is kept; none when that
    /// replica was forgotten meanwhile.
    fn open(
        &self,
        near: &TcpStream,
        address: SocketAddr,
    ) -> io::Result<Option<Arc<net::TcpStream>>> {
        let near = Arc::new(net::TcpStream::from(near.as_fd().try_clone_to_owned()?));
        let lines = &mut *self.0.lock();
        if !lines.replicas.contains(&address) {
            return Ok(None);
        }
        lines.open.retain(|(_, near)| near.strong_count() > 0);
        lines.open.push((address, Arc::downgrade(&near)));
        Ok(Some(near))
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
                let Ok(Some(_open)) = behind.open(&near, address) else {
                    continue;
                };
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
    use std::io::Read as _;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::Balancer;

    /// Greets the next who comes.
    async fn greet(listener: &TcpListener, word: &[u8]) {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(word).await.unwrap();
    }

    /// On one thread: nobody but the balancer itself has a chance to end the connection.
    #[tokio::test]
    async fn one_that_is_cut_off_is_so_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = listener.local_addr().unwrap();
        let balancer = Balancer::start(listener);
        let (replica, address) = balancer.replica().await.unwrap();
        let (stream, _talks) = tokio::join!(TcpStream::connect(near), async {
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
        balancer.cut(address);
        assert_eq!((&stream).read(&mut [0; 1]).unwrap(), 0);
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
