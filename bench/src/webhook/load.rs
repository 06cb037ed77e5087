use std::time::Duration;

use bytes::Bytes;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_rustls::TlsConnector;

use super::client::Connection;

/// Connections that take turns, so that one slow answer does not hold up the next question.
pub(super) const CONNECTIONS: u32 = 8;

/// Questions at a steady rate, whatever becomes of the answers.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) review: Bytes,
    pub(super) per_second: u32,
    pub(super) count: u32,
}

/// Opens the connections and asks one question over each.
///
/// # Cancel safety
///
/// Dropped, the connections are closed.
pub(super) async fn connections(
    connector: &TlsConnector,
    port: u16,
    review: &Bytes,
) -> Result<Vec<Connection>, String> {
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut connection = Connection::open(connector, port).await?;
        connection.ask(review.clone()).await?;
        connections.push(connection);
    }
    Ok(connections)
}

impl Load {
    /// How long each answer took, in microseconds; gives the connections back.
    ///
    /// # Cancel safety
    ///
    /// Dropped, questions under way are given up.
    pub(super) async fn run(
        &self,
        connections: Vec<Connection>,
    ) -> Result<(Vec<Connection>, Vec<f64>), String> {
        let start = Instant::now() + Duration::from_millis(10);
        let every = Duration::from_secs(1) / self.per_second.max(1);
        let mut workers = JoinSet::new();
        for (first, connection) in (0..self.count).zip(connections) {
            let numbers = (first..self.count).step_by(CONNECTIONS as usize);
            let times: Vec<Instant> = numbers.map(|number| start + every * number).collect();
            workers.spawn(ask_at(connection, self.review.clone(), times));
        }
        let mut connections = Vec::new();
        let mut times = Vec::new();
        while let Some(ended) = workers.join_next().await {
            let (connection, taken) = ended.map_err(|error| error.to_string())??;
            connections.push(connection);
            times.extend(taken);
        }
        Ok((connections, times))
    }
}

/// Asks at each of these times.
async fn ask_at(
    mut connection: Connection,
    review: Bytes,
    times: Vec<Instant>,
) -> Result<(Connection, Vec<f64>), String> {
    let mut taken = Vec::with_capacity(times.len());
    for time in times {
        // A question that had to wait for the answer before it has waited since its time; one
        // that the timer sent late, by up to a millisecond, has not.
        let is_late = Instant::now() > time;
        sleep_until(time).await;
        let asked = if is_late { time } else { Instant::now() };
        connection.ask(review.clone()).await?;
        taken.push(asked.elapsed().as_secs_f64() * 1e6);
    }
    Ok((connection, taken))
}
