//! The parts of a [`Description`](crate::Description): what an operator registers, as data.

pub use kubewright_core::{
    ControllerDescription, ConversionDescription, Exemption, PolicyDescription, Use,
    WebhookDescription,
};
