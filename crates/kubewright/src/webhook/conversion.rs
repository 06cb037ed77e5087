//! The conversion between two versions of a kind.

use std::fmt;
use std::sync::Arc;

use kube::CustomResourceExt;
use kubewright_core::Resource;
use kubewright_webhook::conversion::{ConversionFn, ConversionOutput};
use schemars::JsonSchema;
use serde_json::Value;

use super::builder::Webhook;
use crate::kinds::{TypedKind, custom_resource_definition, resource_of};

/// Returns the definition of a kind in one version.
pub(super) type DefinitionFn = fn() -> Option<Value>;

/// The conversion between two versions of a kind; from [`Webhook::converts`].
#[derive(Clone)]
pub struct Conversion {
    pub(super) hub: Resource,
    pub(super) spoke: Resource,
    pub(super) to_hub: ConversionFn,
    pub(super) from_hub: ConversionFn,
    /// The definitions of the hub and of the spoke.
    pub(super) definitions: [DefinitionFn; 2],
}

/// The result of a conversion function: the object, or the reason why it cannot be converted.
#[diagnostic::on_unimplemented(
    message = "a conversion to `{K}` cannot return `{Self}`",
    label = "returns neither `{K}` nor a `Result` of it",
    note = "the two functions of `Webhook::converts` take one version each and return the other"
)]
pub trait Converted<K> {
    /// Returns the object or the reason.
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
    /// Creates a conversion of a kind between two versions. The second is the hub: the stored
    /// version, through which all others are converted. Register one conversion for each other
    /// version; the definition of the kind then has all versions.
    ///
    /// A field that the other version lacks is stored in an annotation of the object and restored,
    /// so that reads and writes in another version lose nothing.
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
            to_hub: conversion_fn(move |object: S| to_hub(object).converted()),
            from_hub: conversion_fn(move |object: H| from_hub(object).converted()),
            definitions: [
                custom_resource_definition::<H>,
                custom_resource_definition::<S>,
            ],
        }
    }
}

fn conversion_fn<K: TypedKind, L: TypedKind>(
    convert: impl Fn(K) -> Result<L, String> + Send + Sync + 'static,
) -> ConversionFn {
    Arc::new(move |object| {
        let object = K::deserialize(object)
            .map_err(|error| format!("read the {}: {error}", K::kind(&())))?;
        Ok(ConversionOutput {
            read: encode(&object)?,
            written: encode(&convert(object)?)?,
        })
    })
}

fn encode<K: TypedKind>(object: &K) -> Result<Value, String> {
    serde_json::to_value(object).map_err(|error| format!("write the {}: {error}", K::kind(&())))
}

impl fmt::Debug for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversion")
            .field("hub", &self.hub)
            .field("spoke", &self.spoke)
            .finish_non_exhaustive()
    }
}
