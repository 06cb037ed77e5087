//! One Pod on every node: the operator that the tutorial builds.

mod plan;
mod pod;

use kubewright::prelude::*;

pub use plan::Plan;

/// One Pod on every node.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "apps.kubewright.dev",
    version = "v1beta1",
    kind = "MyDaemonSet",
    namespaced,
    shortname = "mds",
    status = "MyDaemonSetStatus",
    printcolumn(
        name = "Available",
        type_ = "integer",
        json_path = ".status.availableReplicas"
    )
)]
pub struct MyDaemonSetSpec {
    /// The image that each Pod runs.
    pub image: String,
}

/// How far the Pods are what the spec asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MyDaemonSetStatus {
    /// The generation of the spec that the other fields speak of.
    pub observed_generation: i64,
    /// How many nodes should run a Pod.
    pub desired_replicas: i32,
    /// How many of them have one.
    pub current_replicas: i32,
    /// How many of them have one that runs the present spec.
    pub updated_replicas: i32,
    /// How many of them have one that is ready.
    pub ready_replicas: i32,
    /// How many of them have one that is ready and stays.
    pub available_replicas: i32,
    /// Whether the set as a whole is available.
    #[schemars(schema_with = "kubewright::schema::conditions")]
    pub conditions: Vec<Condition>,
}

/// The operator: what it watches is what it may do.
pub fn operator() -> Operator {
    Operator::new("mydaemonset")
        .version(env!("CARGO_PKG_VERSION"))
        .controller(
            Controller::new(reconcile)
                .owns(kind::<Pod>())
                .watches(
                    kind::<Node>().when(changed::labels().or(changed::taints())),
                    enqueue::all(),
                )
                .workers(4),
        )
        .webhook(Webhook::validates(check))
}

/// What a set must have before it is stored.
fn check(change: &Change<MyDaemonSet>, findings: &mut Findings) {
    let image = change.object().map(|set| set.spec.image.trim());
    if image == Some("") {
        findings.required("spec.image", "image is required");
    }
}

async fn reconcile(set: Arc<MyDaemonSet>, cx: Context<MyDaemonSet>) -> Result<Outcome> {
    let now = cx.clock().now();
    let plan = Plan::new(&set, &cx.list::<Node>()?, &cx.owned::<Pod>()?, now);
    // A Pod that cannot be made or deleted holds up no other; the first failure is told at the end.
    let mut done = Ok(());
    for pod in plan.missing() {
        done = done.and(cx.apply(&pod).await.map(drop));
    }
    for pod in plan.surplus() {
        done = done.and(cx.delete(&pod).await);
    }
    cx.status(|status| plan.report(status)).await?;
    done.map(|()| plan.outcome())
}
