//! What a reader sees, without a form: blocks that the terminal and Markdown draw, each in its way.

/// How much a piece of text should stand out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// As the rest.
    #[default]
    Plain,
    /// A headline.
    Strong,
    /// Something to know before the figures are used.
    Warn,
    /// A failure.
    Bad,
}

/// A piece of text. It may hold anything a server said: whoever draws it cleans it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) style: Style,
    pub(crate) text: String,
}

impl Text {
    pub(crate) fn warn(text: impl Into<String>) -> Self {
        Self { style: Style::Warn, text: text.into() }
    }

    pub(crate) fn bad(text: impl Into<String>) -> Self {
        Self { style: Style::Bad, text: text.into() }
    }

    /// Plain, or a failure where `is_bad`.
    pub(crate) fn bad_if(is_bad: bool, text: impl Into<String>) -> Self {
        Self { style: if is_bad { Style::Bad } else { Style::Plain }, text: text.into() }
    }
}

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Self {
        Self { style: Style::Plain, text: text.into() }
    }
}

/// A table. The first column names the row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    /// As many cells each as there are columns.
    pub(crate) rows: Vec<Vec<Text>>,
}

impl Table {
    /// The table without the columns that nothing stands in.
    pub(crate) fn pruned(&self) -> Table {
        let is_used =
            |i: &usize| self.rows.iter().any(|row| row.get(*i).is_some_and(|cell| !cell.text.is_empty()));
        let used: Vec<usize> = (0..self.columns.len()).filter(is_used).collect();
        self.only(&used)
    }

    /// The table with these columns only.
    pub(crate) fn only(&self, chosen: &[usize]) -> Table {
        let cells =
            |row: &Vec<Text>| chosen.iter().map(|i| row.get(*i).cloned().unwrap_or_default()).collect();
        Table {
            columns: chosen.iter().filter_map(|i| self.columns.get(*i).cloned()).collect(),
            rows: self.rows.iter().map(cells).collect(),
        }
    }
}

/// A column's head, and on which side its cells stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) head: String,
    pub(crate) is_right: bool,
    /// Left out of a terminal that is too narrow for the whole table.
    pub(crate) is_spare: bool,
}

impl Column {
    pub(crate) fn left(head: &str) -> Self {
        Self { head: head.to_owned(), ..Self::default() }
    }

    pub(crate) fn right(head: &str) -> Self {
        Self { head: head.to_owned(), is_right: true, ..Self::default() }
    }

    /// The same column, where there is room.
    pub(crate) fn spare(self) -> Self {
        Self { is_spare: true, ..self }
    }
}

/// Something said about `label`, a line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) label: &'static str,
    pub(crate) lines: Vec<Text>,
}

/// A part of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// Begins a section.
    Heading(String),
    /// A sentence that stands alone.
    Notice(Text),
    /// Figures side by side.
    Table(Table),
    /// Figures one below the other. Facts without a line are not shown.
    Facts(Vec<Fact>),
}
