//! Runs the target `apply` under libFuzzer.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| kubewright_fuzz_targets::apply(bytes));
