//! Writes the queued events to the API server.

use std::time::Duration;

use http::{Request, header};
use kube::Client;
use kubewright_core::Clock;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::Reporter;
use super::budget::Budget;
use super::recorded::Recorded;
use super::series::{SeriesMap, Write};

/// The number of attempts and the delay between them while no response arrives, as in client-go.
const MAX_ATTEMPTS: u32 = 12;
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// Writes the events of an [`EventRecorder`](super::EventRecorder).
pub struct EventSink {
    client: Client,
    clock: Clock,
    reporter: Reporter,
    queue: mpsc::Receiver<Recorded>,
    series: SeriesMap,
    budget: Budget,
}

impl EventSink {
    pub(super) fn new(
        client: Client,
        clock: Clock,
        reporter: Reporter,
        queue: mpsc::Receiver<Recorded>,
    ) -> Self {
        Self {
            client,
            clock,
            reporter,
            queue,
            series: SeriesMap::default(),
            budget: Budget::default(),
        }
    }

    /// Writes events until `stop`, and then makes one attempt for each queued event.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the queued events are lost.
    pub async fn run(mut self, stop: CancellationToken) {
        loop {
            let next_due = self.series.next_due(self.clock.now());
            let due = async {
                match next_due {
                    Some(wait) => sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            let writes = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                recorded = self.queue.recv() => match recorded {
                    Some(recorded) => self.take(recorded).into_iter().collect(),
                    None => return,
                },
                () = due => self.series.due(self.clock.now()),
            };
            for write in writes {
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = self.write(&write, MAX_ATTEMPTS) => {}
                }
            }
        }
        while let Ok(recorded) = self.queue.try_recv() {
            if let Some(write) = self.take(recorded) {
                self.write(&write, 1).await;
            }
        }
    }

    /// Returns the write that an event requires.
    fn take(&mut self, recorded: Recorded) -> Option<Write> {
        match self.series.repeat(&recorded) {
            Ok(write) => write,
            Err(_) if !self.budget.take(&recorded.regarding) => None,
            Err(key) => Some(self.series.insert(*key, recorded, &self.reporter)),
        }
    }

    async fn write(&self, write: &Write, max_attempts: u32) {
        for attempt in 1..=max_attempts {
            match self.send(write).await {
                Ok(()) => return,
                // A retry would fail as well: the event is invalid, or its namespace is being deleted.
                Err(kube::Error::Api(status)) => {
                    let (namespace, name) = (&write.namespace, &write.name);
                    tracing::debug!(
                        code = status.code,
                        "write event {namespace}/{name}: {}",
                        status.message
                    );
                    return;
                }
                Err(error) if attempt == max_attempts => {
                    tracing::warn!(
                        "write event {}: no response after {max_attempts} attempts: {error}",
                        write.name
                    );
                }
                Err(_) => sleep(RETRY_DELAY).await,
            }
        }
    }

    async fn send(&self, write: &Write) -> Result<(), kube::Error> {
        let collection = format!(
            "/apis/events.k8s.io/v1/namespaces/{}/events",
            write.namespace
        );
        if let Some(series) = &write.series {
            let path = format!("{collection}/{}", write.name);
            let patched = self
                .request("PATCH", &path, &json!({ "series": series }))
                .await;
            match patched {
                // Events expire after an hour; a series can last longer.
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                response => return response,
            }
        }
        self.request("POST", &collection, &write.body).await
    }

    async fn request(&self, method: &str, path: &str, body: &Value) -> Result<(), kube::Error> {
        let media_type = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::CONTENT_TYPE, media_type)
            .body(body.to_string().into_bytes())
            .map_err(kube::Error::HttpError)?;
        self.client.request::<Value>(request).await.map(drop)
    }
}

impl std::fmt::Debug for EventSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventSink")
            .field("reporter", &self.reporter)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::time::Duration;

    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use kubewright_core::{Clock, Kind, ObjectKey};
    use parking_lot::Mutex;
    use tokio_util::sync::CancellationToken;

    use crate::events::{Event, EventRecorder, Regarding, Reporter};

    type Requests = Arc<Mutex<Vec<String>>>;

    /// An API server that responds with these codes, then with 200.
    fn client(codes: &'static [u16]) -> (Client, Requests) {
        let requests = Requests::default();
        let log = Arc::clone(&requests);
        let service = tower::service_fn(move |request: Request<Body>| {
            let mut log = log.lock();
            let code = codes.get(log.len()).copied().unwrap_or(200);
            log.push(format!("{} {code}", request.method()));
            let body = format!(
                r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m","reason":"r","code":{code}}}"#
            );
            async move {
                let response = Response::builder().status(code);
                Ok::<_, Infallible>(response.body(Body::from(body.into_bytes())).unwrap())
            }
        });
        (Client::new(service, "default"), requests)
    }

    fn recorder(codes: &'static [u16]) -> (EventRecorder, super::EventSink, Requests) {
        let (client, requests) = client(codes);
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let reporter = Reporter {
            controller: "sets".to_owned(),
            instance: "sets-1".to_owned(),
        };
        let (recorder, sink) = EventRecorder::new(client, clock, reporter);
        (recorder, sink, requests)
    }

    fn record(recorder: &EventRecorder, name: &str, reason: &str) {
        let key = ObjectKey::new(Some("shop"), name);
        let regarding = Regarding::new(&Kind::new("ex.io", "v1", "Set"), &key, "7");
        recorder.record(regarding, Event::normal(reason, "note"));
    }

    #[tokio::test(start_paused = true)]
    async fn series_is_patched_once_at_its_start_and_once_at_its_end() {
        let (recorder, sink, requests) = recorder(&[]);
        for _ in 0..50 {
            record(&recorder, "web", "Created");
        }
        let stop = CancellationToken::new();
        let hour = async {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            stop.cancel();
        };
        tokio::join!(sink.run(stop.clone()), hour);
        assert_eq!(*requests.lock(), ["POST 200", "PATCH 200", "PATCH 200"]);
        assert_eq!(recorder.lost(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn series_whose_event_was_deleted_is_created_again() {
        let (recorder, sink, requests) = recorder(&[201, 404, 201]);
        record(&recorder, "web", "Created");
        record(&recorder, "web", "Created");
        let stop = CancellationToken::new();
        stop.cancel();
        sink.run(stop).await;
        assert_eq!(*requests.lock(), ["POST 201", "PATCH 404", "POST 201"]);
    }

    #[tokio::test(start_paused = true)]
    async fn events_beyond_the_queue_capacity_are_lost_and_counted() {
        let (recorder, sink, requests) = recorder(&[]);
        for number in 0..1010 {
            record(&recorder, &number.to_string(), "Created");
        }
        assert_eq!(recorder.lost(), 10);
        let stop = CancellationToken::new();
        stop.cancel();
        sink.run(stop).await;
        assert_eq!(requests.lock().len(), 1000);
    }

    #[tokio::test(start_paused = true)]
    async fn object_with_many_kinds_of_events_has_a_budget() {
        let (recorder, sink, requests) = recorder(&[]);
        for number in 0..100 {
            record(&recorder, "web", &format!("Reason{number}"));
        }
        let stop = CancellationToken::new();
        stop.cancel();
        sink.run(stop).await;
        assert_eq!(requests.lock().len(), 25);
    }
}
