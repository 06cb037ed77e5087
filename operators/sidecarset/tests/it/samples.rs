use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::{SidecarSet, operator};

use super::{containers, known, pod};

const SAMPLES: [(&str, &str, &str, &[&str]); 4] = [
    (
        include_str!("../../samples/log-shipping.yaml"),
        "app",
        "web",
        &["app", "shipper"],
    ),
    (
        include_str!("../../samples/proxy.yaml"),
        "mesh",
        "edge",
        &["proxy", "app"],
    ),
    (
        include_str!("../../samples/health-probe.yaml"),
        "tier",
        "database",
        &["probe", "app"],
    ),
    (
        include_str!("../../samples/file-download.yaml"),
        "job",
        "batch",
        &["download", "app"],
    ),
];

#[kubewright_testing::test(nodes = 1)]
async fn each_sample_does_what_it_says(cluster: Cluster) {
    cluster.run(operator).await;
    for (text, label, value, wanted) in SAMPLES {
        let set: SidecarSet = serde_saphyr::from_str(text).expect("the sample reads");
        let name = known(&cluster, set).await.metadata.name.unwrap_or_default();
        let made = cluster.apply(pod(&name, json!({label: value}))).await;
        assert_eq!(containers(&made), wanted, "{name}");
    }
}
