//! The benchmark `newcomer`: from `init` to the first green test, beside what kubebuilder makes.

mod count;
mod run;

pub(crate) use run::run;
