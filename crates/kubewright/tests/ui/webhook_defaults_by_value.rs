//! A defaulting function takes a mutable reference.

use kubewright::prelude::*;

fn fill_in(mut pod: Pod) -> Pod {
    pod.labels_mut().insert("a".to_owned(), "b".to_owned());
    pod
}

fn main() {
    drop(Operator::new("pods").webhook(Webhook::defaults(fill_in)));
}
