//! Names that become host names.

use kubewright_core::NameRule;

use crate::field_path::FieldPath;
use crate::warning_list::Warnings;

/// Warns about a name that is used as a host name and is not a DNS label.
pub(crate) fn warn_host_name(at: FieldPath<'_>, used: &str, warnings: &mut Warnings) {
    let problems = NameRule::Label.problems(at.text());
    if problems.is_empty() {
        return;
    }
    let detail = format!(
        "this is used in {used}, which can result in surprising behavior; a DNS label is \
         recommended: [{}]",
        problems.join(" ")
    );
    warnings.add_at(at, &detail);
}
