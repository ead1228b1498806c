//! The file, read back by the library's own reader and by other people's where they are installed.

use std::fs::File;
use std::process::Command;

use inferometer_clock::{Mono, Wall};
use inferometer_record::{ColumnValue, RunReader, RunWriter, Sample, State, Status};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;

use super::*;

/// Sample `n` of the test run: each kind of column, there and absent.
fn sample(n: u64) -> Sample {
    let is_odd = n % 2 == 1;
    Sample {
        run_id: "r".to_owned(),
        target: format!("tärget {}", n % 3),
        request: n,
        is_final: is_odd,
        start_ns: is_odd.then_some(n * 1_000),
        end_ns: Some(if n == 2 { u64::MAX } else { n * 2_000 }),
        ttft_ms: is_odd.then_some(n as f64 / 8.0),
        grade: n.is_multiple_of(5).then_some(is_odd),
        status: if is_odd { Status::Ok } else { Status::Timeout },
        usage: serde_json::from_str(r#"{"prompt_tokens": 3}"#).ok(),
        cost_usd: Some("0.000123".to_owned()),
        flags: if is_odd { vec!["a".to_owned(), "b".to_owned()] } else { Vec::new() },
        ..Sample::default()
    }
}

/// A run of so many samples, exported; the folder goes with the first.
fn exported(count: u64) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let manifest = Manifest::new("the run", Wall::from_unix_nanos(0));
    let mut writer = RunWriter::create(None, folder.path(), "x", manifest, false).unwrap();
    for n in 0..count {
        writer.push(&sample(n), None, Mono::default()).unwrap();
    }
    let reader = RunReader::open(&writer.finish(State::Complete).unwrap()).unwrap();
    let path = folder.path().join("samples.parquet");
    assert_eq!(export_parquet(&reader, File::create(&path).unwrap()).unwrap(), count);
    (folder, path)
}

fn same(field: &Field, value: Option<ColumnValue<'_>>) -> bool {
    match (field, value) {
        (Field::Null, None) => true,
        (Field::Null, Some(ColumnValue::Count(count))) => count > i64::MAX as u64,
        (Field::Str(text), Some(ColumnValue::Text(value))) => *text == value,
        (Field::Long(number), Some(ColumnValue::Count(count))) => u64::try_from(*number) == Ok(count),
        (Field::Double(number), Some(ColumnValue::Real(real))) => *number == real,
        (Field::Bool(is), Some(ColumnValue::Truth(truth))) => *is == truth,
        _ => false,
    }
}

#[test]
fn what_is_written_is_read_back() {
    let count = GROUP_ROWS as u64 + 7;
    let (_folder, path) = exported(count);
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    assert_eq!(reader.num_row_groups(), 2);
    let mut rows = 0;
    for (n, row) in reader.get_row_iter(None).unwrap().enumerate() {
        let (row, sample) = (row.unwrap(), sample(n as u64));
        for ((name, field), column) in row.get_column_iter().zip(COLUMNS) {
            assert_eq!(name, column.name);
            assert!(same(field, column.value(&sample)), "row {n}, {name}: {field:?}");
        }
        rows += 1;
    }
    assert_eq!(rows, count);
}

#[test]
fn units_and_manifest_stand_in_the_metadata() {
    let (_folder, path) = exported(0);
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let file = reader.metadata().file_metadata();
    assert_eq!(file.num_rows(), 0);
    let metadata = file.key_value_metadata().unwrap();
    let value = |key: &str| {
        let pair = metadata.iter().find(|pair| pair.key == key);
        pair.and_then(|pair| pair.value.clone()).unwrap_or_default()
    };
    assert_eq!(
        (value("inferometer.unit.ttft_ms"), value("inferometer.unit.cost_usd")),
        ("ms".into(), "USD".into())
    );
    let manifest: Manifest = serde_json::from_str(&value("inferometer.manifest")).unwrap();
    assert_eq!((manifest.run_id.as_str(), manifest.state), ("the run", State::Complete));
}

/// Two readers that share no code with the library. They run where `python3` (or what `INFEROMETER_PYTHON` names) has
/// them.
#[test]
fn other_readers_read_the_same() {
    const SCRIPT: &str = r#"
import sys
try:
    import duckdb, pyarrow.parquet as pq
except ImportError:
    sys.exit(77)
table = pq.read_table(sys.argv[1])
assert table.num_rows == 100, table.num_rows
row = table.slice(3, 1).to_pylist()[0]
want = dict(run_id='r', target='tärget 0', request=3, final=True, start_ns=3000, end_ns=6000, ttft_ms=0.375,
            grade=None, status='ok', cost_usd='0.000123', flags='a;b', role=None, usage='{"prompt_tokens": 3}')
assert {k: row[k] for k in want} == want, row
assert pq.read_metadata(sys.argv[1]).metadata[b'inferometer.unit.start_ns'] == b'ns'
sql = 'select count(*), sum(ttft_ms), sum(cost_usd::decimal(18,9)), min(end_ns - start_ns) from read_parquet(?)'
n, ttft, cost, least = duckdb.execute(sql, [sys.argv[1]]).fetchone()
assert (n, ttft, str(cost), least) == (100, 312.5, '0.012300000', 1000), (n, ttft, cost, least)
"#;
    let (_folder, path) = exported(100);
    let python = std::env::var("INFEROMETER_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let Ok(output) = Command::new(&python).args(["-c", SCRIPT]).arg(path).output() else {
        return println!("skipped: no {python}");
    };
    if output.status.code() == Some(77) {
        return println!("skipped: {python} has no pyarrow and duckdb");
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
