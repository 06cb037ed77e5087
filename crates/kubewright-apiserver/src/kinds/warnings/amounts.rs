use kubewright_wire::schema::Quantity;

use super::{At, Told};

/// Bytes come whole.
pub(super) fn whole_bytes(at: At<'_>, told: &mut Told) {
    let Some(amount) = Quantity::parse(at.text()) else {
        return;
    };
    if !amount.round_up_to_milli().is_whole() {
        let shown = amount.to_string();
        let detail = format!("fractional byte value {shown:?} is invalid, must be an integer");
        told.at(at, &detail);
    }
}

/// What a claim asks for (`GetWarningsForPersistentVolumeClaimSpec`).
pub(super) fn claimed(spec: At<'_>, told: &mut Told) {
    let resources = spec.field("resources");
    for list in ["requests", "limits"] {
        let list = resources.field(list);
        whole_bytes(list.key("storage"), told);
    }
}
