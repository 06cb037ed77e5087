use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::Budget;
use super::environment::Environment;
use super::evaluate::Evaluated;
use super::problem::{Fault, Refusal};
use super::program::{Program, Variables};
use super::types::{ObjectType, Type};
use super::value::Value;

/// How the variable is called whose fields are expressions.
const NAME: &str = "variables";
/// How many nodes of expressions and of the variables that they build on may stand below each
/// other: what is evaluated is walked recursively.
const DEEPEST: usize = 200;

/// Expressions with names, each of which may build on those before it
/// (`CompositedCompiler` of k8s.io/apiserver/pkg/admission/plugin/cel).
#[derive(Clone, Debug)]
pub(crate) struct Composition {
    variables: Vec<Variable>,
    /// Where the variables of a name stand: the last one counts.
    places: BTreeMap<String, Vec<usize>>,
    of: Arc<ObjectType>,
}

#[derive(Clone, Debug)]
struct Variable {
    name: String,
    /// None for one that does not compile.
    program: Option<Program>,
    /// How deep it nests, with those that it builds on.
    depth: usize,
}

/// Without variables.
impl Default for Composition {
    fn default() -> Self {
        Self {
            variables: Vec::new(),
            places: BTreeMap::new(),
            of: Arc::new(ObjectType {
                name: "kubernetes.variables".to_owned(),
                fields: BTreeMap::new(),
            }),
        }
    }
}

impl Composition {
    /// Reads the next variable. It counts also when it is wrong, so that what builds on it is not
    /// wrong for that.
    pub(crate) fn add(
        &mut self,
        name: &str,
        expression: &str,
        base: &Environment,
    ) -> Result<(), Refusal> {
        let compiled = self.compile(expression, &self.environment(base), &[]);
        let (program, told) = match compiled {
            Ok(program) => (Some(program), Ok(())),
            Err(refusal) => (None, Err(refusal)),
        };
        let of = program
            .as_ref()
            .map_or(Type::Dyn, |program| declared(program.gives()));
        let depth = program.as_ref().map_or(0, |program| self.depth(program));
        let fields = &mut Arc::make_mut(&mut self.of).fields;
        fields.insert(name.to_owned(), (name.to_owned(), of));
        let places = self.places.entry(name.to_owned()).or_default();
        places.push(self.variables.len());
        self.variables.push(Variable {
            name: name.to_owned(),
            program,
            depth,
        });
        told
    }

    /// An environment with the variables so far.
    pub(crate) fn environment(&self, base: &Environment) -> Environment {
        base.clone().composed(NAME, Arc::clone(&self.of))
    }

    /// Reads an expression that may build on the variables.
    pub(crate) fn compile(
        &self,
        expression: &str,
        environment: &Environment,
        wanted: &[Type],
    ) -> Result<Program, Refusal> {
        let program = Program::compile_as(expression, environment, wanted)?;
        match self.depth(&program) > DEEPEST {
            true => Err(Refusal::Lacking(
                "the use of variables that build on one another that deep".to_owned(),
            )),
            false => Ok(program),
        }
    }

    fn depth(&self, program: &Program) -> usize {
        let seen = self.variables.len();
        let used = program.composed().filter_map(|name| self.find(name, seen));
        let below = used.map(|(_, variable)| variable.depth).max();
        program.height() + below.unwrap_or(0)
    }

    /// The last variable of that name among the first `seen`.
    fn find(&self, name: &str, seen: usize) -> Option<(usize, &Variable)> {
        let places = self.places.get(name)?;
        let place = *places.iter().rfind(|place| **place < seen)?;
        Some((place, self.variables.get(place)?))
    }
}

/// A variable is known by the type of its expression where that is a plain one
/// (`convertCelTypeToDeclType`).
fn declared(of: &Type) -> Type {
    match of {
        Type::Null
        | Type::Bool
        | Type::Int
        | Type::Uint
        | Type::Double
        | Type::String
        | Type::Bytes
        | Type::Duration
        | Type::Timestamp => of.clone(),
        Type::List(of, _) => Type::list(declared(of)),
        Type::Map(key, value) => Type::map(declared(key), declared(value)),
        _ => Type::Dyn,
    }
}

/// The values of the variables of a composition, each computed once, when it is first asked for.
#[derive(Debug)]
pub(crate) struct Lazy<'a> {
    composition: &'a Composition,
    values: RefCell<Vec<Option<Evaluated>>>,
}

/// The variables that an expression sees: a variable sees those before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    lazy: &'a Lazy<'a>,
    before: usize,
}

impl<'a> Lazy<'a> {
    pub(crate) fn new(composition: &'a Composition) -> Self {
        Self {
            composition,
            values: RefCell::new(vec![None; composition.variables.len()]),
        }
    }

    /// What an expression comes to that may build on the variables.
    pub(crate) fn evaluate(
        &self,
        program: &Program,
        variables: &Variables,
        budget: &mut Budget,
    ) -> Result<Value, Fault> {
        let scope = Scope {
            lazy: self,
            before: self.composition.variables.len(),
        };
        program.evaluate_in(variables, Some(scope), budget)
    }
}

