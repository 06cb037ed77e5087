use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Method, Request, StatusCode};
use kube::Client;
use kubewright_core::{Description, WebhookKind};
use serde_json::{Value, json};

/// An object that names the operator to the API server, and must say whom to trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trusting {
    path: String,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Each of its webhooks.
    Configuration,
    /// The conversion of its kind.
    Definition,
}

/// All such objects of an operator.
pub(super) fn trusting(description: &Description) -> Vec<Trusting> {
    let mut all = Vec::new();
    for (kind, plural) in [
        (WebhookKind::Mutating, "mutatingwebhookconfigurations"),
        (WebhookKind::Validating, "validatingwebhookconfigurations"),
    ] {
        if description.webhooks.iter().any(|one| one.kind == kind) {
            let name = &description.name;
            all.push(Trusting {
                path: format!("/apis/admissionregistration.k8s.io/v1/{plural}/{name}"),
                form: Form::Configuration,
            });
        }
    }
    for conversion in &description.conversions {
        let name = conversion.hub.qualified_name();
        all.push(Trusting {
            path: format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"),
            form: Form::Definition,
        });
    }
    all
}

impl Trusting {
    /// Makes the object trust these authorities (PEM) and no others. One that is not there needs
    /// none.
    pub(super) async fn trust(&self, client: &Client, pem: &str) -> Result<(), kube::Error> {
        let object = match send(client, Method::GET, &self.path, None).await {
            Err(error) if is(&error, StatusCode::NOT_FOUND) => return Ok(()),
            other => other?,
        };
        let changes = self.changes(&object, &STANDARD.encode(pem));
        if changes.is_empty() {
            return Ok(());
        }
        // Somebody may change it meanwhile: places in a list are only good for this revision.
        let revision = &object["metadata"]["resourceVersion"];
        let mut patch = vec![json!(
            {"op": "test", "path": "/metadata/resourceVersion", "value": revision}
        )];
        patch.extend(changes);
        let patch = Value::Array(patch);
        send(client, Method::PATCH, &self.path, Some(&patch)).await?;
        tracing::info!(object = self.path, "wrote the webhooks' authority");
        Ok(())
    }

    fn changes(&self, object: &Value, bundle: &str) -> Vec<Value> {
        let places: Vec<String> = match self.form {
            Form::Definition if object["spec"]["conversion"]["strategy"] == "Webhook" => {
                vec!["/spec/conversion/webhook/clientConfig".to_owned()]
            }
            Form::Definition => Vec::new(),
            Form::Configuration => {
                let webhooks = object["webhooks"].as_array().map_or(0, Vec::len);
                let place = |place| format!("/webhooks/{place}/clientConfig");
                (0..webhooks).map(place).collect()
            }
        };
        let differs = |place: &String| {
            let client = object.pointer(place);
            client.is_some_and(|client| client["caBundle"] != bundle)
        };
        let set = |place: String| {
            let path = format!("{place}/caBundle");
            json!({"op": "add", "path": path, "value": bundle})
        };
        places.into_iter().filter(differs).map(set).collect()
    }
}

/// Sends a request to a path, with a JSON patch when it has a body and is a PATCH.
pub(super) async fn send(
    client: &Client,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, kube::Error> {
    let media_type = match method {
        Method::PATCH => "application/json-patch+json",
        _ => "application/json",
    };
    let bytes = body.map(|body| body.to_string().into_bytes());
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, media_type)
        .body(bytes.unwrap_or_default())
        .map_err(kube::Error::HttpError)?;
    client.request(request).await
}

/// Whether the API server answered with this code.
pub(super) fn is(error: &kube::Error, code: StatusCode) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == code.as_u16())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Form, Trusting};

    #[test]
    fn only_webhooks_that_trust_somebody_else_are_changed() {
        let trusting = Trusting {
            path: String::new(),
            form: Form::Configuration,
        };
        let object = json!({"webhooks": [
            {"clientConfig": {"caBundle": "new"}}, {"clientConfig": {"caBundle": "old"}},
            {"clientConfig": {}},
        ]});
        assert_eq!(
            trusting.changes(&object, "new"),
            [
                json!({"op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": "new"}),
                json!({"op": "add", "path": "/webhooks/2/clientConfig/caBundle", "value": "new"}),
            ]
        );
    }

    #[test]
    fn a_definition_without_conversion_is_left_alone() {
        let trusting = Trusting {
            path: String::new(),
            form: Form::Definition,
        };
        let object = json!({"spec": {"conversion": {"strategy": "None"}}});
        assert!(trusting.changes(&object, "new").is_empty());
    }
}
