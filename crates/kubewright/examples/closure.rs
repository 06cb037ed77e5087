//! A closure as reconcile function: every Namespace with the label `welcome` gets a ConfigMap with a
//! greeting.

use std::process::ExitCode;

use k8s_openapi::api::core::v1::Namespace;
use kubewright::prelude::*;

pub(crate) fn operator() -> Operator {
    let greet = |namespace: Arc<Namespace>, cx: Context<Namespace>| async move {
        let is_deleted = namespace.metadata.deletion_timestamp.is_some();
        if is_deleted || !namespace.labels().contains_key("welcome") {
            return Ok(Outcome::done());
        }
        let text = format!("Welcome to {}!", namespace.name_any());
        let greeting = ConfigMap {
            metadata: ObjectMeta {
                name: Some("welcome".to_owned()),
                namespace: Some(namespace.name_any()),
                ..ObjectMeta::default()
            },
            data: Some([("text".to_owned(), text)].into()),
            ..ConfigMap::default()
        };
        cx.apply(&greeting).await?;
        Ok(Outcome::done())
    };
    Operator::new("welcome").controller(Controller::new(greet).owns(kind::<ConfigMap>()))
}

fn main() -> ExitCode {
    operator().main()
}
