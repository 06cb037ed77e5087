//! The attribute macro `test`, which runs a test on a cluster.

mod test;

use proc_macro::TokenStream;

/// Turns an async function into a test that runs on a cluster.
///
/// The function takes the cluster (`kubewright_testing::Cluster`) and returns nothing or a
/// `Result`. `KUBEWRIGHT_TEST_CLUSTER` selects the cluster, unless the test sets it.
///
/// - `nodes = 3`: creates that many nodes, which exist only as objects; Pods on them run.
/// - `needs = [Controllers, Cel]`: capabilities; the test is skipped on a cluster without one.
/// - `cluster = real`, `embedded` or `existing`: always runs on that cluster.
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
