#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| kubewright_apiserver::fuzz::json(bytes));
