//! What is wrong with an object of one of Kubernetes' own kinds, in Kubernetes' words, at its
//! places and in its order (`pkg/apis/*/validation` of k8s.io/kubernetes).

mod access;
mod check;
mod deployment;
mod event;
mod findings;
pub(crate) mod formats;
mod labels;
mod node;
mod place;
mod pod;
mod records;
mod service;

pub(crate) use check::{is_validated, validate};
use findings::Findings;
use place::At;
