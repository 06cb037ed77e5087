//! `init`, `create api` and `create webhook`, without building the generated code.

mod api;
mod demo_project;
mod existing_sources;
mod init;
mod invalid_arguments;
mod webhook;
