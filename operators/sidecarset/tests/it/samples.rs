//! The samples: the usual kinds of sidecars.

use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::operator;

use crate::fixtures::{containers, create_active_set, pod_with, sample};

const SAMPLES: [(&str, &str, &str, &[&str]); 4] = [
    ("log-shipping", "app", "web", &["app", "shipper"]),
    ("proxy", "mesh", "edge", &["proxy", "app"]),
    ("health-probe", "tier", "database", &["probe", "app"]),
    ("file-download", "job", "batch", &["download", "app"]),
];

#[kubewright_testing::test(nodes = 1)]
async fn sample_sets_inject_their_sidecars(cluster: Cluster) {
    cluster.run(operator).await;
    for (name, label, value, expected) in SAMPLES {
        let mut set = sample(name);
        // Selects the probe of `create_active_set`, also where the selector has only expressions.
        let selector = set.spec.selector.get_or_insert_default();
        let match_labels = selector.match_labels.get_or_insert_default();
        match_labels.insert(label.to_owned(), value.to_owned());
        create_active_set(&cluster, set).await;
        let labels = json!({"labels": {label: value}});
        let created = cluster
            .create(pod_with(name, name, labels, json!({})))
            .await;
        assert_eq!(containers(&created), expected, "{name}");
    }
}
