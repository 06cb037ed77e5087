//! A kind that a webhook reads from the cache.

use std::str::FromStr;

use kubewright_core::{FieldSelector, LabelSelector, ParseSelectorError, Resource};
use kubewright_runtime::informer::{Content, Informer, InformerSpec, Informers};

use crate::Error;
use crate::kinds::{AnyKind, AnyView, ObjectFilter, Selection, UnusedOption, ViewId};

/// A kind that a webhook reads from the cache.
pub(super) struct CachedKind {
    pub(super) resource: Resource,
    pub(super) view: ViewId,
    content: Content,
    filter: ObjectFilter,
    open: OpenView,
    /// An option of the selection that has no effect on reads.
    unused_option: Option<UnusedOption>,
}

/// Opens a view of an informer's objects, with the indexes of the webhook of that path.
type OpenView = Box<dyn Fn(&str, Informer) -> AnyView + Send + Sync>;

impl CachedKind {
    pub(super) fn new<W: AnyKind>(kind: Selection<W>) -> Self {
        let unused_option = kind.unused_by_reads();
        let indexes = kind.indexes;
        Self {
            resource: kind.resource,
            view: kind.view,
            content: kind.content,
            filter: kind.filter,
            open: Box::new(move |path, informer| AnyView::indexed(path, &indexes, informer)),
            unused_option,
        }
    }

    /// Returns an error for an option without effect and for a selector that does not parse.
    pub(super) fn check(&self, path: &str) -> Result<(), Error> {
        if let Some(unused) = self.unused_option {
            return Err(Error::UnusedWebhookOption {
                path: path.to_owned(),
                kind: self.resource.kind.kind.clone(),
                option: unused.option,
                registration: unused.registration,
            });
        }
        parse::<LabelSelector>(path, self.filter.labels.as_deref())?;
        parse::<FieldSelector>(path, self.filter.fields.as_deref())?;
        Ok(())
    }

    /// Opens the view of the webhook of that path.
    pub(super) fn open(&self, path: &str, informers: &Informers) -> Result<AnyView, Error> {
        let all = InformerSpec::all(self.resource.clone());
        let informer = informers.get(&InformerSpec {
            labels: parse(path, self.filter.labels.as_deref())?,
            fields: parse(path, self.filter.fields.as_deref())?,
            namespace: self.filter.namespace.clone(),
            ..all.with_content(self.content.clone())
        });
        Ok((self.open)(path, informer))
    }
}

fn parse<S: FromStr<Err = ParseSelectorError>>(path: &str, text: Option<&str>) -> Result<S, Error> {
    let text = text.unwrap_or_default();
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
    async fn webhook_reads_objects_by_its_indexes() {
        let unreachable = tower::service_fn(async |_: Request<Body>| {
            Err::<Response<Body>, _>("connection refused")
        });
        let informers = Informers::new(Client::new(unreachable, "default"), Default::default());
        let pods = kind::<Pod>().index("node", |pod| {
            let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
            node.into_iter().collect()
        });
        let webhook = Webhook::mutates(same)
            .reads(pods)
            .reads(kind::<Metadata<Node>>());
        let environment = webhook.build(&informers).unwrap().environment;
        let nodes = environment.views().view::<Metadata<Node>>().unwrap();
        assert_eq!(nodes.informer().spec().content, Content::Metadata);
        let store = environment
            .views()
            .view::<Pod>()
            .unwrap()
            .informer()
            .store();
        for (name, node) in [("a", "n1"), ("b", "n2")] {
            let pod = json!({
                "metadata": {"name": name, "namespace": "web", "resourceVersion": "7"},
                "spec": {"nodeName": node, "containers": []},
            });
            store.apply([Delta::Applied(Record::from_value(&pod).unwrap())]);
        }
        let cx = Admission::new(Arc::new(AdmissionRequest::default()), environment.clone());
        let found = cx.by_index::<Pod>("node", "n2").unwrap();
        let names: Vec<_> = found.iter().map(|pod| pod.metadata.name.clone()).collect();
        assert_eq!(names, [Some("b".to_owned())]);
        let error = cx.by_index::<Pod>("zone", "a").map(drop).unwrap_err();
        assert!(
            error.to_string().contains(".index(\"zone\", ..)"),
            "{error}"
        );
    }
}
