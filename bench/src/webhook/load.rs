//! A constant load of reviews.

use std::time::Duration;

use bytes::Bytes;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_rustls::TlsConnector;

use super::connection::Connection;

/// The number of connections. Requests are distributed over them, so that a slow response does not
/// delay the next request.
pub(super) const CONNECTIONS: u32 = 8;

/// An open loop: requests are sent at a constant rate, even if responses are late.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) review: Bytes,
    pub(super) per_second: u32,
    pub(super) count: u32,
}

/// Opens the connections and sends a request on each.
///
/// # Cancel safety
///
/// Dropping the future closes the connections.
pub(super) async fn connections(
    connector: &TlsConnector,
    port: u16,
    review: &Bytes,
) -> Result<Vec<Connection>, String> {
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut connection = Connection::open(connector, port).await?;
        connection.send(review.clone()).await?;
        connections.push(connection);
    }
    Ok(connections)
}

impl Load {
    /// Sends the requests. Returns the connections, and the time of each response in microseconds.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts the requests in flight.
    pub(super) async fn run(
        &self,
        connections: Vec<Connection>,
    ) -> Result<(Vec<Connection>, Vec<f64>), String> {
        let start = Instant::now() + Duration::from_millis(10);
        let interval = Duration::from_secs(1) / self.per_second.max(1);
        let mut workers = JoinSet::new();
        for (first, connection) in (0..self.count).zip(connections) {
            let numbers = (first..self.count).step_by(CONNECTIONS as usize);
            let times: Vec<Instant> = numbers.map(|number| start + interval * number).collect();
            workers.spawn(send_at(connection, self.review.clone(), times));
        }
        let mut connections = Vec::new();
        let mut all_latencies = Vec::new();
        while let Some(ended) = workers.join_next().await {
            let (connection, latencies) = ended.map_err(|error| error.to_string())??;
            connections.push(connection);
            all_latencies.extend(latencies);
        }
        Ok((connections, all_latencies))
    }
}

/// Sends a request at each of the times.
async fn send_at(
    mut connection: Connection,
    review: Bytes,
    times: Vec<Instant>,
) -> Result<(Connection, Vec<f64>), String> {
    let mut latencies = Vec::with_capacity(times.len());
    for time in times {
        // A request that waited for the previous response counts from its scheduled time. One that
        // the timer delayed, by up to a millisecond, counts from the time it is sent.
        let is_late = Instant::now() > time;
        sleep_until(time).await;
        let sent = if is_late { time } else { Instant::now() };
        connection.send(review.clone()).await?;
        latencies.push(sent.elapsed().as_secs_f64() * 1e6);
    }
    Ok((connection, latencies))
}
