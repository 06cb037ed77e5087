//! Tests of leader election and the fence.

use std::time::Duration;

use http::Request;
use jiff::SignedDuration;
use kube::client::Body;
use kubewright_runtime::client::Blocked;
use kubewright_runtime::election::{Fence, Leadership};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::lease_server::LeaseServer;

const NONE: SignedDuration = SignedDuration::ZERO;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn disconnected_leader_stops_before_another_begins() {
    let server = LeaseServer::default();
    let first = server.candidate("one", NONE);
    let term = first.leadership.gained().await;
    let second = server.candidate("two", NONE);
    sleep(seconds(60)).await;
    assert!(first.leadership.is_leading() && !second.leadership.is_leading());
    assert_eq!(second.leadership.holder().as_deref(), Some("one"));
    let disconnected = Instant::now();
    server.disconnect("one");
    first.leadership.lost(term).await;
    let lost = disconnected.elapsed();
    assert!(!first.leadership.is_leading());
    second.leadership.gained().await;
    let gained = disconnected.elapsed();
    // The last renewal was at most one retry period before the disconnection.
    assert!(lost <= seconds(10) && lost >= seconds(8), "{lost:?}");
    assert!(gained >= lost + seconds(3), "{lost:?} {gained:?}");
    assert!(gained <= seconds(15 + 2 * 5), "{gained:?}");
}

#[tokio::test(start_paused = true)]
async fn renewal_without_a_response_does_not_extend_the_term() {
    let server = LeaseServer::default();
    let first = server.candidate("one", NONE);
    let term = first.leadership.gained().await;
    server.drop_responses("one");
    let start = Instant::now();
    first.leadership.lost(term).await;
    assert!(start.elapsed() <= seconds(10), "{:?}", start.elapsed());
    // The Lease still has this holder, which takes it again, in another term.
    server.reconnect("one");
    let next = first.leadership.gained().await;
    assert_eq!((term.number(), next.number()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn stolen_lease_ends_the_term_and_its_former_holder_remains_a_candidate() {
    let server = LeaseServer::default();
    let first = server.candidate("one", NONE);
    let term = first.leadership.gained().await;
    server.steal(|lease| lease["spec"]["holderIdentity"] = json!("thief"));
    let stolen = Instant::now();
    first.leadership.lost(term).await;
    assert!(stolen.elapsed() <= seconds(2), "{:?}", stolen.elapsed());
    assert_eq!(first.leadership.holder().as_deref(), Some("thief"));
    let again = first.leadership.gained().await;
    assert_eq!(again.number(), 2);
    assert!(stolen.elapsed() >= seconds(15), "{:?}", stolen.elapsed());
}

#[tokio::test(start_paused = true)]
async fn clock_skew_does_not_matter() {
    let server = LeaseServer::default();
    let first = server.candidate("one", NONE);
    first.leadership.gained().await;
    let hour = SignedDuration::from_hours(1);
    let (early, late) = (
        server.candidate("early", -hour),
        server.candidate("late", hour),
    );
    sleep(seconds(120)).await;
    assert!(first.leadership.is_leading());
    assert!(!early.leadership.is_leading() && !late.leadership.is_leading());
    // A renewTime in the far future does not extend the Lease.
    server.disconnect("one");
    server.steal(|lease| lease["spec"]["renewTime"] = json!("2099-01-01T00:00:00.000000Z"));
    let changed = Instant::now();
    tokio::select! {
        _ = early.leadership.gained() => {}
        _ = late.leadership.gained() => {}
    }
    let waited = changed.elapsed();
    // An attempt within 4.4 s sees the change, and the next one after 15 s takes the Lease.
    assert!(waited >= seconds(15) && waited <= seconds(24), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn released_lease_is_taken_at_the_next_attempt() {
    let server = LeaseServer::default();
    let first = server.candidate("one", NONE);
    first.leadership.gained().await;
    let second = server.candidate("two", NONE);
    sleep(seconds(30)).await;
    let leadership = first.leadership.clone();
    let stopped = Instant::now();
    first.stop().await;
    assert!(!leadership.is_leading());
    assert_eq!(server.holder(), "");
    second.leadership.gained().await;
    let waited = stopped.elapsed();
    assert!(waited <= Duration::from_millis(4400), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn stolen_lease_is_not_released() {
    let server = LeaseServer::default();
    let first = server.candidate("one", NONE);
    first.leadership.gained().await;
    server.steal(|lease| lease["spec"]["holderIdentity"] = json!("thief"));
    first.stop().await;
    assert_eq!(server.holder(), "thief");
}

#[tokio::test(start_paused = true)]
async fn leader_renews_with_one_request_and_creates_a_deleted_lease_again() {
    let server = LeaseServer::default();
    let first = server.candidate("one", NONE);
    let term = first.leadership.gained().await;
    assert_eq!(server.requests(), ["GET", "POST"]);
    sleep(Duration::from_millis(4100)).await;
    assert_eq!(server.requests(), ["GET", "POST", "PUT", "PUT"]);
    server.delete();
    sleep(seconds(30)).await;
    assert_eq!(first.leadership.term(), Some(term));
    assert_eq!(server.holder(), "one");
}

#[tokio::test(start_paused = true)]
async fn at_most_one_candidate_leads_during_random_disconnections() {
    let server = LeaseServer::default();
    let names = ["one", "two", "three"];
    let all = names.map(|name| server.candidate(name, NONE));
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut terms = 0;
    let mut leader = None;
    for _ in 0..6000 {
        sleep(Duration::from_millis(250)).await;
        let leading: Vec<_> = all
            .iter()
            .filter(|candidate| candidate.leadership.is_leading())
            .collect();
        assert!(leading.len() <= 1, "{} lead", leading.len());
        if let Some(candidate) = leading.first() {
            let now = (candidate.leadership.holder(), candidate.leadership.term());
            terms += u32::from(leader.as_ref() != Some(&now));
            leader = Some(now);
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let name = names[usize::try_from(random % 3).expect("small")];
        match random >> 32 & 63 {
            0 => server.disconnect(name),
            1 => server.drop_responses(name),
            2..8 => server.reconnect(name),
            _ => {}
        }
    }
    assert!(terms >= 10, "{terms} terms");
}

#[tokio::test(start_paused = true)]
async fn fence_blocks_writes_and_passes_reads_of_a_process_that_does_not_lead() {
    let server = LeaseServer::default();
    let first = server.candidate("one", NONE);
    let send = async |leadership: &Leadership, method: &str| {
        let client = Fence::new(leadership.clone()).wrap(&server.client("work"));
        let path = "/apis/coordination.k8s.io/v1/namespaces/shop/leases/web";
        let request = Request::builder().method(method).uri(path);
        client
            .send(request.body(Body::empty()).expect("a request"))
            .await
    };
    let blocked = send(&first.leadership, "DELETE")
        .await
        .expect_err("an error");
    assert!(Blocked::is_cause_of(&blocked), "{blocked}");
    assert!(send(&first.leadership, "GET").await.is_ok());
    first.leadership.gained().await;
    let passed = send(&first.leadership, "DELETE").await.expect("a response");
    assert_eq!(passed.status(), 200);
}
