//! The benchmark `newcomer`: from `init` to the first passing test, compared with a project of kubebuilder.

mod project_size;
mod run;

pub(crate) use run::run;
