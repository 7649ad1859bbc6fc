//! The part of Jinja that templates may use. One step of the rest can take any time and memory (`'x' * 99999999999`,
//! `'%99999999999d' | format(1)`), which a limit of steps does not bound, or grows with each step (`set`).

use std::fmt::{self, Write};

use minijinja::{
    Environment, Error, ErrorKind, Template, Value,
    machinery::{
        ast::{BinOpKind, CallArg, Expr, Stmt},
        parse,
    },
    syntax::SyntaxConfig,
    value::Kwargs,
};

/// Filters whose result is hardly longer than what they are given, or has a limit of its own.
const FILTERS: [&str; 18] = [
    "abs",
    "bool",
    "capitalize",
    "count",
    "d",
    "default",
    "first",
    "float",
    "int",
    "join",
    "last",
    "length",
    "lower",
    "replace",
    "round",
    "title",
    "tojson",
    "upper",
];
/// What a filter may write, in bytes.
const LARGEST: usize = 256 << 10;

/// The template of a text, if it uses nothing but the allowed part.
///
/// # Errors
/// If the text is no template, or names what is not allowed.
pub(crate) fn compiled<'e>(
    environment: &'e Environment<'_>,
    name: &'e str,
    text: &'e str,
) -> Result<Template<'e, 'e>, Error> {
    if let Stmt::Template(template) = parse(text, name, SyntaxConfig::default())? {
        statements(&template.children)?;
    }
    environment.template_from_named_str(name, text)
}

/// Filters with limits in the place of the library's.
pub(crate) fn limit_filters(environment: &mut Environment<'_>) {
    environment.add_filter("join", join);
    environment.add_filter("replace", replace);
    environment.add_filter("tojson", to_json);
}

fn refused(what: &str) -> Error {
    Error::new(ErrorKind::SyntaxError, format!("{what} cannot be used in a template here"))
}

