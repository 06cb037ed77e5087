//! The command `kubewright`.

fn main() {}
