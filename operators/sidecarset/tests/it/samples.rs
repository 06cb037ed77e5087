//! The classic uses.

use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::operator;

use crate::world::{active, containers, pod_with, sample};

const SAMPLES: [(&str, &str, &str, &[&str]); 4] = [
    ("log-shipping", "app", "web", &["app", "shipper"]),
    ("proxy", "mesh", "edge", &["proxy", "app"]),
    ("health-probe", "tier", "database", &["probe", "app"]),
    ("file-download", "job", "batch", &["download", "app"]),
];

#[kubewright_testing::test(nodes = 1)]
async fn each_sample_does_what_it_says(cluster: Cluster) {
    cluster.run(operator).await;
    for (name, label, value, wanted) in SAMPLES {
        let mut set = sample(name);
        // So that a Pod can be tried out whatever the selector says.
        let labels = set.spec.selector.get_or_insert_default();
        let labels = labels.match_labels.get_or_insert_default();
        labels.insert(label.to_owned(), value.to_owned());
        active(&cluster, set).await;
        let labels = json!({"labels": {label: value}});
        let made = cluster
            .create(pod_with(name, name, labels, json!({})))
            .await;
        assert_eq!(containers(&made), wanted, "{name}");
    }
}
