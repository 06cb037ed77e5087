//! The description of an operator, and its permissions, follow from the registrations.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Namespace, Node};
use kubewright::description::Use;
use kubewright::prelude::*;
use kubewright::queue::Priority;
use kubewright::{Error, Kind, PolicyRule, Resource, Scope, Verb, kind_of};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "ex.io", version = "v1", kind = "Site", namespaced)]
struct SiteSpec {
    text: Option<String>,
}

async fn reconcile_site(_: Arc<Site>, _: Context<Site>) -> Result<Outcome> {
    Ok(Outcome::done())
}

async fn reconcile_node(_: Arc<Node>, _: Context<Node>) -> Result<Outcome> {
    Ok(Outcome::done())
}

#[derive(Debug)]
struct State;

impl State {
    async fn reconcile(self: Arc<Self>, _: Arc<Site>, _: Context<Site>) -> Result<Outcome> {
        std::future::ready(Ok(Outcome::done())).await
    }
}

fn rules(operator: &Operator) -> Vec<String> {
    let rules = operator.description().rules();
    rules
        .iter()
        .map(|rule| format!("{} {}", rule.resources.join(","), rule.verbs.join(",")))
        .collect()
}

#[test]
fn custom_resource_has_a_definition_and_a_built_in_kind_none() {
    let operator = Operator::new("sites")
        .controller(Controller::new(reconcile_site))
        .controller(Controller::with(State, State::reconcile).named("second"))
        .controller(Controller::new(reconcile_node));
    let description = operator.description();
    assert_eq!(description.custom_resources.len(), 1);
    assert_eq!(
        description.custom_resources[0]["metadata"]["name"],
        "sites.ex.io"
    );
    let names: Vec<_> = description
        .controllers
        .iter()
        .map(|controller| controller.name.as_str())
        .collect();
    assert_eq!(names, ["site", "second", "node"]);
}

#[test]
fn registrations_determine_the_rules() {
    let operator = Operator::new("sites").controller(
        Controller::new(reconcile_site)
            .owns(kind::<Deployment>())
            .reads(kind::<Secret>().labels("site"))
            .writes(kind::<Namespace>(), [Verb::Create, Verb::Patch])
            .watches(kind::<Node>(), |node: &Node, sites| {
                let name = node.name_any();
                sites
                    .keys()
                    .into_iter()
                    .filter(move |key| key.name() == name)
            }),
    );
    assert_eq!(
        rules(&operator),
        [
            "nodes,secrets get,list,watch",
            "namespaces create,patch",
            "deployments get,list,watch,create,patch,delete",
            "sites get,list,watch",
            "sites/finalizers update",
            "sites/status patch",
        ]
    );
    assert_eq!(operator.description().controllers[0].uses[0].1, Use::Owns);
}

#[test]
fn finalizer_grants_patch_of_the_own_kind() {
    let controller = Controller::new(reconcile_site).finalizer("ex.io/site", reconcile_site);
    assert_eq!(
        rules(&Operator::new("sites").controller(controller)),
        ["sites get,list,watch,patch", "sites/status patch"]
    );
}

#[test]
fn dynamic_kind_has_the_rules_of_its_registrations() {
    let backups = Resource::new(
        Kind::new("ex.io", "v1", "Backup"),
        "backups",
        Scope::Namespaced,
    );
    let reconcile = async |_: Arc<_>, _: Context<_>| Ok(Outcome::done());
    let operator = Operator::new("backups").controller(
        Controller::of(backups.clone(), reconcile)
            .owns(kind::<Job>())
            .reads(kind_of(backups)),
    );
    assert!(operator.description().custom_resources.is_empty());
    assert_eq!(
        rules(&operator),
        [
            "jobs get,list,watch,create,patch,delete",
            "backups get,list,watch",
            "backups/finalizers update",
            "backups/status patch",
        ]
    );
}

#[test]
fn rules_of_the_user_are_last_and_unique() {
    let rule = PolicyRule {
        api_groups: vec![String::new()],
        resources: vec!["pods/log".to_owned()],
        verbs: vec!["get".to_owned()],
        ..PolicyRule::default()
    };
    let operator = Operator::new("sites")
        .controller(Controller::new(reconcile_node).grants(rule.clone()))
        .grants(rule.clone());
    assert_eq!(operator.description().extra_rules, [rule]);
}

