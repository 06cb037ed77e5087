//! Service.

mod address;
mod columns;
mod defaults;
mod kind;
mod status;
mod validation;
mod warnings;

pub use address::allocate_address;
pub use kind::SERVICE;
