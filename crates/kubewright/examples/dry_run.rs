//! A client that is careful: kept in one namespace, strict about fields, with a name of its own for
//! what it writes; a rehearsal that stores nothing; and a change that survives others' changes.

use kubewright::kube::Client;
use kubewright::kube::api::{Api, DeleteParams, PostParams};
use kubewright::prelude::*;
use kubewright::{FieldValidation, Namespaced, RetryPolicy, WriteOptions, retry_on_conflict};
use kubewright_runtime::client::{connect, load_config};

/// The same client for `namespace` alone, whose writes are the accountant's and must not have a
/// field too many.
pub(crate) fn careful(client: Client, namespace: &str) -> Client {
    let strict = WriteOptions {
        field_manager: Some("accountant".to_owned()),
        field_validation: Some(FieldValidation::Strict),
        ..WriteOptions::default()
    };
    strict.guard(Namespaced::new(namespace).guard(client))
}

/// The same client, which stores nothing; whatever is built on it can be rehearsed.
pub(crate) fn rehearsal(client: Client) -> Client {
    let dry = WriteOptions {
        dry_run: true,
        ..WriteOptions::default()
    };
    dry.guard(client)
}

/// Opens an account and closes it.
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
    let opened = accounts.create(&PostParams::default(), &account).await?;
    match accounts.delete(name, &DeleteParams::default()).await {
        Ok(_) => {}
        // Nothing was opened in a rehearsal.
        Err(kubewright::kube::Error::Api(status)) if status.code == 404 => {}
        Err(error) => return Err(error.into()),
    }
    Ok(opened)
}

/// Adds to an account; when somebody else was first, to what they have left.
pub(crate) async fn pay_in(client: Client, name: &str, amount: u64) -> Result<u64> {
    let accounts: Api<ConfigMap> = Api::default_namespaced(client);
    let balance = retry_on_conflict(RetryPolicy::backoff(), || async {
        let mut account = accounts.get(name).await?;
        let data = account.data.get_or_insert_default();
        let former = data.get("balance").and_then(|text| text.parse().ok());
        let balance = former.unwrap_or(0_u64) + amount;
        data.insert("balance".to_owned(), balance.to_string());
        // Refused when the account has changed since it was read.
        let post = PostParams::default();
        accounts.replace(name, &post, &account).await?;
        Ok::<_, kubewright::kube::Error>(balance)
    });
    Ok(balance.await?)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "careful-client-example")?;
    let client = careful(client, "default");
    let opened = open_and_close(rehearsal(client.clone()), "savings").await;
    let opened = opened.map_err(|one| one.to_string())?;
    println!("would open {}", opened.name_any());
    let balance = pay_in(client, "wages", 7).await;
    println!(
        "{}",
        balance.map_or_else(|one| one.to_string(), |one| one.to_string())
    );
    Ok(())
}
