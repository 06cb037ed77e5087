//! Speed and memory, beside the peers, as ratios of one run.

fn main() {}
