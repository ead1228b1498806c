//! The little language of `code` tasks: a tree that is evaluated here and printed in languages that all agree on it.
//! Values are whole and never negative, so that every language's remainder is the same.

/// A function of a list and a number.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    /// What the total starts with.
    pub(super) start: i64,
    pub(super) body: Block,
    pub(super) result: Expression,
}

/// Statements in order.
#[derive(Debug)]
pub(super) struct Block(pub(super) Vec<Statement>);

#[derive(Debug)]
pub(super) enum Statement {
    /// Adds to the total.
    Add(Expression),
    /// One block or the other.
    If(Condition, Block, Block),
    /// The block for each element of the list.
    ForEach(Block),
    /// The block for each index from 0 to below the limit.
    Count(Block),
}

#[derive(Debug)]
pub(super) enum Condition {
    /// The element divides by this, which is not 0.
    Divides(i64),
    /// The element is above this.
    Above(Variable),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    Total,
    Item,
    Limit,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Multiply,
    /// By something that is not 0.
    Remainder,
}

#[derive(Debug)]
pub(super) enum Expression {
    Constant(i64),
    Variable(Variable),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

impl Expression {
    pub(super) fn of(operator: Operator, left: Self, right: Self) -> Self {
        Self::Binary(operator, Box::new(left), Box::new(right))
    }

    fn value(&self, scope: &Scope<'_>) -> i64 {
        match self {
            Self::Constant(value) => *value,
            Self::Variable(variable) => scope.get(*variable),
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.value(scope), right.value(scope));
                // Sums of a few small products stay far below any bound; what would leave it stands still instead.
                match operator {
                    Operator::Add => left.saturating_add(right),
                    Operator::Multiply => left.saturating_mul(right),
                    Operator::Remainder => left.checked_rem(right).unwrap_or(0),
                }
            }
        }
    }
}

/// What the variables hold.
#[derive(Debug)]
struct Scope<'a> {
    list: &'a [i64],
    limit: i64,
    total: i64,
    item: i64,
    index: i64,
}

impl Scope<'_> {
    fn get(&self, variable: Variable) -> i64 {
        match variable {
            Variable::Total => self.total,
            Variable::Item => self.item,
            Variable::Limit => self.limit,
            Variable::Index => self.index,
        }
    }

    fn run(&mut self, block: &Block) {
        for statement in &block.0 {
            match statement {
                Statement::Add(expression) => self.total = self.total.saturating_add(expression.value(self)),
                Statement::If(condition, yes, no) => {
                    let holds = self.holds(condition);
                    self.run(if holds { yes } else { no });
                }
                Statement::ForEach(block) => {
                    for item in self.list {
                        self.item = *item;
                        self.run(block);
                    }
                }
                Statement::Count(block) => {
                    for index in 0..self.limit {
                        self.index = index;
                        self.run(block);
                    }
                }
            }
        }
    }

    fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Divides(by) => self.item.checked_rem(*by) == Some(0),
            Condition::Above(variable) => self.item > self.get(*variable),
        }
    }
}

impl Function {
    /// What the function returns.
    pub(super) fn value(&self, list: &[i64], limit: i64) -> i64 {
        let mut scope = Scope { list, limit, total: self.start, item: 0, index: 0 };
        scope.run(&self.body);
        self.result.value(&scope)
    }
}
