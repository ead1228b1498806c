//! `code`: a small function in a stated language and its inputs; the model states what it returns. Nothing is executed:
//! the generator evaluates its own tree.

use super::code_text::Language;
use super::code_tree::{Block, Condition, Expression, Function, Operator, Statement, Variable};
use super::dice::Dice;
use super::task::{Task, number};

/// Languages that tasks are written in.
const LANGUAGES: [Language; 3] = [Language::Python, Language::JavaScript, Language::Rust];

pub(super) fn task(dice: &mut Dice) -> Task {
    let function = function(dice);
    let list: Vec<i64> = (0..dice.number(4, 6)).map(|_| dice.number(1, 19) as i64).collect();
    let limit = dice.number(2, 9) as i64;
    let language = dice.pick(&LANGUAGES);
    let answer = function.value(&list, limit);
    let slip = 1 + dice.number(0, 5) as i64;
    let asked = format!(
        "Here is a function in {}:\n\n```{}\n{}```\n\nIt is called as `{}`. What does it return? Follow it step by step \
         if you like, and end with the returned number alone on the last line.",
        language.name(),
        language.fence(),
        language.function(&function),
        language.call(&function, &list, limit),
    );
    let said = |value: i64| format!("Following the loop to its end, the function returns\n{value}");
    Task::text(asked, number(answer), said(answer), said(answer + slip))
}

/// A loop over the list with a branch in it, and sometimes a second, counted loop after it.
fn function(dice: &mut Dice) -> Function {
    let mut body = vec![Statement::ForEach(Block(vec![branch(dice)]))];
    if dice.chance(50) {
        let step = Expression::of(
            Operator::Add,
            Expression::Variable(Variable::Index),
            Expression::Constant(dice.number(1, 4) as i64),
        );
        body.push(Statement::Count(Block(vec![Statement::Add(step)])));
    }
    let result = match dice.number(0, 2) {
        0 => Expression::Variable(Variable::Total),
        1 => Expression::of(
            Operator::Remainder,
            Expression::Variable(Variable::Total),
            Expression::Constant(dice.number(11, 97) as i64),
        ),
        _ => Expression::of(
            Operator::Add,
            Expression::Variable(Variable::Total),
            Expression::Variable(Variable::Limit),
        ),
    };
    Function { name: dice.word(), start: dice.number(0, 9) as i64, body: Block(body), result }
}

fn branch(dice: &mut Dice) -> Statement {
    let condition = match dice.number(0, 2) {
        0 => Condition::Divides(dice.number(2, 4) as i64),
        1 => Condition::Above(Variable::Limit),
        _ => Condition::Above(Variable::Total),
    };
    let yes = term(dice);
    let no = if dice.chance(60) {
        Statement::Add(Expression::Constant(dice.number(1, 5) as i64))
    } else {
        term(dice)
    };
    Statement::If(condition, Block(vec![yes]), Block(vec![no]))
}

/// Adds something that has to do with the element.
fn term(dice: &mut Dice) -> Statement {
    let item = Expression::Variable(Variable::Item);
    let constant = Expression::Constant(dice.number(2, 4) as i64);
    Statement::Add(match dice.number(0, 3) {
        0 => item,
        1 => Expression::of(Operator::Multiply, item, constant),
        2 => Expression::of(Operator::Add, item, Expression::Variable(Variable::Limit)),
        _ => Expression::of(Operator::Remainder, item, Expression::Constant(dice.number(3, 7) as i64)),
    })
}
