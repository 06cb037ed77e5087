use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::connection::serve_connection;
use super::{Error, ServingIdentity};
use crate::server::Server;

/// The most connections that are open at once; more wait in the listener's queue.
const CONNECTIONS: usize = 1024;
/// After a failed accept, which is most often a lack of file descriptors.
const FIRST_WAIT: Duration = Duration::from_millis(5);
const LAST_WAIT: Duration = Duration::from_secs(1);

impl Server {
    /// Answers requests on a socket, over TLS, until it is cancelled.
    ///
    /// Users are known by client certificates that the identity's authority signed, or by the
    /// tokens of ServiceAccounts; who has neither is answered with 401. No failure of a single
    /// connection ends this: the only errors are those of an identity that cannot be used. Once
    /// cancelled, requests under way have two seconds to finish.
    ///
    /// # Cancel safety
    ///
    /// Dropping this closes every connection at once; each write has then happened whole or not
    /// at all.
    pub async fn serve(
        &self,
        listener: TcpListener,
        identity: ServingIdentity,
        cancel: CancellationToken,
    ) -> Result<(), Error> {
        let acceptor = TlsAcceptor::from(identity.tls()?);
        let mut connections = JoinSet::new();
        loop {
            let has_room = connections.len() < CONNECTIONS;
            tokio::select! {
                biased;
                () = cancel.cancelled() => break,
                Some(ended) = connections.join_next() => note(ended),
                stream = accept(&listener), if has_room => {
                    let (server, acceptor) = (self.clone(), acceptor.clone());
                    let connection = serve_connection(server, acceptor, stream, cancel.clone());
                    connections.spawn(connection);
                }
            }
        }
        drop(listener);
        while let Some(ended) = connections.join_next().await {
            note(ended);
        }
        Ok(())
    }
}

/// The next connection, however often accepting fails before.
async fn accept(listener: &TcpListener) -> TcpStream {
    let mut wait = FIRST_WAIT;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Events of watches are small, and wait for nothing.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "send small answers at once");
                }
                return stream;
            }
            Err(error) => {
                tracing::warn!(%error, "accept a connection: trying again");
                tokio::time::sleep(wait).await;
                wait = wait.saturating_mul(2).min(LAST_WAIT);
            }
        }
    }
}

fn note(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a connection fell over");
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpStream};

    use super::accept;

    #[tokio::test]
    async fn small_answers_are_sent_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(address), accept(&listener));
        assert!(client.is_ok() && accepted.nodelay().unwrap());
    }
}