fn statements(all: &[Stmt<'_>]) -> Result<(), Error> {
    all.iter().try_for_each(|one| match one {
        Stmt::EmitRaw(_) => Ok(()),
        Stmt::EmitExpr(it) => expression(&it.expr),
        Stmt::IfCond(it) => {
            expression(&it.expr)?;
            statements(&it.true_body)?;
            statements(&it.false_body)
        }
        Stmt::ForLoop(it) if !it.recursive => {
            expression(&it.iter)?;
            it.filter_expr.as_ref().map_or(Ok(()), expression)?;
            statements(&it.body)?;
            statements(&it.else_body)
        }
        // Only the prompts that the service has can be included.
        Stmt::Include(it) if matches!(it.name, Expr::Const(_)) => Ok(()),
        _ => Err(refused("a statement other than `if`, a plain `for` and `include`")),
    })
}

fn expression(it: &Expr<'_>) -> Result<(), Error> {
    match it {
        Expr::Var(_) | Expr::Const(_) => Ok(()),
        Expr::Slice(it) => {
            expression(&it.expr)?;
            [&it.start, &it.stop, &it.step].into_iter().flatten().try_for_each(expression)
        }
        Expr::UnaryOp(it) => expression(&it.expr),
        Expr::BinOp(it) => {
            operator(it.op, [&it.left, &it.right])?;
            expression(&it.left)?;
            expression(&it.right)
        }
        Expr::Compare(it) => {
            expression(&it.expr)?;
            it.ops.iter().try_for_each(|one| expression(&one.expr))
        }
        Expr::IfExpr(it) => {
            expression(&it.test_expr)?;
            expression(&it.true_expr)?;
            it.false_expr.as_ref().map_or(Ok(()), expression)
        }
        Expr::Filter(it) if FILTERS.contains(&it.name) => {
            it.expr.as_ref().map_or(Ok(()), expression)?;
            arguments(&it.args)
        }
        Expr::Filter(it) => Err(refused(&format!("the filter `{}`", it.name))),
        Expr::Test(it) => {
            expression(&it.expr)?;
            arguments(&it.args)
        }
        Expr::GetAttr(it) => expression(&it.expr),
        Expr::GetItem(it) => {
            expression(&it.expr)?;
            expression(&it.subscript_expr)
        }
        Expr::List(it) => constants(&it.items),
        Expr::Tuple(it) => constants(&it.items),
        Expr::Call(_) => Err(refused("a call")),
        Expr::Map(_) => Err(refused("a map")),
    }
}

/// `+` repeats no text where one side is a number.
fn operator(operator: BinOpKind, sides: [&Expr<'_>; 2]) -> Result<(), Error> {
    let is_number = |side: &&Expr<'_>| matches!(side, Expr::Const(it) if it.value.is_number());
    match operator {
        BinOpKind::Mul | BinOpKind::Pow => Err(refused("`*`")),
        BinOpKind::Concat => Err(refused("`~`")),
        BinOpKind::Add if !sides.iter().any(is_number) => Err(refused("`+` without a number beside it")),
        _ => Ok(()),
    }
}

fn constants(items: &[Expr<'_>]) -> Result<(), Error> {
    let is_constant = |item: &Expr<'_>| matches!(item, Expr::Const(_));
    if items.iter().all(is_constant) { Ok(()) } else { Err(refused("a list of anything but texts and numbers")) }
}

fn arguments(all: &[CallArg<'_>]) -> Result<(), Error> {
    all.iter().try_for_each(|one| match one {
        CallArg::Pos(it) | CallArg::Kwarg(_, it) => expression(it),
        CallArg::PosSplat(_) | CallArg::KwargSplat(_) => Err(refused("`*` before an argument")),
    })
}

/// A text of at most [`LARGEST`] bytes.
#[derive(Default)]
pub(super) struct Short(pub(super) String);

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LARGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

pub(super) fn too_long(_: fmt::Error) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("a value has more than {LARGEST} bytes"))
}

#[expect(clippy::needless_pass_by_value, reason = "a filter is given its options")]
fn join(value: &Value, joiner: Option<&str>, options: Kwargs) -> Result<String, Error> {
    let attribute = options.get::<Option<&str>>("attribute")?;
    options.assert_all_used()?;
    let mut joined = Short::default();
    for (at, item) in value.try_iter()?.enumerate() {
        let item = attribute.map_or(Ok(item.clone()), |attribute| item.get_attr(attribute))?;
        let between = if at > 0 { joiner.unwrap_or_default() } else { "" };
        write!(joined, "{between}{item}").map_err(too_long)?;
    }
    Ok(joined.0)
}

fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let mut replaced = Short::default();
    let parts = text.split(from).enumerate();
    for (at, part) in parts {
        let between = if at > 0 { to } else { "" };
        write!(replaced, "{between}{part}").map_err(too_long)?;
    }
    Ok(replaced.0)
}

/// Plain JSON. The library's own filter escapes for HTML: a model would read `what\u0027s` for "what's", and repeat it.
fn to_json(value: &Value) -> Result<Value, Error> {
    let json = serde_json::to_string(value)
        .map_err(|error| Error::new(ErrorKind::BadSerialization, "it has no JSON form").with_source(error))?;
    Ok(Value::from_safe_string(json))
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::*;

    fn rendered(text: &str) -> Result<String, Error> {
        let mut environment = Environment::new();
        limit_filters(&mut environment);
        let long = "ab".repeat(LARGEST / 8);
        compiled(&environment, "it", text)?.render(context! { name => "Ann", many => [1, 2, 3], long, price => 1250 })
    }

    #[test]
    fn what_people_write_can_be_used() {
        for (text, expected) in [
            ("{{ name | upper }}{% if many %}, {{ many | join(', ') }}{% endif %}", "ANN, 1, 2, 3"),
            ("{% for one in many if one > 1 %}{{ loop.index + 1 }}:{{ one }} {% else %}none{% endfor %}", "2:2 3:3 "),
            ("{{ price / 100 }} {{ (price / 100) | round(1) }} {{ price - 50 }}", "12.5 12.5 1200"),
            (
                "{{ nothing | default('none') }} {{ name | replace('n', 'd') }} {{ many[0] }} {{ many[1:] }}",
                "none Add 1 [2, 3]",
            ),
            (
                "{{ 'yes' if name in ['Ann', 'Bob'] else 'no' }} {{ many | tojson }} {{ name is string }}",
                "yes [1,2,3] True",
            ),
        ] {
            assert_eq!(rendered(text).expect(text), expected);
        }
    }

    #[test]
    fn one_step_takes_neither_time_nor_memory() {
        for text in [
            "{{ '%99999999999d' | format(1) }}",
            "{{ 'x' | indent(99999999999) }}",
            "{{ many | tojson(indent=4000000000) }}",
            "{{ many | slice(99999999999) | list }}",
            "{{ [1] * 30000000 }}",
            "{{ name * 30000000 }}",
            "{{ 9 ** 9 ** 9 }}",
            "{{ long ~ long }}",
            "{{ long + long }}",
            "{{ [long, long, long] }}",
            "{{ [long, long] | upper }}",
            "{{ {'a': long, 'b': long} }}",
            "{{ range(99999) | join(long) }}",
            "{{ [1, 2, 3, 4, 5, 6, 7] | join(long) }}",
            "{{ long | replace('a', long) }}",
            "{% set name = name %}",
            "{% for a in many recursive %}{{ loop(many) }}{% endfor %}",
            "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
            "{% filter indent(99999999999) %}x{% endfilter %}",
            "{% include 'system' %}",
        ] {
            assert!(rendered(text).is_err(), "{text}");
        }
    }
}
