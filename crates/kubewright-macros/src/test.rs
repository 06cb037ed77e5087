//! Expansion of the attribute `test`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, ItemFn, LitInt, Result, Token, bracketed};

/// The arguments of the attribute.
#[derive(Default)]
struct Arguments {
    nodes: Option<LitInt>,
    needs: Vec<Ident>,
    cluster: Option<Ident>,
}

/// Turns the function into a test that passes itself to the runner of `kubewright_testing`.
pub(crate) fn expand(arguments: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let parsed = Arguments::parse.parse2(arguments)?;
    let item: ItemFn = syn::parse2(function)?;
    check(&item)?;
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
    } = item;
    let (name, output, inputs) = (&sig.ident, &sig.output, &sig.inputs);
    let nodes = parsed
        .nodes
        .map_or_else(|| quote!(0), |count| quote!(#count));
    let needs = parsed.needs.iter();
    let cluster = parsed.cluster.map_or_else(
        || quote!(::core::option::Option::None),
        |choice| quote!(::core::option::Option::Some(::kubewright_testing::ClusterChoice::#choice)),
    );
    Ok(quote! {
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #name() #output {
            async fn body(#inputs) #output #block
            ::kubewright_testing::run(
                &::kubewright_testing::TestCase {
                    name: ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                    cluster: #cluster,
                    nodes: #nodes,
                    needs: &[#(::kubewright_testing::Capability::#needs),*],
                },
                body,
            )
        }
    })
}

fn check(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        let message = "a test on a cluster is an `async fn`";
        return Err(Error::new_spanned(signature.fn_token, message));
    }
    if signature.inputs.len() != 1 {
        let message = "a test on a cluster takes one argument: `cluster: Cluster`";
        return Err(Error::new_spanned(&signature.ident, message));
    }
    Ok(())
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Self::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match name.to_string().as_str() {
                "nodes" => arguments.nodes = Some(input.parse()?),
                "needs" => {
                    let list;
                    bracketed!(list in input);
                    let needs = Punctuated::<Ident, Token![,]>::parse_terminated(&list)?;
                    arguments.needs = needs.into_iter().collect();
                }
                "cluster" => arguments.cluster = Some(choice(&input.parse()?)?),
                _ => {
                    let message = "unknown setting; there are: nodes, needs, cluster";
                    return Err(Error::new(name.span(), message));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

fn choice(word: &Ident) -> Result<Ident> {
    let variant = match word.to_string().as_str() {
        "embedded" => "Embedded",
        "real" => "Real",
        "existing" => "Existing",
        _ => {
            return Err(Error::new(
                word.span(),
                "unknown cluster; there are: embedded, real, existing",
            ));
        }
    };
    Ok(Ident::new(variant, word.span()))
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::expand;

    fn expansion_error(
        arguments: proc_macro2::TokenStream,
        function: proc_macro2::TokenStream,
    ) -> String {
        expand(arguments, function).unwrap_err().to_string()
    }

    #[test]
    fn settings_reach_the_runner() {
        let function = quote!(
            async fn works(cluster: Cluster) {}
        );
        let settings = quote!(nodes = 3, needs = [Cel, Controllers], cluster = real);
        let text = expand(settings, function).unwrap().to_string();
        assert!(text.contains("nodes : 3"), "{text}");
        assert!(text.contains("Capability :: Cel"), "{text}");
        assert!(text.contains("ClusterChoice :: Real"), "{text}");
    }

    #[test]
    fn invalid_test_fails_with_an_error_that_names_the_valid_form() {
        let function = quote!(
            async fn works(cluster: Cluster) {}
        );
        assert_eq!(
            expansion_error(quote!(node = 3), function.clone()),
            "unknown setting; there are: nodes, needs, cluster"
        );
        assert_eq!(
            expansion_error(quote!(cluster = kind), function),
            "unknown cluster; there are: embedded, real, existing"
        );
        assert_eq!(
            expansion_error(
                quote!(),
                quote!(
                    fn works(cluster: Cluster) {}
                )
            ),
            "a test on a cluster is an `async fn`"
        );
        assert_eq!(
            expansion_error(
                quote!(),
                quote!(
                    async fn works() {}
                )
            ),
            "a test on a cluster takes one argument: `cluster: Cluster`"
        );
    }
}
