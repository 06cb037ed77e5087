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
async fn a_leader_that_is_cut_off_stops_before_another_begins() {
    let server = LeaseServer::default();
    let one = server.candidate("one", NONE);
    let term = one.leadership.gained().await;
    let two = server.candidate("two", NONE);
    sleep(seconds(60)).await;
    assert!(one.leadership.is_leading() && !two.leadership.is_leading());
    assert_eq!(two.leadership.holder().as_deref(), Some("one"));
    let cut = Instant::now();
    server.cut_off("one");
    one.leadership.lost(term).await;
    let lost = cut.elapsed();
    assert!(!one.leadership.is_leading());
    two.leadership.gained().await;
    let gained = cut.elapsed();
    // The last renewal was at most a retry period before the cut.
    assert!(lost <= seconds(10) && lost >= seconds(8), "{lost:?}");
    assert!(gained >= lost + seconds(3), "{lost:?} {gained:?}");
    assert!(gained <= seconds(15 + 2 * 5), "{gained:?}");
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_nobody_hears_of_does_not_lengthen_the_term() {
    let server = LeaseServer::default();
    let one = server.candidate("one", NONE);
    let term = one.leadership.gained().await;
    server.unhear("one");
    let start = Instant::now();
    one.leadership.lost(term).await;
    assert!(start.elapsed() <= seconds(10), "{:?}", start.elapsed());
    // The Lease still says so: it takes up its own again, in another term.
    server.reconnect("one");
    let next = one.leadership.gained().await;
    assert_eq!((term.number(), next.number()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_stolen_lease_ends_the_term_and_its_holder_stands_again() {
    let server = LeaseServer::default();
    let one = server.candidate("one", NONE);
    let term = one.leadership.gained().await;
    server.steal(|lease| lease["spec"]["holderIdentity"] = json!("thief"));
    let stolen = Instant::now();
    one.leadership.lost(term).await;
    assert!(stolen.elapsed() <= seconds(2), "{:?}", stolen.elapsed());
    assert_eq!(one.leadership.holder().as_deref(), Some("thief"));
    let again = one.leadership.gained().await;
    assert_eq!(again.number(), 2);
    assert!(stolen.elapsed() >= seconds(15), "{:?}", stolen.elapsed());
}

#[tokio::test(start_paused = true)]
async fn clocks_that_differ_do_not_matter() {
    let server = LeaseServer::default();
    let one = server.candidate("one", NONE);
    one.leadership.gained().await;
    let hour = SignedDuration::from_hours(1);
    let (early, late) = (
        server.candidate("early", -hour),
        server.candidate("late", hour),
    );
    sleep(seconds(120)).await;
    assert!(one.leadership.is_leading());
    assert!(!early.leadership.is_leading() && !late.leadership.is_leading());
    // One that says it was renewed in the far future lasts no longer than others.
    server.cut_off("one");
    server.steal(|lease| lease["spec"]["renewTime"] = json!("2099-01-01T00:00:00.000000Z"));
    let cut = Instant::now();
    tokio::select! {
        _ = early.leadership.gained() => {}
        _ = late.leadership.gained() => {}
    }
    let waited = cut.elapsed();
    // A try of at most 4.4 s sees the change, and one after 15 s takes the Lease.
    assert!(waited >= seconds(15) && waited <= seconds(24), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_was_given_back_is_taken_at_the_next_try() {
    let server = LeaseServer::default();
    let one = server.candidate("one", NONE);
    one.leadership.gained().await;
    let two = server.candidate("two", NONE);
    sleep(seconds(30)).await;
    let leadership = one.leadership.clone();
    let stopped = Instant::now();
    one.stop().await;
    assert!(!leadership.is_leading());
    assert_eq!(server.holder(), "");
    two.leadership.gained().await;
    let waited = stopped.elapsed();
    assert!(waited <= Duration::from_millis(4400), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn giving_back_what_another_has_taken_leaves_it_to_the_other() {
    let server = LeaseServer::default();
    let one = server.candidate("one", NONE);
    one.leadership.gained().await;
    server.steal(|lease| lease["spec"]["holderIdentity"] = json!("thief"));
    one.stop().await;
    assert_eq!(server.holder(), "thief");
}

#[tokio::test(start_paused = true)]
async fn a_leader_renews_with_one_request_and_makes_a_deleted_lease_again() {
    let server = LeaseServer::default();
    let one = server.candidate("one", NONE);
    let term = one.leadership.gained().await;
    assert_eq!(server.requests(), ["GET", "POST"]);
    sleep(Duration::from_millis(4100)).await;
    assert_eq!(server.requests(), ["GET", "POST", "PUT", "PUT"]);
    server.delete();
    sleep(seconds(30)).await;
    assert_eq!(one.leadership.term(), Some(term));
    assert_eq!(server.holder(), "one");
}

#[tokio::test(start_paused = true)]
async fn two_never_lead_at_once_whoever_is_cut_off() {
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
            .filter(|one| one.leadership.is_leading())
            .collect();
        assert!(leading.len() <= 1, "{} lead", leading.len());
        if let Some(one) = leading.first() {
            let now = (one.leadership.holder(), one.leadership.term());
            terms += u32::from(leader.as_ref() != Some(&now));
            leader = Some(now);
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let name = names[usize::try_from(random % 3).expect("small")];
        match random >> 32 & 63 {
            0 => server.cut_off(name),
            1 => server.unhear(name),
            2..8 => server.reconnect(name),
            _ => {}
        }
    }
    assert!(terms >= 10, "{terms} terms");
}

#[tokio::test(start_paused = true)]
async fn who_does_not_lead_does_not_write_but_reads() {
    let server = LeaseServer::default();
    let one = server.candidate("one", NONE);
    let send = async |leadership: &Leadership, method: &str| {
        let client = Fence::new(leadership.clone()).wrap(&server.client("work"));
        let path = "/apis/coordination.k8s.io/v1/namespaces/shop/leases/web";
        let request = Request::builder().method(method).uri(path);
        client
            .send(request.body(Body::empty()).expect("a request"))
            .await
    };
    let refused = send(&one.leadership, "DELETE")
        .await
        .expect_err("a refusal");
    assert!(Blocked::is_cause_of(&refused), "{refused}");
    assert!(send(&one.leadership, "GET").await.is_ok());
    one.leadership.gained().await;
    let passed = send(&one.leadership, "DELETE").await.expect("an answer");
    assert_eq!(passed.status(), 200);
}
