//! Everything that is wrong in a plan file, in the order of the file.

use std::ops::Range;

use super::table::Table;
use crate::Error;
use crate::error::Mistakes;

/// What is wrong, as far as it was read: a table that is wrong is left out, and the others are read nevertheless.
#[derive(Debug, Default)]
pub(super) struct Wrong {
    errors: Vec<Error>,
    /// Where the tables stand that hold an unknown key or a value of another kind, at whatever depth.
    tables: Vec<Range<usize>>,
}

impl Wrong {
    /// Adds an error.
    pub(super) fn add(&mut self, error: Error) {
        self.errors.push(error);
    }

    /// How many errors there are by now.
    pub(super) fn count(&self) -> usize {
        self.errors.len()
    }

    /// Notes that the keys of a table are wrong: what it means nobody can say.
    pub(super) fn add_table(&mut self, span: Range<usize>) {
        self.tables.push(span);
    }

    /// Whether the keys of `table` are as they should be.
    pub(super) fn is_sound(&self, table: &Table<'_>) -> bool {
        !self.tables.contains(&table.span)
    }

    /// What was read; `None` where it is wrong, which is kept.
    pub(super) fn keep<T>(&mut self, read: Result<T, Error>) -> Option<T> {
        read.map_err(|error| self.errors.push(error)).ok()
    }

    /// What `read` makes of `table`; `None` where the table or what it means is wrong.
    pub(super) fn read<T>(
        &mut self,
        table: &Table<'_>,
        read: impl FnOnce() -> Result<T, Error>,
    ) -> Option<T> {
        if self.is_sound(table) { self.keep(read()) } else { None }
    }

    /// What `read` makes of each of `tables`; `None` where one is wrong.
    pub(super) fn read_all<'t, T>(
        &mut self,
        tables: &[Table<'t>],
        mut read: impl FnMut(&Table<'t>) -> Result<T, Error>,
    ) -> Option<Vec<T>> {
        let read: Vec<Option<T>> = tables.iter().map(|table| self.read(table, || read(table))).collect();
        read.into_iter().collect()
    }

    /// All of it as one error; `None` where nothing is wrong.
    pub(super) fn into_error(self) -> Option<Error> {
        Mistakes::of(self.errors)
    }
}