impl Scope<'_> {
    pub(super) fn is_called(self, name: &str) -> bool {
        name == NAME
    }

    /// The value of a variable.
    pub(super) fn value(self, name: &str, variables: &Variables, budget: &mut Budget) -> Evaluated {
        let found = self.lazy.composition.find(name, self.before);
        let Some((place, variable)) = found else {
            return Err(Fault::new(format!("no such key: {name}")));
        };
        let known = self.lazy.values.borrow().get(place).cloned().flatten();
        if let Some(known) = known {
            return known;
        }
        let value = self.compute(place, variable, variables, budget);
        if let Some(slot) = self.lazy.values.borrow_mut().get_mut(place) {
            *slot = Some(value.clone());
        }
        value
    }

    fn compute(
        self,
        place: usize,
        variable: &Variable,
        variables: &Variables,
        budget: &mut Budget,
    ) -> Evaluated {
        let name = &variable.name;
        let Some(program) = &variable.program else {
            return Err(Fault::new(format!(
                "composited variable {name:?} fails to compile"
            )));
        };
        let scope = Scope {
            before: place,
            ..self
        };
        let left = budget.suspend();
        let value = program.evaluate_in(variables, Some(scope), budget);
        budget.resume(left);
        value.map_err(|fault| {
            Fault::new(format!(
                "composited variable {name:?} fails to evaluate: {fault}"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Composition, Environment, Fault, Lazy, Type, Value};
    use crate::cel::{Budget, Refusal, Variables};

    fn base() -> Environment {
        Environment::default().variable("object", Type::Dyn)
    }

    fn composed(variables: &[(&str, &str)]) -> Composition {
        let mut composition = Composition::default();
        for (name, expression) in variables {
            composition.add(name, expression, &base()).unwrap();
        }
        composition
    }

    fn evaluate(variables: &[(&str, &str)], source: &str) -> Result<Value, Fault> {
        let composition = composed(variables);
        let environment = composition.environment(&base());
        let program = composition.compile(source, &environment, &[]).unwrap();
        let values = Variables::from([("object", Value::Null)]);
        Lazy::new(&composition).evaluate(&program, &values, &mut Budget::default())
    }

    #[test]
    fn variables_build_on_those_before_them() {
        let two = [("a", "1 + 1"), ("b", "variables.a * 10")];
        assert_eq!(
            evaluate(&two, "variables.b + variables.a"),
            Ok(Value::Int(22))
        );
        let hidden = "[{'a': 5}].all(variables, variables.a == 5)";
        assert_eq!(evaluate(&two, hidden), Ok(Value::Bool(true)));
        assert_eq!(
            evaluate(&two, "has(variables.a) && variables.?a == optional.of(2)"),
            Ok(Value::Bool(true))
        );
    }

    #[test]
    fn one_that_cannot_be_computed_counts_only_where_it_is_used() {
        let broken = [("a", "object.x"), ("b", "variables.a + 1"), ("c", "3")];
        assert_eq!(evaluate(&broken, "variables.c"), Ok(Value::Int(3)));
        assert_eq!(
            evaluate(&broken, "true || variables.b == 1"),
            Ok(Value::Bool(true))
        );
        let told = "composited variable \"b\" fails to evaluate: composited variable \"a\" fails to \
                    evaluate: no such key: x";
        assert_eq!(
            evaluate(&broken, "variables.b"),
            Err(Fault::Failed(told.to_owned()))
        );
    }

    #[test]
    fn of_two_of_one_name_the_last_counts_and_sees_the_first() {
        let twice = [
            ("a", "1"),
            ("a", "variables.a + 1"),
            ("a", "variables.a * 10"),
        ];
        assert_eq!(evaluate(&twice, "variables.a"), Ok(Value::Int(20)));
    }

    #[test]
    fn an_expensive_variable_is_computed_once() {
        let list = "[1,2,3,4,5,6,7,8,9,10]";
        let dear = format!(
            "{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, {list}.all(e, a > 0)))))"
        );
        let variables = [("dear", dear.as_str())];
        let uses = vec!["variables.dear"; 30].join(" && ");
        assert_eq!(evaluate(&variables, &uses), Ok(Value::Bool(true)));
    }

    #[test]
    fn what_is_known_of_a_variable_is_its_plain_type() {
        let mut composition = composed(&[("n", "1"), ("l", "['a']"), ("o", "optional.of(1)")]);
        let environment = composition.environment(&base());
        let gives = |source: &str| {
            let program = composition.compile(source, &environment, &[]);
            program.map(|program| program.gives().to_string())
        };
        assert_eq!(gives("variables.n").unwrap(), "int");
        assert_eq!(gives("variables.l[0]").unwrap(), "string");
        assert_eq!(gives("variables.o").unwrap(), "dyn");
        assert!(matches!(gives("variables.none"), Err(Refusal::Wrong(_))));
        assert!(matches!(gives("variables"), Err(Refusal::Lacking(_))));
        assert!(composition.add("wrong", "nothing", &base()).is_err());
        let environment = composition.environment(&base());
        assert!(
            composition
                .compile("variables.wrong == 1", &environment, &[])
                .is_ok()
        );
    }
}
