//! Two kinds in one operator: a fleet creates ships, and each ship creates its log.

use std::process::ExitCode;

use kubewright::prelude::*;

/// A number of ships.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Fleet")]
#[kube(namespaced, status = "FleetStatus")]
pub(crate) struct FleetSpec {
    pub(crate) ships: usize,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FleetStatus {
    pub(crate) at_sea: usize,
}

/// One ship.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Ship")]
#[kube(namespaced)]
pub(crate) struct ShipSpec {
    pub(crate) fleet: String,
}

async fn launch(fleet: Arc<Fleet>, cx: Context<Fleet>) -> Result<Outcome> {
    let expected: Vec<String> = (1..=fleet.spec.ships)
        .map(|number| format!("{}-{number}", fleet.name_any()))
        .collect();
    let spec = ShipSpec {
        fleet: fleet.name_any(),
    };
    for name in &expected {
        cx.apply(&Ship::new(name, spec.clone())).await?;
    }
    for ship in &cx.owned::<Ship>()? {
        if !expected.contains(&ship.name_any()) {
            cx.delete(&ship).await?;
        }
    }
    let at_sea = cx.owned::<Ship>()?.len();
    cx.status(|status| status.at_sea = at_sea).await?;
    Ok(Outcome::done())
}

async fn sail(ship: Arc<Ship>, cx: Context<Ship>) -> Result<Outcome> {
    let log = ConfigMap {
        metadata: ObjectMeta {
            name: Some(format!("{}-log", ship.name_any())),
            ..ObjectMeta::default()
        },
        data: Some([("fleet".to_owned(), ship.spec.fleet.clone())].into()),
        ..ConfigMap::default()
    };
    cx.apply(&log).await?;
    Ok(Outcome::done())
}

pub(crate) fn operator() -> Operator {
    Operator::new("fleets")
        .controller(Controller::new(launch).owns(kind::<Ship>()))
        .controller(Controller::new(sail).owns(kind::<ConfigMap>()))
}

fn main() -> ExitCode {
    operator().main()
}
