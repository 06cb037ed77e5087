//! One message out of several.

/// One message as it is, several as `[first, second]` (`Aggregate.Error` of
/// k8s.io/apimachinery/pkg/util/errors).
pub(crate) fn aggregate(messages: &[String]) -> String {
    match messages {
        [message] => message.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}
