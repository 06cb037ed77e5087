use std::fmt;
use std::sync::Arc;

use kube::CustomResourceExt;
use kubewright_core::{ConversionDescription, Resource};
use kubewright_webhook::ConversionHandler;
use kubewright_webhook::conversion::{ConversionFn, ConversionOutput, Spoke, Versions};
use schemars::JsonSchema;
use serde_json::Value;

use super::Webhook;
use crate::Error;
use crate::controller::{TypedKind, definition, resource_of};

/// Makes the definition of a kind in one version.
type Define = fn() -> Option<Value>;

/// The ways between two versions of a kind; made by [`Webhook::converts`].
#[derive(Clone)]
pub struct Conversion {
    hub: Resource,
    spoke: Resource,
    to_hub: ConversionFn,
    from_hub: ConversionFn,
    /// How the definitions of both versions are made.
    definitions: [Define; 2],
}

/// What a conversion function returns: the object, or why it cannot be converted.
#[diagnostic::on_unimplemented(
    message = "a conversion to `{K}` cannot return `{Self}`",
    label = "returns neither `{K}` nor a `Result` of it",
    note = "the two functions of `Webhook::converts` take one version each and return the other"
)]
pub trait Converted<K> {
    /// The object, or the reason.
    fn converted(self) -> Result<K, String>;
}

impl<K> Converted<K> for K {
    fn converted(self) -> Result<K, String> {
        Ok(self)
    }
}

impl<K, E: fmt::Display> Converted<K> for Result<K, E> {
    fn converted(self) -> Result<K, String> {
        self.map_err(|error| error.to_string())
    }
}

impl Webhook {
    /// Converts a kind between two versions, of which the second is the hub: the one that is
    /// stored, and through which all other versions go. Register one such pair for each of the
    /// others; the definition of the kind then has all versions.
    ///
    /// A field that the other version has no place for is kept in an annotation of the object and
    /// put back, so that nothing is lost by reading or writing in another version.
    ///
    /// ```
    /// use kubewright::prelude::*;
    ///
    /// mod old {
    ///     use kubewright::prelude::*;
    ///
    ///     #[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
    ///     #[kube(group = "ex.io", version = "v1alpha1", kind = "Site", namespaced)]
    ///     pub struct SiteSpec {
    ///         pub text: String,
    ///     }
    /// }
    ///
    /// #[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
    /// #[kube(group = "ex.io", version = "v1", kind = "Site", namespaced)]
    /// pub struct SiteSpec {
    ///     pub page: String,
    /// }
    ///
    /// fn to_hub(old: old::Site) -> Site {
    ///     let spec = SiteSpec { page: old.spec.text };
    ///     Site { metadata: old.metadata, spec }
    /// }
    ///
    /// fn from_hub(new: Site) -> old::Site {
    ///     let spec = old::SiteSpec { text: new.spec.page };
    ///     old::Site { metadata: new.metadata, spec }
    /// }
    ///
    /// let operator = Operator::new("site").webhook(Webhook::converts(to_hub, from_hub));
    /// let description = operator.description();
    /// assert_eq!(description.conversions[0].spokes, ["v1alpha1"]);
    /// ```
    pub fn converts<S, H, There, Back>(
        to_hub: impl Fn(S) -> There + Send + Sync + 'static,
        from_hub: impl Fn(H) -> Back + Send + Sync + 'static,
    ) -> Conversion
    where
        S: TypedKind + CustomResourceExt + JsonSchema,
        H: TypedKind + CustomResourceExt + JsonSchema,
        There: Converted<H>,
        Back: Converted<S>,
    {
        Conversion {
            hub: resource_of::<H>(),
            spoke: resource_of::<S>(),
            to_hub: translation(move |object: S| to_hub(object).converted()),
            from_hub: translation(move |object: H| from_hub(object).converted()),
            definitions: [definition::<H>, definition::<S>],
        }
    }
}

fn translation<K: TypedKind, L: TypedKind>(
    convert: impl Fn(K) -> Result<L, String> + Send + Sync + 'static,
) -> ConversionFn {
    Arc::new(move |object| {
        let object = K::deserialize(object)
            .map_err(|error| format!("read the {}: {error}", K::kind(&())))?;
        Ok(ConversionOutput {
            read: written(&object)?,
            written: written(&convert(object)?)?,
        })
    })
}

fn written<K: TypedKind>(object: &K) -> Result<Value, String> {
    serde_json::to_value(object).map_err(|error| format!("write the {}: {error}", K::kind(&())))
}

/// The conversions of an operator, by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversions {
    kinds: Vec<Converting>,
}

/// All versions of one kind.
#[derive(Clone, Debug)]
struct Converting {
    description: ConversionDescription,
    versions: Versions,
    /// The definition of the hub, then those of the others.
    definitions: Vec<Define>,
}

