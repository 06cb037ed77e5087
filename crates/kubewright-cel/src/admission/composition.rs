//! Variables of policies: named expressions that other expressions use as `variables.name`
//! (`CompositedCompiler` of k8s.io/apiserver/pkg/admission/plugin/cel).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::budget::Budget;
use crate::check::Environment;
use crate::error::{CompileError, EvaluationError};
use crate::evaluate::{ComposedVariables, Variables};
use crate::program::Program;
use crate::values::{EvaluationResult, ObjectType, Type, Value};

/// The name of the variable whose fields are the named expressions.
const NAME: &str = "variables";
/// The maximum height of an expression together with the variables that it uses, which are
/// evaluated recursively.
const MAX_HEIGHT: usize = 200;

/// Named expressions. Each can use those before it.
#[derive(Clone, Debug)]
pub struct Composition {
    variables: Vec<ComposedVariable>,
    /// The indexes of the variables of one name. The last one counts.
    indexes: BTreeMap<String, Vec<usize>>,
    of: Arc<ObjectType>,
}

#[derive(Clone, Debug)]
struct ComposedVariable {
    name: String,
    /// `None` if the expression does not compile.
    program: Option<Program>,
    /// The height together with the variables that it uses.
    height: usize,
}

/// No variables.
impl Default for Composition {
    fn default() -> Self {
        Self {
            variables: Vec::new(),
            indexes: BTreeMap::new(),
            of: Arc::new(ObjectType::new("kubernetes.variables")),
        }
    }
}

impl Composition {
    /// Adds a variable. One that does not compile is declared too, so that expressions that use it
    /// are not invalid for this reason.
    pub fn add(
        &mut self,
        name: &str,
        expression: &str,
        base: &Environment,
    ) -> Result<(), CompileError> {
        let compiled = self.compile(expression, &self.environment(base), &[]);
        let (program, result) = match compiled {
            Ok(program) => (Some(program), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let of = program
            .as_ref()
            .map_or(Type::Dyn, |program| declared_type(program.result_type()));
        let height = program.as_ref().map_or(0, |program| self.height(program));
        Arc::make_mut(&mut self.of).insert(name, of);
        let indexes = self.indexes.entry(name.to_owned()).or_default();
        indexes.push(self.variables.len());
        self.variables.push(ComposedVariable {
            name: name.to_owned(),
            program,
            height,
        });
        result
    }

    /// The environment with the variables that were added so far.
    pub fn environment(&self, base: &Environment) -> Environment {
        base.clone().composed_variable(NAME, Arc::clone(&self.of))
    }

    /// Compiles an expression that can use the variables.
    pub fn compile(
        &self,
        expression: &str,
        environment: &Environment,
        expected: &[Type],
    ) -> Result<Program, CompileError> {
        let program = Program::compile_as(expression, environment, expected)?;
        if self.height(&program) > MAX_HEIGHT {
            return Err(CompileError::Unsupported(
                "the use of variables that build on one another that deep".to_owned(),
            ));
        }
        Ok(program)
    }

    fn height(&self, program: &Program) -> usize {
        let visible = self.variables.len();
        let used = program
            .composed()
            .filter_map(|name| self.find(name, visible));
        let highest = used.map(|(_, variable)| variable.height).max();
        program.height() + highest.unwrap_or(0)
    }

    /// The last variable of that name among the first `visible` ones, with its index.
    fn find(&self, name: &str, visible: usize) -> Option<(usize, &ComposedVariable)> {
        let indexes = self.indexes.get(name)?;
        let index = *indexes.iter().rfind(|index| **index < visible)?;
        Some((index, self.variables.get(index)?))
    }
}

/// The type of a variable for other expressions: that of its expression if it consists of scalars,
/// lists and maps (`convertCelTypeToDeclType`).
fn declared_type(of: &Type) -> Type {
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
        Type::List(of, _) => Type::list(declared_type(of)),
        Type::Map(key, value) => Type::map(declared_type(key), declared_type(value)),
        _ => Type::Dyn,
    }
}

/// The values of the variables of a composition. Each is computed once, when it is first used.
#[derive(Debug)]
pub struct LazyVariables<'a> {
    composition: &'a Composition,
    values: RefCell<Vec<Option<EvaluationResult>>>,
}

impl<'a> LazyVariables<'a> {
    /// Variables without values.
    pub fn new(composition: &'a Composition) -> Self {
        Self {
            composition,
            values: RefCell::new(vec![None; composition.variables.len()]),
        }
    }

    /// Evaluates an expression that can use the variables.
    pub fn evaluate(
        &self,
        program: &Program,
        variables: &Variables,
        budget: &mut Budget,
    ) -> Result<Value, EvaluationError> {
        let scope = Scope {
            lazy: self,
            visible: self.composition.variables.len(),
        };
        program.evaluate_with(variables, Some(&scope), budget)
    }
}

/// The variables that an expression can use. A variable can use those before it.
#[derive(Clone, Copy, Debug)]
struct Scope<'a> {
    lazy: &'a LazyVariables<'a>,
    visible: usize,
}

impl ComposedVariables for Scope<'_> {
    fn value(&self, name: &str, variables: &Variables, budget: &mut Budget) -> EvaluationResult {
        let found = self.lazy.composition.find(name, self.visible);
        let Some((index, variable)) = found else {
            return Err(EvaluationError::new(format!("no such key: {name}")));
        };
        let computed = self.lazy.values.borrow().get(index).cloned().flatten();
        if let Some(value) = computed {
            return value;
        }
        let scope = Scope {
            lazy: self.lazy,
            visible: index,
        };
        let value = scope.compute(variable, variables, budget);
        if let Some(slot) = self.lazy.values.borrow_mut().get_mut(index) {
            *slot = Some(value.clone());
        }
        value
    }
}

impl Scope<'_> {
    /// Evaluates a variable, which has the limit of an expression of its own.
    fn compute(
        &self,
        variable: &ComposedVariable,
        variables: &Variables,
        budget: &mut Budget,
    ) -> EvaluationResult {
        let name = &variable.name;
        let Some(program) = &variable.program else {
            return Err(EvaluationError::new(format!(
                "composited variable {name:?} fails to compile"
            )));
        };
        let left = budget.suspend();
        let value = program.evaluate_with(variables, Some(self), budget);
        budget.resume(left);
        value.map_err(|error| {
            EvaluationError::new(format!(
                "composited variable {name:?} fails to evaluate: {error}"
            ))
        })
    }
}
