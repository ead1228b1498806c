//! Printing the trees of `code` tasks.

use std::fmt::Write as _;

use super::code_tree::{Block, Condition, Expression, Function, Operator, Statement, Variable};

/// A language that a function is printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    JavaScript,
    Rust,
}

impl Language {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::Rust => "Rust",
        }
    }

    /// The word behind a fence of code.
    pub(super) fn fence(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::Rust => "rust",
        }
    }

    /// The function's source, with a line end.
    pub(super) fn function(self, function: &Function) -> String {
        let Function { name, start, body, result } = function;
        let (head, start, give) = match self {
            Self::Python => (format!("def {name}_sum(items, limit):"), format!("total = {start}"), "return "),
            Self::JavaScript => {
                (format!("function {name}_sum(items, limit) {{"), format!("let total = {start};"), "return ")
            }
            Self::Rust => (
                format!("fn {name}_sum(items: &[i64], limit: i64) -> i64 {{"),
                format!("let mut total = {start};"),
                "",
            ),
        };
        let mut out = format!("{head}\n    {start}\n");
        self.block(&mut out, body, 1);
        let end = if self == Self::JavaScript { ";" } else { "" };
        let _ = writeln!(out, "    {give}{}{end}", result.text());
        out.push_str(if self == Self::Python { "" } else { "}\n" });
        out
    }

    /// The call's source.
    pub(super) fn call(self, function: &Function, list: &[i64], limit: i64) -> String {
        let list: Vec<String> = list.iter().map(i64::to_string).collect();
        let borrow = if self == Self::Rust { "&" } else { "" };
        format!("{}_sum({borrow}[{}], {limit})", function.name, list.join(", "))
    }

    fn block(self, out: &mut String, block: &Block, depth: usize) {
        for statement in &block.0 {
            match statement {
                Statement::Add(expression) => {
                    let end = if self == Self::Python { "" } else { ";" };
                    line(out, depth, &format!("total += {}{end}", expression.text()));
                }
                Statement::If(condition, yes, no) => {
                    let condition = self.condition(condition);
                    let [head, middle] = match self {
                        Self::Python => [format!("if {condition}:"), "else:".to_owned()],
                        Self::JavaScript => [format!("if ({condition}) {{"), "} else {".to_owned()],
                        Self::Rust => [format!("if {condition} {{"), "} else {".to_owned()],
                    };
                    line(out, depth, &head);
                    self.block(out, yes, depth + 1);
                    line(out, depth, &middle);
                    self.block(out, no, depth + 1);
                    self.close(out, depth);
                }
                Statement::ForEach(block) => {
                    let head = match self {
                        Self::Python => "for item in items:",
                        Self::JavaScript => "for (const item of items) {",
                        Self::Rust => "for &item in items {",
                    };
                    self.repeated(out, head, block, depth);
                }
                Statement::Count(block) => {
                    let head = match self {
                        Self::Python => "for index in range(limit):",
                        Self::JavaScript => "for (let index = 0; index < limit; index++) {",
                        Self::Rust => "for index in 0..limit {",
                    };
                    self.repeated(out, head, block, depth);
                }
            }
        }
    }

    fn repeated(self, out: &mut String, head: &str, block: &Block, depth: usize) {
        line(out, depth, head);
        self.block(out, block, depth + 1);
        self.close(out, depth);
    }

    fn close(self, out: &mut String, depth: usize) {
        if self != Self::Python {
            line(out, depth, "}");
        }
    }

    fn condition(self, condition: &Condition) -> String {
        match condition {
            Condition::Divides(by) => {
                format!("item % {by} {} 0", if self == Self::JavaScript { "===" } else { "==" })
            }
            Condition::Above(variable) => format!("item > {}", variable.name()),
        }
    }
}

impl Expression {
    /// The same in every language.
    fn text(&self) -> String {
        let inner = |part: &Self| match part {
            Self::Binary(..) => format!("({})", part.text()),
            _ => part.text(),
        };
        match self {
            Self::Constant(value) => value.to_string(),
            Self::Variable(variable) => variable.name().to_owned(),
            Self::Binary(operator, left, right) => {
                let sign = match operator {
                    Operator::Add => "+",
                    Operator::Multiply => "*",
                    Operator::Remainder => "%",
                };
                format!("{} {sign} {}", inner(left), inner(right))
            }
        }
    }
}

impl Variable {
    fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Item => "item",
            Self::Limit => "limit",
            Self::Index => "index",
        }
    }
}

fn line(out: &mut String, depth: usize, text: &str) {
    let _ = writeln!(out, "{:1$}{text}", "", 4 * depth);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two loops, a branch, and an expression in an expression.
    fn function() -> Function {
        let item = || Expression::Variable(Variable::Item);
        let product = Expression::of(
            Operator::Multiply,
            Expression::of(Operator::Add, item(), Expression::Constant(1)),
            Expression::Constant(3),
        );
        let branch = Statement::If(
            Condition::Divides(2),
            Block(vec![Statement::Add(product)]),
            Block(vec![Statement::Add(Expression::Constant(1))]),
        );
        let step = Statement::Add(Expression::Variable(Variable::Index));
        Function {
            name: "brick",
            start: 5,
            body: Block(vec![Statement::ForEach(Block(vec![branch])), Statement::Count(Block(vec![step]))]),
            result: Expression::of(
                Operator::Remainder,
                Expression::Variable(Variable::Total),
                Expression::Constant(10),
            ),
        }
    }

    #[test]
    fn a_tree_has_one_value_and_three_texts() {
        // 5 + (2 + 1) · 3 + 1 + (0 + 1 + 2 + 3) = 21.
        assert_eq!(function().value(&[2, 7], 4), 1);
        let check = |language: Language, lines: &[&str], call: &str| {
            assert_eq!(language.function(&function()).lines().collect::<Vec<_>>(), lines);
            assert_eq!(language.call(&function(), &[2, 7], 4), call);
        };
        check(
            Language::Python,
            &[
                "def brick_sum(items, limit):",
                "    total = 5",
                "    for item in items:",
                "        if item % 2 == 0:",
                "            total += (item + 1) * 3",
                "        else:",
                "            total += 1",
                "    for index in range(limit):",
                "        total += index",
                "    return total % 10",
            ],
            "brick_sum([2, 7], 4)",
        );
        check(
            Language::Rust,
            &[
                "fn brick_sum(items: &[i64], limit: i64) -> i64 {",
                "    let mut total = 5;",
                "    for &item in items {",
                "        if item % 2 == 0 {",
                "            total += (item + 1) * 3;",
                "        } else {",
                "            total += 1;",
                "        }",
                "    }",
                "    for index in 0..limit {",
                "        total += index;",
                "    }",
                "    total % 10",
                "}",
            ],
            "brick_sum(&[2, 7], 4)",
        );
        let script = Language::JavaScript.function(&function());
        assert!(script.starts_with(
            "function brick_sum(items, limit) {\n    let total = 5;\n    for (const item of items) {"
        ));
        assert!(
            script.contains("if (item % 2 === 0) {") && script.ends_with("    return total % 10;\n}\n"),
            "{script}"
        );
    }
}
