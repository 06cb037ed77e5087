//! The attribute and derive macros of ours.

mod test;

use proc_macro::TokenStream;

/// Makes an async function a test that runs on a cluster.
///
/// The function takes the cluster (`kubewright_testing::Cluster`) and returns nothing or a
/// `Result`. Which cluster it is, `KUBEWRIGHT_TEST_CLUSTER` chooses, unless the test says so.
///
/// - `nodes = 3`: with that many nodes that are only objects; Pods on them run.
/// - `needs = [Controllers, Cel]`: capabilities; where the cluster lacks one, the test is skipped.
/// - `cluster = real`, `embedded` or `existing`: always on that one.
///
/// ```ignore
/// #[kubewright_testing::test(nodes = 3)]
/// async fn three_nodes_are_ready(cluster: Cluster) {
///     assert_eq!(cluster.list::<Node>().await.len(), 3);
/// }
/// ```
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    test::expand(arguments.into(), function.into())
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
