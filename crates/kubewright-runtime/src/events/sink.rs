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
use super::recorder::Recorded;
use super::series::{SeriesBook, Write};

/// How often a write is tried while no answer comes, and how long after one another, as client-go
/// has it.
const TRIES: u32 = 12;
const PAUSE: Duration = Duration::from_secs(10);

/// Writes the events that an [`EventRecorder`](super::EventRecorder) takes.
pub struct EventSink {
    client: Client,
    clock: Clock,
    reporter: Reporter,
    waiting: mpsc::Receiver<Recorded>,
    series: SeriesBook,
    budget: Budget,
}

impl EventSink {
    pub(super) fn new(
        client: Client,
        clock: Clock,
        reporter: Reporter,
        waiting: mpsc::Receiver<Recorded>,
    ) -> Self {
        Self {
            client,
            clock,
            reporter,
            waiting,
            series: SeriesBook::default(),
            budget: Budget::default(),
        }
    }

    /// Writes events until `stop`, and then once those that wait.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the events that wait are lost.
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
                recorded = self.waiting.recv() => match recorded {
                    Some(recorded) => self.take(recorded).into_iter().collect(),
                    None => return,
                },
                () = due => self.series.due(self.clock.now()),
            };
            for write in writes {
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = self.write(&write, TRIES) => {}
                }
            }
        }
        while let Ok(recorded) = self.waiting.try_recv() {
            if let Some(write) = self.take(recorded) {
                self.write(&write, 1).await;
            }
        }
    }

    /// What is to be written because of an event.
    fn take(&mut self, recorded: Recorded) -> Option<Write> {
        match self.series.repeat(&recorded) {
            Ok(write) => write,
            Err(_) if !self.budget.take(&recorded.regarding) => None,
            Err(key) => Some(self.series.begin(*key, recorded, &self.reporter)),
        }
    }

    async fn write(&self, write: &Write, tries: u32) {
        for attempt in 1..=tries {
            match self.send(write).await {
                Ok(()) => return,
                // It will not get better: the event is not one, or its namespace is going.
                Err(kube::Error::Api(status)) => {
                    let (namespace, name) = (&write.namespace, &write.name);
                    tracing::debug!(
                        code = status.code,
                        "write event {namespace}/{name}: {}",
                        status.message
                    );
                    return;
                }
                Err(error) if attempt == tries => {
                    tracing::warn!("write event {}: given up: {error}", write.name);
                }
                Err(_) => sleep(PAUSE).await,
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
                // Events live for an hour; a series may live longer.
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                answer => return answer,
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

    type Asked = Arc<Mutex<Vec<String>>>;

    /// An API server that answers with these codes, then with 200.
    fn client(codes: &'static [u16]) -> (Client, Asked) {
        let asked = Asked::default();
        let kept = Arc::clone(&asked);
        let service = tower::service_fn(move |request: Request<Body>| {
            let mut asked = kept.lock();
            let code = codes.get(asked.len()).copied().unwrap_or(200);
            asked.push(format!("{} {code}", request.method()));
            let body = format!(
                r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m","reason":"r","code":{code}}}"#
            );
            async move {
                let answer = Response::builder().status(code);
                Ok::<_, Infallible>(answer.body(Body::from(body.into_bytes())).unwrap())
            }
        });
        (Client::new(service, "default"), asked)
    }

    fn recorder(codes: &'static [u16]) -> (EventRecorder, super::EventSink, Asked) {
        let (client, asked) = client(codes);
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let reporter = Reporter {
            controller: "sets".to_owned(),
            instance: "sets-1".to_owned(),
        };
        let (recorder, sink) = EventRecorder::new(client, clock, reporter);
        (recorder, sink, asked)
    }

    fn record(recorder: &EventRecorder, name: &str, reason: &str) {
        let key = ObjectKey::new(Some("shop"), name);
        let regarding = Regarding::new(&Kind::new("ex.io", "v1", "Set"), &key, "7");
        recorder.record(regarding, Event::normal(reason, "note"));
    }

    #[tokio::test(start_paused = true)]
    async fn repetitions_cost_one_patch_and_another_when_they_are_over() {
        let (recorder, sink, asked) = recorder(&[]);
        for _ in 0..50 {
            record(&recorder, "web", "Created");
        }
        let stop = CancellationToken::new();
        let hour = async {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            stop.cancel();
        };
        tokio::join!(sink.run(stop.clone()), hour);
        assert_eq!(*asked.lock(), ["POST 200", "PATCH 200", "PATCH 200"]);
        assert_eq!(recorder.lost(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_series_whose_event_is_gone_is_written_anew() {
        let (recorder, sink, asked) = recorder(&[201, 404, 201]);
        record(&recorder, "web", "Created");
        record(&recorder, "web", "Created");
        let stop = CancellationToken::new();
        stop.cancel();
        sink.run(stop).await;
        assert_eq!(*asked.lock(), ["POST 201", "PATCH 404", "POST 201"]);
    }

    #[tokio::test(start_paused = true)]
    async fn more_than_there_is_room_for_is_lost_and_counted_and_nobody_waits() {
        let (recorder, sink, asked) = recorder(&[]);
        for number in 0..1010 {
            record(&recorder, &number.to_string(), "Created");
        }
        assert_eq!(recorder.lost(), 10);
        let stop = CancellationToken::new();
        stop.cancel();
        sink.run(stop).await;
        assert_eq!(asked.lock().len(), 1000);
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_that_fails_in_many_ways_has_a_budget() {
        let (recorder, sink, asked) = recorder(&[]);
        for number in 0..100 {
            record(&recorder, "web", &format!("Reason{number}"));
        }
        let stop = CancellationToken::new();
        stop.cancel();
        sink.run(stop).await;
        assert_eq!(asked.lock().len(), 25);
    }
}
