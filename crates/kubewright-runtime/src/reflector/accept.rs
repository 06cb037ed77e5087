//! The `Accept` header of lists and watches.

use super::content::Content;
use super::protobuf::Protobuf;
use super::spec::InformerSpec;

/// A request for a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadVerb {
    List,
    Watch,
}

/// The media types of the response, in order of preference.
pub(super) fn accept(spec: &InformerSpec, verb: ReadVerb, protobuf: &Protobuf) -> &'static str {
    let is_metadata = spec.content == Content::Metadata;
    let is_protobuf = protobuf.is_on() && spec.layout().is_some();
    match (verb, is_metadata, is_protobuf) {
        (_, false, false) => "application/json",
        (ReadVerb::List, false, true) => "application/vnd.kubernetes.protobuf,application/json",
        (ReadVerb::Watch, false, true) => {
            "application/vnd.kubernetes.protobuf;stream=watch,application/json"
        }
        (ReadVerb::List, true, false) => {
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
        }
        (ReadVerb::Watch, true, false) => {
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
        }
        (ReadVerb::List, true, true) => {
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
             application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
        }
        (ReadVerb::Watch, true, true) => {
            "application/vnd.kubernetes.protobuf;stream=watch;as=PartialObjectMetadata;\
             g=meta.k8s.io;v=v1,\
             application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
        }
    }
}
