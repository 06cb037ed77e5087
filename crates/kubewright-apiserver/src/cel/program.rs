use std::collections::BTreeMap;

use super::budget::Budget;
use super::check::{Checked, check};
use super::composition::Scope;
use super::environment::Environment;
use super::estimate::{Declared, estimate};
use super::evaluate::Evaluation;
use super::expr::Expr;
use super::parse::parse;
use super::problem::{Fault, Refusal, print};
use super::types::Type;
use super::value::Value;

/// The values of the variables of an expression.
pub(crate) type Variables = BTreeMap<&'static str, Value>;

/// An expression that has been read and checked.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    expr: Expr,
    checked: Checked,
}

impl Program {
    /// Reads and checks an expression that must come to one of these types
    /// (`CompileCELExpression` of k8s.io/apiserver/pkg/admission/plugin/cel); to any when there is
    /// none.
    pub(crate) fn compile_as(
        source: &str,
        environment: &Environment,
        wanted: &[Type],
    ) -> Result<Self, Refusal> {
        let program = Self::compile(source, environment)
            .map_err(|refusal| refusal.after("compilation failed: "))?;
        let given = program.gives();
        if wanted.is_empty() || wanted.contains(given) {
            return Ok(program);
        }
        let names: Vec<String> = wanted.iter().map(Type::named).collect();
        let wanted = match names.as_slice() {
            [one] => one.clone(),
            several => format!("one of [{}]", several.join(" ")),
        };
        Err(Refusal::Wrong(format!(
            "must evaluate to {wanted} but got {}",
            given.named()
        )))
    }

    /// Reads and checks an expression.
    pub(crate) fn compile(source: &str, environment: &Environment) -> Result<Self, Refusal> {
        let mut expr =
            parse(source).map_err(|problem| Refusal::Wrong(print(source, vec![problem])))?;
        let checked = check(source, &mut expr, environment)?;
        Ok(Self { expr, checked })
    }

    /// What it comes to, as far as that is known before.
    pub(crate) fn gives(&self) -> &Type {
        &self.checked.gives
    }

    /// Whether it uses a variable.
    pub(crate) fn uses(&self, variable: &str) -> bool {
        self.checked.uses.contains(variable)
    }

    /// The most that it can cost, when `declared` is what the schema says of `self`.
    pub(crate) fn cost(&self, declared: &Declared) -> u64 {
        estimate(&self.expr, declared)
    }

    /// What it comes to.
    pub(crate) fn evaluate(
        &self,
        variables: &Variables,
        budget: &mut Budget,
    ) -> Result<Value, Fault> {
        self.evaluate_in(variables, None, budget)
    }

    /// The same where a variable has expressions for fields.
    pub(super) fn evaluate_in(
        &self,
        variables: &Variables,
        scope: Option<Scope<'_>>,
        budget: &mut Budget,
    ) -> Result<Value, Fault> {
        budget.start();
        let mut evaluation = Evaluation {
            variables,
            locals: Vec::new(),
            budget,
            scope,
        };
        evaluation.expr(&self.expr)
    }

    /// The fields of the composed variable that it uses.
    pub(super) fn composed(&self) -> impl Iterator<Item = &str> {
        self.checked.composed.iter().map(String::as_str)
    }

