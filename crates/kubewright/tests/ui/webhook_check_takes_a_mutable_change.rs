//! A validating function takes a shared reference to the change.

use kubewright::prelude::*;
use kubewright::webhook::{Change, Findings};

fn check(_: &mut Change<Pod>, _: &mut Findings) {}

fn main() {
    drop(Operator::new("pods").webhook(Webhook::validates(check)));
}
