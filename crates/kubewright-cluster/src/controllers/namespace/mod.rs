//! The namespace controller: deletes the content of namespaces that are being deleted, then the
//! namespaces.

mod conditions;
mod controller;

pub(crate) use controller::NamespaceController;
