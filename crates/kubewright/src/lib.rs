//! The facade a user depends on: `Operator`, `Controller`, `prelude`.
