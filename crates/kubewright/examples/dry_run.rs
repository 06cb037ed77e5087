//! A client that is restricted to one namespace, rejects unknown fields and has a field manager of
//! its own; its dry run, which stores nothing; and an update that is retried on conflict.

use kubewright::client::{
    FieldValidation, Namespaced, RequestFilter as _, RetryPolicy, Transport, WriteOptions, connect,
    load_config, retry_on_conflict, with_layer,
};
use kubewright::kube::Client;
use kubewright::kube::api::{Api, DeleteParams, PostParams};
use kubewright::prelude::*;
use tower::ServiceBuilder;

/// A client for `namespace` only, whose writes have the field manager `accountant` and fail on
/// unknown fields.
pub(crate) fn strict(client: Client, namespace: &str) -> Client {
    let writes = WriteOptions {
        field_manager: Some("accountant".to_owned()),
        field_validation: Some(FieldValidation::Strict),
        ..WriteOptions::default()
    };
    let layers = ServiceBuilder::new()
        .layer(writes.layer())
        .layer(Namespaced::new(namespace).layer());
    Transport::from(client)
        .with_default_namespace(namespace)
        .client_with(layers.into_inner())
}

/// A client like `client` whose writes are processed but not stored.
pub(crate) fn dry_run(client: &Client) -> Client {
    let writes = WriteOptions {
        dry_run: true,
        ..WriteOptions::default()
    };
    with_layer(client, writes.layer())
}

/// Creates an account and deletes it.
pub(crate) async fn open_and_close(client: Client, name: &str) -> Result<ConfigMap> {
    let accounts: Api<ConfigMap> = Api::default_namespaced(client);
    let account = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some([("balance".to_owned(), "0".to_owned())].into()),
        ..ConfigMap::default()
    };
    let created = accounts.create(&PostParams::default(), &account).await?;
    match accounts.delete(name, &DeleteParams::default()).await {
        Ok(_) => {}
        // A dry run has created nothing.
        Err(kubewright::kube::Error::Api(status)) if status.code == 404 => {}
        Err(error) => return Err(error.into()),
    }
    Ok(created)
}

/// Adds to the balance of an account, and retries if another client changed it in between.
pub(crate) async fn pay_in(client: Client, name: &str, amount: u64) -> Result<u64> {
    let accounts: Api<ConfigMap> = Api::default_namespaced(client);
    let balance = retry_on_conflict(RetryPolicy::backoff(), || async {
        let mut account = accounts.get(name).await?;
        let data = account.data.get_or_insert_default();
        let current = data.get("balance").and_then(|text| text.parse().ok());
        let balance = current.unwrap_or(0_u64) + amount;
        data.insert("balance".to_owned(), balance.to_string());
        // Fails with a conflict if the account has changed since it was read.
        let post = PostParams::default();
        accounts.replace(name, &post, &account).await?;
        Ok::<_, kubewright::kube::Error>(balance)
    });
    Ok(balance.await?)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "dry-run-example")?;
    let client = strict(client, "default");
    let created = open_and_close(dry_run(&client), "savings").await;
    let created = created.map_err(|error| error.to_string())?;
    println!("would create {}", created.name_any());
    match pay_in(client, "wages", 7).await {
        Ok(balance) => println!("wages: {balance}"),
        Err(error) => println!("{error}"),
    }
    Ok(())
}
