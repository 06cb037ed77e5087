use kubewright::prelude::*;

fn check(_: &mut Change<Pod>, _: &mut Findings) {}

fn main() {
    drop(Operator::new("pods").webhook(Webhook::validates(check)));
}
