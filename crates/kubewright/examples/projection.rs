//! A projection: the cache holds only the fields of a struct for each ConfigMap. The controller
//! reconciles only some of its objects.

use std::process::ExitCode;

use kubewright::controller::projection;
use kubewright::kube;
use kubewright::prelude::*;

/// Lists the colors of all paints.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Palette")]
#[kube(namespaced, status = "PaletteStatus")]
pub(crate) struct PaletteSpec {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PaletteStatus {
    #[serde(default)]
    pub(crate) colors: Vec<String>,
}

/// The color of a ConfigMap; the cache has no other fields of it.
#[derive(kube::Resource, Clone, Debug, Serialize, Deserialize)]
#[resource(inherit = "ConfigMap")]
struct Paint {
    metadata: ObjectMeta,
    data: Option<Color>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Color {
    color: Option<String>,
}

async fn reconcile(_: Arc<Palette>, cx: Context<Palette>) -> Result<Outcome> {
    let paints = cx.list::<Paint>()?;
    let mut colors: Vec<_> = paints
        .iter()
        .filter_map(|paint| paint.data.clone()?.color)
        .collect();
    colors.sort();
    colors.dedup();
    cx.status(|status| status.colors = colors).await?;
    Ok(Outcome::done())
}

pub(crate) fn operator() -> Operator {
    let public = kind::<Palette>().labels("public=yes");
    let paints = projection::<Paint>().labels("shelf=paint");
    Operator::new("palette").controller(
        Controller::new(reconcile)
            .select(public)
            .watches(paints, enqueue::all()),
    )
}

fn main() -> ExitCode {
    operator().main()
}
