//! Expressions over a typed object: values, errors and limits.

use std::sync::Arc;

use kubewright_cel::{
    Budget, CompileError, Environment, EvaluationError, ObjectType, Program, Type, Value, Variables,
};
use serde_json::json;

/// The type of `self`.
fn self_type() -> Type {
    let of = ObjectType::new("self")
        .property("n", Type::Int)
        .property("s", Type::String)
        .property("l", Type::list(Type::Int))
        .property("m", Type::map(Type::String, Type::String))
        .property("any", Type::Dyn)
        .property("namespace", Type::String)
        .property("when", Type::Timestamp);
    Type::Object(Arc::new(of))
}

fn environment() -> Environment {
    Environment::default().variable("self", self_type())
}

fn evaluate(source: &str) -> Result<Value, EvaluationError> {
    let program = Program::compile(source, &environment())
        .map_err(|error| EvaluationError::Failed(error.to_string()))?;
    let object = json!({
        "n": 3, "s": "héllo", "l": [3, 1, 2], "m": {"a": "x", "b": "y"}, "any": "50%",
        "namespace": "ns", "when": "2024-02-29T10:20:30Z", "hidden": 1,
    });
    let variables = Variables::from([("self", Value::from_json(&object, &self_type()))]);
    program.evaluate(&variables, &mut Budget::default())
}

fn compile_errors(source: &str) -> String {
    let result = Program::compile(source, &environment());
    result.expect_err(source).to_string()
}

#[test]
fn expressions_are_true_that_are_true_in_kubernetes() {
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
    let not_true = sources
        .iter()
        .map(|source| (source, evaluate(source)))
        .filter(|(_, value)| *value != Ok(Value::Bool(true)));
    assert_eq!(not_true.collect::<Vec<_>>(), []);
}

#[test]
fn evaluation_fails_with_the_messages_of_cel_go() {
    for (source, message) in [
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
            Err(EvaluationError::Failed(message.to_owned())),
            "{source}"
        );
    }
}

#[test]
fn compile_errors_have_the_messages_and_positions_of_cel_go() {
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
        assert_eq!(compile_errors(source), error, "{source}");
    }
    for source in [
        "self.n = 1",
        "self.",
        "[1, 'a'] == []",
        "1 == 1.0",
        "(",
        "has(self)",
    ] {
        assert!(!compile_errors(source).is_empty());
    }
}

#[test]
fn unsupported_functions_are_named() {
    let result = Program::compile("self.when.getHours('Europe/Paris') == 1", &environment());
    assert_eq!(
        result.map(drop),
        Err(CompileError::Unsupported(
            "getHours() with a time zone".to_owned()
        ))
    );
}

#[test]
fn expensive_and_deep_expressions_hit_their_limits() {
    let list = "[1,2,3,4,5,6,7,8,9,10]";
    let source = format!(
        "{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, {list}.all(e, \
         {list}.all(f, {list}.all(g, a + b + c + d + e + f + g > 0)))))))"
    );
    assert_eq!(evaluate(&source), Err(EvaluationError::BudgetExceeded));
    let deep = format!("{}self.n{} == 3", "(".repeat(500), ")".repeat(500));
    assert!(compile_errors(&deep).contains("recursion limit"));
    let long = format!("self.n{} == 3", " + 1".repeat(5000));
    assert!(compile_errors(&long).contains("recursion limit"));
}

#[test]
fn overloads_of_dynamic_arguments_are_chosen_by_their_values() {
    for source in [
        "dyn(1) + dyn(2) == 3 && dyn('a') + dyn('b') == 'ab' && dyn([1]) + dyn([2]) == [1, 2]",
        "dyn('ab').size() == 2 && dyn([1]).size() == 1 && size(dyn({'a': 1})) == 1",
        "dyn('aba').indexOf('b') == 1 && dyn([1, 2]).indexOf(2) == 1",
        "dyn(quantity('2')).isGreaterThan(quantity('1')) && !dyn(semver('1.0.0')).isGreaterThan(semver('2.0.0'))",
        "dyn([5, 6])[dyn(1.0)] == 6 && dyn({2: 'x'})[dyn(2u)] == 'x'",
        // The checker infers `int`, the value is a string.
        "dyn((self.n > 5 ? 1 : dyn('a')) + dyn('b')) == 'ab'",
    ] {
        assert_eq!(evaluate(source), Ok(Value::Bool(true)), "{source}");
    }
    for source in [
        "dyn(1) + dyn('a') == 1",
        "dyn(1).size() == 1",
        "self.n + dyn('a') == 1",
    ] {
        let error = EvaluationError::Failed("no such overload".to_owned());
        assert_eq!(evaluate(source), Err(error), "{source}");
    }
}
