//! `ResourceList`: resource names with quantities, such as the requests of a container.

mod names;
mod quantities;

pub(crate) use names::{
    is_hugepages, is_native, validate_container_resource_name, validate_resource_name,
};
pub(crate) use quantities::{round_up, validate_quantity, warn_fractional_bytes};
