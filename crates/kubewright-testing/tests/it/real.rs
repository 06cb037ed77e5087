use kubewright_testing::Settings;
use kubewright_testing::control_plane::{ControlPlane, Release};
use kubewright_testing::real::{Parts, RealCluster, RealOptions};

#[tokio::test(flavor = "multi_thread")]
async fn it_starts() {
    let settings = Settings::from_environment().unwrap();
    let cp = ControlPlane::locate(Release::current(), &settings)
        .await
        .unwrap();
    let t = tokio::time::Instant::now();
    let c = RealCluster::start(
        &cp,
        &RealOptions {
            parts: Parts::Nodes,
            ..RealOptions::default()
        },
    )
    .await
    .unwrap();
    eprintln!("{:?}", t.elapsed());
    let client = c.client().await.unwrap();
    eprintln!("{:?}", client.apiserver_version().await.unwrap());
    let config = c.access_for_account("default", "default").await.unwrap();
    let me = kube::Client::try_from(config.config().await.unwrap()).unwrap();
    eprintln!("{:?}", me.list_core_api_versions().await.unwrap());
}
