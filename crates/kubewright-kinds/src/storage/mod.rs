//! The kinds of the group storage.k8s.io.

mod csi_driver;
mod csi_node;
mod csi_storage_capacity;
mod storage_class;
mod volume_attachment;
mod volume_attributes_class;

pub use csi_driver::CSI_DRIVER;
pub use csi_node::CSI_NODE;
pub use csi_storage_capacity::CSI_STORAGE_CAPACITY;
pub use storage_class::STORAGE_CLASS;
pub use volume_attachment::VOLUME_ATTACHMENT;
pub use volume_attributes_class::VOLUME_ATTRIBUTES_CLASS;
