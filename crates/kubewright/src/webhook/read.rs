use std::str::FromStr;

use kubewright_core::{FieldSelector, LabelSelector, ParseSelectorError, Resource};
use kubewright_runtime::informer::{Content, Informer, InformerSpec, Informers};

use crate::Error;
use crate::controller::{AnyKind, AnyView, Selection, UnusedOption, ViewId};

/// A kind that a webhook reads from the cache.
pub(super) struct Read {
    pub(super) resource: Resource,
    pub(super) view: ViewId,
    content: Content,
    labels: String,
    fields: String,
    namespace: Option<String>,
    open: Open,
    /// An option of the selection that a webhook has no use for.
    unused_option: Option<UnusedOption>,
}

/// Opens a view of an informer's objects, with the indexes of the webhook of that path.
type Open = Box<dyn Fn(&str, Informer) -> AnyView + Send + Sync>;

impl Read {
    pub(super) fn new<W: AnyKind>(kind: Selection<W>) -> Self {
        let unused_option = kind.unused_by_a_reader();
        let indexes = kind.indexes;
        Self {
            resource: kind.resource,
            view: kind.view,
            content: kind.content,
            labels: kind.extent.labels.unwrap_or_default(),
            fields: kind.extent.fields.unwrap_or_default(),
            namespace: kind.extent.namespace,
            open: Box::new(move |path, informer| AnyView::indexed(path, &indexes, informer)),
            unused_option,
        }
    }

    /// Refuses what has no effect, and selectors that do not parse.
    pub(super) fn check(&self, path: &str) -> Result<(), Error> {
        if let Some((option, registration)) = self.unused_option {
            return Err(Error::WebhookPointless {
                path: path.to_owned(),
                kind: self.resource.kind.kind.clone(),
                option,
                registration,
            });
        }
        parse::<LabelSelector>(path, &self.labels)?;
        parse::<FieldSelector>(path, &self.fields)?;
        Ok(())
    }

    /// The view of what is followed for the webhook of that path.
    pub(super) fn open(&self, path: &str, informers: &Informers) -> Result<AnyView, Error> {
        let all = InformerSpec::all(self.resource.clone());
        let informer = informers.get(&InformerSpec {
            labels: parse(path, &self.labels)?,
            fields: parse(path, &self.fields)?,
            namespace: self.namespace.clone(),
            ..all.with_content(self.content.clone())
        });
        Ok((self.open)(path, informer))
    }
}

fn parse<S: FromStr<Err = ParseSelectorError>>(path: &str, text: &str) -> Result<S, Error> {
    text.parse().map_err(|source| Error::WebhookSelector {
        path: path.to_owned(),
        text: text.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::{Request, Response};
    use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
    use kube::Client;
    use kube::client::Body;
    use kubewright_runtime::cache::Metadata;
    use kubewright_runtime::informer::{Content, Informers};
    use kubewright_runtime::store::Delta;
    use kubewright_webhook::review::AdmissionRequest;
    use kubewright_wire::record::Record;
    use serde_json::json;

    use crate::kind;
    use crate::webhook::{Admission, Denied, Webhook};

    async fn same(map: ConfigMap, _: Admission) -> Result<ConfigMap, Denied> {
        Ok(map)
    }

    #[tokio::test]
    async fn a_webhook_finds_objects_by_the_indexes_that_it_names() {
        let nowhere =
            tower::service_fn(async |_: Request<Body>| Err::<Response<Body>, _>("nobody is there"));
        let informers = Informers::new(Client::new(nowhere, "default"), Default::default());
        let pods = kind::<Pod>().index("node", |pod| {
            let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
            node.into_iter().collect()
        });
        let webhook = Webhook::mutates(same)
            .reads(pods)
            .reads(kind::<Metadata<Node>>());
        let (_, _, reads) = webhook.build(&informers).unwrap();
        let nodes = reads.views().view::<Metadata<Node>>().unwrap();
        assert_eq!(nodes.informer().spec().content, Content::Metadata);
        let store = reads.views().view::<Pod>().unwrap().informer().store();
        for (name, node) in [("a", "n1"), ("b", "n2")] {
            let pod = json!({
                "metadata": {"name": name, "namespace": "web", "resourceVersion": "7"},
                "spec": {"nodeName": node, "containers": []},
            });
            store.apply([Delta::Applied(Record::from_value(&pod).unwrap())]);
        }
        let cx = Admission::new(Arc::new(AdmissionRequest::default()), reads.clone());
        let found = cx.by_index::<Pod>("node", "n2").unwrap();
        let names: Vec<_> = found.iter().map(|pod| pod.metadata.name.clone()).collect();
        assert_eq!(names, [Some("b".to_owned())]);
        let unknown = cx.by_index::<Pod>("zone", "a").map(drop).unwrap_err();
        let unknown = unknown.to_string();
        assert!(unknown.contains(".index(\"zone\", ..)"), "{unknown}");
    }
}
