//! The function `format`.

use kubewright_cel::{Budget, Environment, Program, Value, Variables};

/// The string that an expression returns, or the error.
fn evaluate(source: &str) -> String {
    let program = Program::compile(source, &Environment::default()).expect(source);
    match program.evaluate(&Variables::default(), &mut Budget::default()) {
        Ok(Value::String(text)) => text.to_string(),
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

/// Expected is what cel-go 0.26 returns in Kubernetes' environment.
#[test]
fn strings_are_formatted_as_cel_go_formats_them() {
    for (source, expected) in [
        (r#""%f".format([1.5])"#, "1.500000"),
        (r#""%.3f".format([1234567.8912])"#, "1,234,567.891"),
        (r#""%.0f".format([2.5])"#, "2"),
        (r#""%.1f".format([0.25])"#, "0.2"),
        (r#""%.2f".format([-0.001])"#, "-0.00"),
        (r#""%f".format([-0.0])"#, "0.000000"),
        (r#""%.65536f".format([1.5])"#, "2"),
        (r#""%.256f".format([1234.0])"#, "1,234"),
        (r#""%.256f".format([5e-324])"#, "0"),
        (
            r#""%.300f".format([0.1])"#,
            "0.1000000000000000055511151231257827021181583404541015625",
        ),
        (r#""%.32768f".format([0.1])"#, "0.1"),
        (r#""%.32770f".format([123456.789])"#, "123,456.789"),
        (r#"string(size("%.32767f".format([5e-324])))"#, "1076"),
        (r#"string(size("%.65535f".format([0.1])))"#, "257"),
        (r#"string(size("%.2000000f".format([1.5])))"#, "130"),
        (r#""%.100000000f".format([1.5])"#, "%!(NOVERB)"),
        (r#""%.9223372036854775807e".format([1.5])"#, "%!(NOVERB)"),
        (r#""%f".format([double("NaN")])"#, "NaN"),
        (r#""%f".format(["-Infinity"])"#, "-∞"),
        (r#""%e".format([1052.032911275])"#, "1.052033×10⁰³"),
        (r#""%.3e".format([1052.032911275])"#, "1.052033×10⁰³"),
        (r#""%.20e".format([1.5])"#, "       1.500000×10⁰⁰"),
        (r#""%.65536e".format([1.5])"#, "1.500000×10⁰⁰"),
        (r#"string(size("%.65535e".format([1.5])))"#, "65535"),
        (r#""%e".format([-1e-300])"#, "-1.000000×10⁻³⁰⁰"),
        (r#""%e".format([9.9999999])"#, "1.000000×10⁰¹"),
        (r#""%e".format(["Infinity"])"#, "     ∞"),
        (r#""%s".format([1.5])"#, "1.5"),
        (r#""%s".format([1e30])"#, "1e+30"),
        (r#""%s".format([1e-7])"#, "1e-07"),
        (r#""%s".format([double("-Infinity")])"#, "-Inf"),
        (r#""%s".format(["a\"b"])"#, "a\"b"),
        (r#""%s".format([duration("1h")])"#, "3600s"),
        (r#""%s".format([type(1)])"#, "int"),
        (
            r#""%s".format([[dyn(1.5), dyn("a\"b\n"), dyn(1), dyn(true), dyn(null)]])"#,
            r#"[1.500000, "a\"b\n", 1, true, null]"#,
        ),
        (
            r#""%s".format([{dyn(1): 2, dyn("b"): 3, dyn(true): 4, dyn(2u): 5}])"#,
            r#"{"b":3, 1:2, 2:5, true:4}"#,
        ),
        (
            r#""%s".format([[double("NaN"), double("Infinity"), -1e30]])"#,
            r#"["NaN", "+Inf", -1000000000000000019884624838656.000000]"#,
        ),
        (
            r#""%s".format([[dyn(duration("90m")), dyn(timestamp("2020-01-01T00:00:00Z")), dyn(b"ab"), dyn(1u)]])"#,
            r#"[duration("5400s"), timestamp("2020-01-01T00:00:00Z"), b"ab", 1]"#,
        ),
        (r#""%b %b %o".format([-5, true, -8])"#, "-101 1 -10"),
        (
            r#""%x %X %x".format([-255, "abz", b"\x00\xff"])"#,
            "-ff 61627A 00ff",
        ),
        (r#""%d%%".format([1234567])"#, "1234567%"),
        (r#""%.2d %.2s".format([1, "abc"])"#, "1 abc"),
    ] {
        assert_eq!(evaluate(source), expected, "{source}");
    }
}

#[test]
fn invalid_formats_fail_with_the_messages_of_cel_go() {
    for (source, expected) in [
        (
            r#"dyn("%d").format([1.5])"#,
            "error during formatting: decimal clause can only be used on integers, was given \
             double",
        ),
        (
            r#"dyn("%f").format([1])"#,
            "error during formatting: fixed-point clause can only be used on doubles, was given \
             int",
        ),
        (
            r#"dyn("%x").format([1.5])"#,
            "error during formatting: only integers, byte buffers, and strings can be formatted \
             as hex, was given double",
        ),
        (
            r#"dyn("%z").format([1])"#,
            "could not parse formatting clause: unrecognized formatting clause \"z\"",
        ),
        (r#"dyn("%d %d").format([1])"#, "index 1 out of range"),
        (r#"dyn("%").format([1])"#, "unexpected end of string"),
        (
            r#"dyn("%.").format([1])"#,
            "could not parse formatting clause: error while parsing precision: could not find \
             end of precision specifier",
        ),
        (
            r#"dyn("%.f").format([1.0])"#,
            "could not parse formatting clause: error while parsing precision: error while \
             converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax",
        ),
    ] {
        assert_eq!(evaluate(source), expected, "{source}");
    }
}
