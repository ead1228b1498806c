//! Rows gathered into columns, and columns written.

use std::io::Write;
use std::sync::Arc;

use inferometer_record::{COLUMNS, Column, ColumnKind, ColumnValue, Sample};
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

/// The table's schema.
pub(crate) fn schema() -> Result<Type, ParquetError> {
    let fields: Result<Vec<_>, _> = COLUMNS.iter().map(|column| field(column).map(Arc::new)).collect();
    Type::group_type_builder("sample").with_fields(fields?).build()
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind() {
        ColumnKind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnKind::Json => (PhysicalType::BYTE_ARRAY, Some(LogicalType::Json)),
        ColumnKind::Count => (PhysicalType::INT64, None),
        ColumnKind::Real => (PhysicalType::DOUBLE, None),
        ColumnKind::Truth => (PhysicalType::BOOLEAN, None),
    };
    Type::primitive_type_builder(column.name, physical)
        .with_logical_type(logical)
        .with_repetition(Repetition::OPTIONAL)
        .build()
}

/// The rows of one row group.
#[derive(Default)]
pub(crate) struct Columns {
    rows: usize,
    /// One for each of [`COLUMNS`], once there is a row.
    gathered: Vec<Gathered>,
}

/// The values of a column that are there, and for each row whether one is.
struct Gathered {
    values: Values,
    present: Vec<i16>,
}

enum Values {
    Text(Vec<ByteArray>),
    Count(Vec<i64>),
    Real(Vec<f64>),
    Truth(Vec<bool>),
}

impl Columns {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn push(&mut self, sample: &Sample) {
        if self.gathered.is_empty() {
            self.gathered = COLUMNS.iter().map(Gathered::of).collect();
        }
        for (column, gathered) in COLUMNS.iter().zip(&mut self.gathered) {
            let is_there = column.value(sample).is_some_and(|value| gathered.values.push(value));
            gathered.present.push(i16::from(is_there));
        }
        self.rows += 1;
    }

    /// Writes the rows as one group and forgets them.
    pub(crate) fn write<W: Write + Send>(
        &mut self,
        writer: &mut SerializedFileWriter<W>,
    ) -> Result<(), ParquetError> {
        let mut group = writer.next_row_group()?;
        for gathered in std::mem::take(&mut self.gathered) {
            if let Some(mut column) = group.next_column()? {
                gathered.write(&mut column)?;
                column.close()?;
            }
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl Gathered {
    fn of(column: &Column) -> Self {
        let values = match column.kind() {
            ColumnKind::Text | ColumnKind::Json => Values::Text(Vec::new()),
            ColumnKind::Count => Values::Count(Vec::new()),
            ColumnKind::Real => Values::Real(Vec::new()),
            ColumnKind::Truth => Values::Truth(Vec::new()),
        };
        Self { values, present: Vec::new() }
    }

    fn write(&self, column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let present = Some(self.present.as_slice());
        let written = match &self.values {
            Values::Text(values) => column.typed::<ByteArrayType>().write_batch(values, present, None),
            Values::Count(values) => column.typed::<Int64Type>().write_batch(values, present, None),
            Values::Real(values) => column.typed::<DoubleType>().write_batch(values, present, None),
            Values::Truth(values) => column.typed::<BoolType>().write_batch(values, present, None),
        };
        written.map(drop)
    }
}

impl Values {
    /// Takes a value of the column's kind. A count beyond 63 bits is no count of ours: it is left out.
    fn push(&mut self, value: ColumnValue<'_>) -> bool {
        match (self, value) {
            (Self::Text(values), ColumnValue::Text(text)) => values.push(ByteArray::from(&*text)),
            (Self::Count(values), ColumnValue::Count(count)) => match i64::try_from(count) {
                Ok(count) => values.push(count),
                Err(_) => return false,
            },
            (Self::Real(values), ColumnValue::Real(real)) => values.push(real),
            (Self::Truth(values), ColumnValue::Truth(truth)) => values.push(truth),
            _ => return false,
        }
        true
    }
}