impl Conversions {
    /// Joins the pairs of an operator.
    pub(crate) fn join(pairs: &[Conversion]) -> Result<Self, Error> {
        let mut all = Self::default();
        for pair in pairs {
            all.add(pair)?;
        }
        Ok(all)
    }

    fn add(&mut self, conversion: &Conversion) -> Result<(), Error> {
        let (hub, spoke) = (&conversion.hub, &conversion.spoke);
        let refuse = |why| Error::Conversion {
            from: spoke.kind.to_string(),
            to: hub.kind.to_string(),
            why,
        };
        let is_one_kind = hub.qualified_name() == spoke.qualified_name()
            && hub.kind.kind == spoke.kind.kind
            && hub.scope == spoke.scope;
        if !is_one_kind {
            return Err(refuse(
                "both must be the same kind: group, kind, plural and scope are equal",
            ));
        }
        let version = spoke.kind.version().to_owned();
        let name = hub.qualified_name();
        let place = self.kinds.iter().position(|one| one.name() == name);
        let place = place.unwrap_or_else(|| {
            self.kinds.push(Converting::new(hub));
            self.kinds.len() - 1
        });
        let converting = &mut self.kinds[place];
        if converting.description.hub != *hub {
            return Err(refuse(
                "a kind has one hub: let all other versions be converted to the same one",
            ));
        }
        if version == hub.kind.version() || converting.description.spokes.contains(&version) {
            return Err(refuse(
                "each version is converted once, and never to itself",
            ));
        }
        converting.description.spokes.push(version);
        let [hub_definition, spoke_definition] = conversion.definitions;
        if converting.definitions.is_empty() {
            converting.definitions.push(hub_definition);
        }
        converting.definitions.push(spoke_definition);
        converting.versions.spokes.push(Spoke {
            api_version: spoke.kind.api_version(),
            to_hub: Arc::clone(&conversion.to_hub),
            from_hub: Arc::clone(&conversion.from_hub),
        });
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(crate) fn describe(&self) -> Vec<ConversionDescription> {
        let kinds = self.kinds.iter();
        kinds.map(|one| one.description.clone()).collect()
    }

    /// Gives the definitions of converted kinds all their versions.
    pub(crate) fn complete(&self, definitions: &mut Vec<Value>) {
        for one in &self.kinds {
            let name = one.name();
            let place = definitions
                .iter()
                .position(|known| known["metadata"]["name"] == name.as_str());
            let mut definition = match place {
                Some(place) => definitions.remove(place),
                None => one
                    .definitions
                    .first()
                    .and_then(|make| make())
                    .unwrap_or_default(),
            };
            let others = one.definitions.iter().filter_map(|make| make());
            let versions = others.flat_map(|other| {
                let versions = other["spec"]["versions"].as_array().cloned();
                versions.unwrap_or_default()
            });
            add_versions(&mut definition, versions.collect());
            definitions.insert(place.unwrap_or(definitions.len()), definition);
        }
    }

    /// What the webhook server answers with.
    pub(crate) fn handler(&self) -> ConversionHandler {
        let kinds = self.kinds.clone();
        Arc::new(move |object, wanted| {
            let version = object["apiVersion"].as_str().unwrap_or_default();
            let group = version.split_once('/').map_or("", |(group, _)| group);
            let kind = object["kind"].as_str().unwrap_or_default();
            let found = kinds.iter().find(|one| {
                let own = &one.description.hub.kind;
                own.group() == group && own.kind == kind
            });
            match found {
                Some(one) => one.versions.convert(object, wanted),
                None => Err(format!("{kind} of {version:?} is not converted here")),
            }
        })
    }
}

/// The hub is stored, the others are served beside it.
fn add_versions(definition: &mut Value, others: Vec<Value>) {
    let versions = definition.pointer_mut("/spec/versions");
    let Some(versions) = versions.and_then(Value::as_array_mut) else {
        return;
    };
    for mut version in others {
        version["storage"] = Value::Bool(false);
        if !versions
            .iter()
            .any(|known| known["name"] == version["name"])
        {
            versions.push(version);
        }
    }
}

impl Converting {
    fn new(hub: &Resource) -> Self {
        Self {
            description: ConversionDescription {
                hub: hub.clone(),
                spokes: Vec::new(),
            },
            versions: Versions {
                kind: hub.kind.kind.clone(),
                hub: hub.kind.api_version(),
                spokes: Vec::new(),
            },
            definitions: Vec::new(),
        }
    }

    fn name(&self) -> String {
        self.description.hub.qualified_name()
    }
}

impl fmt::Debug for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversion")
            .field("hub", &self.hub)
            .field("spoke", &self.spoke)
            .finish_non_exhaustive()
    }
}
