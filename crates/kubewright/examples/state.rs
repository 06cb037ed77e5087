//! A controller with state: each greeting has a number in memory, which is released when the object is
//! deleted.

use std::collections::HashMap;
use std::process::ExitCode;

use kubewright::ObjectKey;
use kubewright::prelude::*;
use parking_lot::Mutex;

/// A greeting.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "examples.kubewright.dev", version = "v1", kind = "Greeting")]
#[kube(namespaced, status = "GreetingStatus")]
pub(crate) struct GreetingSpec {
    pub(crate) name: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GreetingStatus {
    pub(crate) text: String,
}

#[derive(Debug)]
struct Greeter {
    word: &'static str,
    numbers: Mutex<HashMap<ObjectKey, usize>>,
}

impl Greeter {
    async fn reconcile(
        self: Arc<Self>,
        greeting: Arc<Greeting>,
        cx: Context<Greeting>,
    ) -> Result<Outcome> {
        let number = {
            let mut numbers = self.numbers.lock();
            let next = numbers.len() + 1;
            *numbers.entry(cx.key().clone()).or_insert(next)
        };
        let text = format!(
            "{}, {}! You are number {number}.",
            self.word, greeting.spec.name
        );
        cx.status(|status| status.text = text).await?;
        Ok(Outcome::done())
    }
}

pub(crate) fn operator() -> Operator {
    let greeter = Arc::new(Greeter {
        word: "Welcome",
        numbers: Mutex::default(),
    });
    let on_deleted = Arc::clone(&greeter);
    Operator::new("greeter").controller(Controller::with(greeter, Greeter::reconcile).on_deleted(
        move |key| {
            on_deleted.numbers.lock().remove(&key);
            async { Ok(()) }
        },
    ))
}

fn main() -> ExitCode {
    operator().main()
}
