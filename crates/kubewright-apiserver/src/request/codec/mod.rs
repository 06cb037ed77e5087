//! Between the bodies of requests and values.

pub(super) mod decode;
