use super::{Conversion, Webhook};

/// What can be registered by [`Operator::webhook`](crate::Operator::webhook): a webhook that
/// changes or judges objects, or one that converts them.
#[derive(Debug)]
#[non_exhaustive]
pub enum AnyWebhook {
    /// Asked before an object is stored.
    Admission(Webhook),
    /// Asked for an object in another version.
    Conversion(Conversion),
}

impl From<Webhook> for AnyWebhook {
    fn from(webhook: Webhook) -> Self {
        Self::Admission(webhook)
    }
}

impl From<Conversion> for AnyWebhook {
    fn from(conversion: Conversion) -> Self {
        Self::Conversion(conversion)
    }
}