/// A client whose requests fail. An invalid operator fails before it sends one.
fn client() -> kubewright::kube::Client {
    use kubewright::kube::client::Body;
    let unreachable = tower::service_fn(async |_: http::Request<Body>| {
        Err::<http::Response<Body>, _>("connection refused")
    });
    kubewright::kube::Client::new(unreachable, "default")
}

fn error_of(operator: Operator) -> String {
    let error: Error = operator
        .start(client(), Default::default())
        .expect_err("this operator cannot be run");
    let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
    format!("{error}{}", source.unwrap_or_default())
}

#[tokio::test]
async fn error_of_an_invalid_operator_names_the_reason() {
    let site = || Controller::new(reconcile_site);
    let bad_name = error_of(Operator::new("My Operator"));
    assert!(
        bad_name.starts_with("name the operator \"My Operator\": use lower-case"),
        "{bad_name}"
    );
    let too_long = error_of(Operator::new("x".repeat(57)));
    assert!(too_long.contains("at most 56"), "{too_long}");
    let twice = Operator::new("x").controller(site()).controller(site());
    assert_eq!(
        error_of(twice),
        "register controller \"site\" twice: give one of them another name with .named(..)"
    );
    let selector = site().owns(kind::<Pod>().labels("a b"));
    assert_eq!(
        error_of(Operator::new("x").controller(selector)),
        "select Pod by \"a b\" in controller \"site\": unable to parse requirement: found 'b', \
         expected: in, notin, =, ==, !=, gt, lt"
    );
    let two_views = site()
        .owns(kind::<Pod>())
        .reads(kind::<Pod>().labels("a=b"));
    let error = error_of(Operator::new("x").controller(two_views));
    assert!(
        error.starts_with("register Pod in controller \"site\" with two selectors"),
        "{error}"
    );
    let unused_option = site().reads(kind::<Pod>().when(changed::labels()));
    assert_eq!(
        error_of(Operator::new("x").controller(unused_option)),
        "register Pod in controller \"site\": .when(..) has no effect on .reads(..), which \
         enqueues nothing; leave it out"
    );
    let unqualified = site().finalizer("cleanup", reconcile_site);
    assert_eq!(
        error_of(Operator::new("x").controller(unqualified)),
        "give controller \"site\" the finalizer \"cleanup\": its name is not qualified; use one \
         such as ex.io/cleanup"
    );
    let two = site()
        .finalizer("ex.io/a", reconcile_site)
        .finalizer("ex.io/b", reconcile_site);
    let error = error_of(Operator::new("x").controller(two));
    assert!(error.contains("it has one already"), "{error}");
}

#[tokio::test]
async fn option_without_effect_is_an_error() {
    let failed = |controller| error_of(Operator::new("x").controller(controller));
    let site = || Controller::new(reconcile_site);
    let nodes = failed(site().watches(kind::<Node>().namespace("web"), enqueue::all()));
    assert!(nodes.contains(".namespace(..) has no effect"), "{nodes}");
    let read = failed(site().reads(kind::<Node>().namespace("web")));
    assert!(read.contains(".namespace(..) has no effect"), "{read}");
    let urgent = failed(site().reads(kind::<Pod>().priority(Priority(5))));
    assert!(urgent.contains(".priority(..) has no effect"), "{urgent}");
    let selected = kind::<Pod>().fields("spec.nodeName=a");
    let error = failed(site().writes(selected, [Verb::Create]));
    assert!(error.contains("which reads nothing"), "{error}");
    let prioritized = kind::<Pod>().priority(Priority(5));
    let error = failed(site().writes(prioritized, [Verb::Create]));
    assert!(error.contains("which reads nothing"), "{error}");
    let twice = site()
        .watches(kind::<Pod>().namespace("a"), enqueue::all())
        .reads(kind::<Pod>().namespace("b"));
    let error = failed(twice);
    assert!(error.contains("with two selectors"), "{error}");
    let error = failed(site().reads(kind::<Pod>().fields("spec.nodeName")));
    assert!(error.contains("select Pod by"), "{error}");
}