    /// How deep it nests.
    pub(super) fn height(&self) -> usize {
        self.expr.height
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{Budget, Environment, Fault, Program, Refusal, Variables};
    use crate::cel::{ObjectType, Type, Value};

    /// `self` with `n`, `s`, `l` (numbers), `m` (texts by text), `any` and `namespace`.
    fn environment() -> Environment {
        let field = |name: &str, of: Type| {
            let escaped = crate::cel::escape(name).unwrap();
            (escaped, (name.to_owned(), of))
        };
        let fields = [
            field("n", Type::Int),
            field("s", Type::String),
            field("l", Type::list(Type::Int)),
            field("m", Type::map(Type::String, Type::String)),
            field("any", Type::Dyn),
            field("namespace", Type::String),
            field("when", Type::Timestamp),
        ];
        let of = ObjectType {
            name: "self".to_owned(),
            fields: fields.into(),
        };
        Environment::default().variable("self", Type::Object(Arc::new(of)))
    }

    fn evaluate(source: &str) -> Result<Value, Fault> {
        let environment = environment();
        let program = Program::compile(source, &environment)
            .map_err(|refusal| Fault::Failed(refusal.to_string()))?;
        let object = json!({
            "n": 3, "s": "héllo", "l": [3, 1, 2], "m": {"a": "x", "b": "y"}, "any": "50%",
            "namespace": "ns", "when": "2024-02-29T10:20:30Z", "hidden": 1,
        });
        let of = environment.find("self").cloned().unwrap_or(Type::Dyn);
        let variables = Variables::from([("self", Value::from_json(&object, &of))]);
        program.evaluate(&variables, &mut Budget::default())
    }

    fn refused(source: &str) -> String {
        match Program::compile(source, &environment()) {
            Err(Refusal::Wrong(errors)) => errors,
            other => panic!("{source}: {other:?}"),
        }
    }

    #[test]
    fn what_is_true_is_true() {
        let sources = [
            "self.n == 3 && self.n < 3.5 && self.n + 1 * 2 == 5 && -self.n == -3 && 7 % 4 == 3",
            "self.s.size() == 5 && self.s.startsWith('h') && self.s.matches('^h.l+o$')",
            "self.s.substring(1, 3) == 'él' && self.s.indexOf('l') == 2 && 'a,b'.split(',').size() == 2",
            "'x-%s-%d-%.1f'.format([dyn('a'), 2, 1.25]) == 'x-a-2-1.2' && ['a','b'].join('-') == 'a-b'",
            "self.l.all(x, x > 0) && self.l.exists(x, x == 2) && self.l.exists_one(x, x == 1)",
            "self.l.map(x, x * 2) == [6, 2, 4] && self.l.filter(x, x > 1) == [3, 2]",
            "self.l.sum() == 6 && self.l.max() == 3 && !self.l.isSorted() && self.l.sort() == [1, 2, 3]",
            "self.l.all(i, v, i < 3 && v > 0) && self.m.all(k, v, k < v)",
            "self.m.transformMap(k, v, k == 'a', v + '!') == {'a': 'x!'}",
            "2 in self.l && 'a' in self.m && !('z' in self.m) && self.m['b'] == 'y'",
            "has(self.n) && !has(self.m.z) && self.?n.hasValue() && self.m[?'z'].orValue('d') == 'd'",
            "self.?s.optMap(s, s.size()).value() == 5 && optional.none().or(optional.of(1)).value() == 1",
            "type(self.any) == string && self.any.endsWith('%') && self.__namespace__ == 'ns'",
            "self.when.getFullYear() == 2024 && self.when.getDayOfYear() == 59 &&              self.when + duration('1h') > timestamp('2024-02-29T11:00:00Z')",
            "duration('90m').getHours() == 1 && string(duration('1m30s')) == '90s'",
            "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('500m').add(quantity('0.5')).asInteger() == 1",
            "ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.9.9.9') && !isIP('x')",
            "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && ip('fe80::1').isLinkLocalUnicast()",
            "url('https://a.b:8080/c%20d?x=1&x=2').getPort() == '8080' && url('/p').getHost() == ''",
            "url('https://a/?x=1&x=2').getQuery()['x'] == ['1', '2'] && !isURL('a b')",
            "semver('1.2.3-rc.1').isLessThan(semver('1.2.3')) && isSemver('v1.2', true)",
            "format.dns1123Label().validate('a-b') == optional.none() && format.named('nope') == optional.none()",
            "!format.dns1123Label().validate('A').hasValue() == false",
            "sets.contains([1, 2, 3], [3, 1]) && 'ab12'.find('[0-9]+') == '12' && 'a1b2'.findAll('[0-9]') == ['1', '2']",
            "int('5') == 5 && string(2.5) == '2.5' && double(1) == 1.0 && uint(3) == 3u && bool('true')",
            "[1, 2, 3].slice(0, 2) == [1, 2] && [[1], [2]].flatten() == [1, 2] && lists.range(2) == [0, 1]",
            "self.n > 100 || 1 / (self.n - 3) == 0 || true",
            r"(self.n == 3 ? 'three' : 'other') == 'three' && r'\d' == '\\d' && b'a' == bytes('a')",
            "['b', 'a'].sortBy(x, x) == ['a', 'b'] && [1, 1].distinct() == [1] && [1, 2].reverse()[0] == 2",
        ];
        let untrue = sources
            .iter()
            .map(|source| (source, evaluate(source)))
            .filter(|(_, value)| *value != Ok(Value::Bool(true)));
        assert_eq!(untrue.collect::<Vec<_>>(), []);
    }

    #[test]
    fn what_cannot_be_computed_is_told_in_cel_go_words() {
        for (source, fault) in [
            ("self.m.z == ''", "no such key: z"),
            ("self.m['q'] == ''", "no such key: q"),
            ("self.l[7] == 1", "index out of bounds: 7"),
            ("self.n / (self.n - 3) == 1", "division by zero"),
            ("9223372036854775807 + self.n == 0", "integer overflow"),
            ("self.any > 5", "no such overload"),
            (
                "self.l.filter(x, x > 9).max() == 1",
                "max called on empty list",
            ),
        ] {
            assert_eq!(
                evaluate(source),
                Err(Fault::Failed(fault.to_owned())),
                "{source}"
            );
        }
    }

    #[test]
    fn errors_of_types_have_cel_go_words_and_places() {
        for (source, error) in [
            (
                "self.foo == 1",
                "ERROR: <input>:1:5: undefined field 'foo'\n | self.foo == 1\n | ....^",
            ),
            (
                "self.n + 'a' == 1",
                "ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(int, \
                 string)'\n | self.n + 'a' == 1\n | .......^",
            ),
            (
                "nope == 1",
                "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope == \
                 1\n | ^",
            ),
            (
                "self.s.foo()",
                "ERROR: <input>:1:11: undeclared reference to 'foo' (in container '')\n | \
                 self.s.foo()\n | ..........^",
            ),
            (
                "self.s.startsWith(1)",
                "ERROR: <input>:1:18: found no matching overload for 'startsWith' applied to \
                 'string.(int)'\n | self.s.startsWith(1)\n | .................^",
            ),
            (
                "self.n.all(x, x)",
                "ERROR: <input>:1:5: expression of type 'int' cannot be range of a comprehension \
                 (must be list, map, or dynamic)\n | self.n.all(x, x)\n | ....^",
            ),
            (
                "self.s.matches('[')",
                "ERROR: <input>:1:16: invalid matches argument\n | self.s.matches('[')\n | \
                 ...............^",
            ),
        ] {
            assert_eq!(refused(source), error, "{source}");
        }
        for source in [
            "self.n = 1",
            "self.",
            "[1, 'a'] == []",
            "1 == 1.0",
            "(",
            "has(self)",
        ] {
            assert!(!refused(source).is_empty());
        }
    }

    #[test]
    fn what_is_lacking_is_named() {
        let refusal = Program::compile("self.when.getHours('Europe/Paris') == 1", &environment());
        assert_eq!(
            refusal.map(|_| ()),
            Err(Refusal::Lacking("getHours() with a time zone".to_owned()))
        );
    }

    #[test]
    fn what_costs_too_much_ends() {
        let list = "[1,2,3,4,5,6,7,8,9,10]";
        let source = format!(
            "{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, {list}.all(e, \
             {list}.all(f, {list}.all(g, a + b + c + d + e + f + g > 0)))))))"
        );
        assert_eq!(evaluate(&source), Err(Fault::Spent));
        let deep = format!("{}self.n{} == 3", "(".repeat(500), ")".repeat(500));
        assert!(refused(&deep).contains("recursion limit"));
        let long = format!("self.n{} == 3", " + 1".repeat(5000));
        assert!(refused(&long).contains("recursion limit"));
    }
}
