//! Kinds that are read as metadata alone, or watched while the operator runs.

use kubewright::context::Watch;
use kubewright::controller::resource_of;
use kubewright::kube::core::DynamicObject;
use kubewright::prelude::*;
use kubewright::{Metadata, PolicyRule, kind_of};
use kubewright_testing::Cluster;
use parking_lot::Mutex;

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "tests.kubewright.dev", version = "v1", kind = "Shelf")]
#[kube(namespaced, status = "ShelfStatus")]
struct ShelfSpec {
    books: usize,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct ShelfStatus {
    counted: usize,
}

fn shelf(books: usize) -> Shelf {
    Shelf::new("upper", ShelfSpec { books })
}

fn book(name: String) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name),
            labels: Some([("book".to_owned(), String::new())].into()),
            ..ObjectMeta::default()
        },
        data: Some([("text".to_owned(), "once upon a time".to_owned())].into()),
        ..ConfigMap::default()
    }
}

async fn counted(cluster: &Cluster) -> Option<usize> {
    let shelf = cluster.get::<Shelf>("upper").await?;
    Some(shelf.status?.counted)
}

fn with_metadata() -> Operator {
    async fn reconcile(shelf: Arc<Shelf>, cx: Context<Shelf>) -> Result<Outcome> {
        for number in 1..=shelf.spec.books {
            cx.apply(&book(format!("book-{number}"))).await?;
        }
        let books = cx.owned::<Metadata<ConfigMap>>()?.len();
        cx.status(|status| status.counted = books).await?;
        Ok(Outcome::done())
    }
    Operator::new("shelves")
        .controller(Controller::new(reconcile).owns(kind::<Metadata<ConfigMap>>()))
}

#[kubewright_testing::test]
async fn owned_kind_can_be_read_as_metadata(cluster: Cluster) {
    cluster.run(with_metadata).await;
    cluster.apply(shelf(2)).await;
    cluster
        .eventually("two books", async |c| counted(c).await == Some(2))
        .await;
    cluster.delete::<ConfigMap>("book-1").await;
    cluster
        .eventually("the book again", async |c| {
            c.get::<ConfigMap>("book-1").await.is_some()
        })
        .await;
}

/// The watch that a controller starts for its first object.
type LateWatch = Mutex<Option<Watch<DynamicObject>>>;

/// Counts the ConfigMaps in the namespace of a shelf with books, and watches them as long as it has any.
fn with_a_late_watch() -> Operator {
    fn count(late_watch: &LateWatch, shelf: &Shelf, cx: &Context<Shelf>) -> Result<usize> {
        let mut slot = late_watch.lock();
        if shelf.spec.books == 0 {
            *slot = None;
            return Ok(0);
        }
        if slot.is_none() {
            let books = kind_of(resource_of::<ConfigMap>())
                .labels("book")
                .index("namespace", |book| book.namespace().into_iter().collect());
            *slot = Some(cx.watch(books, enqueue::all())?);
        }
        let Some(watch) = slot.as_ref() else {
            return Ok(0);
        };
        let namespace = cx.key().namespace().unwrap_or_default();
        Ok(watch.by_index("namespace", namespace)?.len())
    }
    async fn reconcile(
        late_watch: Arc<LateWatch>,
        shelf: Arc<Shelf>,
        cx: Context<Shelf>,
    ) -> Result<Outcome> {
        let books = count(&late_watch, &shelf, &cx)?;
        cx.status(|status| status.counted = books).await?;
        Ok(Outcome::done())
    }
    let read = PolicyRule {
        api_groups: vec![String::new()],
        resources: vec!["configmaps".to_owned()],
        verbs: ["get", "list", "watch"].map(str::to_owned).into(),
        ..PolicyRule::default()
    };
    Operator::new("late").controller(Controller::with(LateWatch::default(), reconcile).grants(read))
}

#[kubewright_testing::test]
async fn watch_of_a_running_operator_enqueues_until_it_is_dropped(cluster: Cluster) {
    cluster.run(with_a_late_watch).await;
    cluster.apply(shelf(9)).await;
    cluster.apply(book("first".to_owned())).await;
    cluster
        .eventually("the first book", async |c| counted(c).await == Some(1))
        .await;
    cluster.apply(book("second".to_owned())).await;
    cluster
        .eventually("the second book", async |c| counted(c).await == Some(2))
        .await;
    cluster.apply(shelf(0)).await;
    cluster
        .eventually("a count of zero", async |c| counted(c).await == Some(0))
        .await;
    cluster.apply(book("third".to_owned())).await;
    cluster
        .consistently(Duration::from_secs(2), "no further reconcile", async |c| {
            counted(c).await == Some(0)
        })
        .await;
}
