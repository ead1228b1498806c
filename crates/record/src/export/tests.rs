//! The table of samples.

use std::path::Path;

use inferometer_clock::{Mono, Wall};

use super::*;
use crate::{Manifest, RunReader, RunWriter, Sample, State, Status};

/// A sample in which nothing is absent that a test looks at.
fn sample() -> Sample {
    Sample {
        run_id: "r".to_owned(),
        target: "=1+1".to_owned(),
        workload: "a, \"b\"".to_owned(),
        status: Status::HttpError,
        http_status: Some(503),
        error_message: Some("two\nlines".to_owned()),
        start_ns: Some(u64::MAX),
        ttft_ms: Some(1.5),
        grade: Some(false),
        usage: serde_json::from_str(r#"{"n": [1, 2]}"#).ok(),
        cost_usd: Some("-0.5".to_owned()),
        flags: vec!["a".to_owned(), "b".to_owned()],
        ..Sample::default()
    }
}

#[test]
fn the_columns_are_the_fields_of_a_sample() {
    // The text keeps the order of the fields, which a map would not.
    let text = serde_json::to_string(&Sample::default()).unwrap();
    let names: Vec<&str> = text
        .trim_matches(['{', '}'])
        .split(',')
        .filter_map(|field| {
            field.split('"').nth(1).filter(|_| field.starts_with('"') && field.contains("\":"))
        })
        .collect();
    let columns: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    assert_eq!(columns, names, "a field of Sample has its column in export/columns.rs");
}

#[test]
fn each_column_holds_what_its_field_holds() {
    let sample = sample();
    let json = serde_json::to_value(&sample).unwrap();
    for column in COLUMNS {
        let field = &json[column.name];
        let same = match column.value(&sample) {
            None => field.is_null() || field.as_array().is_some_and(Vec::is_empty),
            Some(ColumnValue::Count(count)) => field.as_u64() == Some(count),
            Some(ColumnValue::Real(real)) => field.as_f64() == Some(real),
            Some(ColumnValue::Truth(truth)) => field.as_bool() == Some(truth),
            Some(ColumnValue::Text(text)) if column.kind() == ColumnKind::Json => {
                serde_json::from_str(&text).ok().as_ref() == Some(field)
            }
            Some(ColumnValue::Text(text)) => match field.as_array() {
                Some(list) => text.split(';').eq(list.iter().filter_map(|word| word.as_str())),
                None => field.as_str() == Some(&text),
            },
        };
        assert!(same, "{}: {field}", column.name);
    }
}

#[test]
fn csv_has_a_header_and_a_row_for_each_sample() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = Manifest::new("r", Wall::from_unix_nanos(0));
    let mut writer = RunWriter::create(None, folder.path(), "x", manifest, false).unwrap();
    let now = Mono::default();
    writer.push(&sample(), None, now).unwrap();
    writer.push(&Sample::default(), None, now).unwrap();
    let reader = RunReader::open(&writer.finish(State::Complete).unwrap()).unwrap();
    let mut out = Vec::new();
    assert_eq!(export_csv(&reader, Path::new("x.csv"), &mut out).unwrap(), 2);
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("run_id,segment,target,workload,load,phase,") && text.ends_with("\r\n"));
    let row = text.split("\r\n").nth(1).unwrap();
    assert!(row.starts_with("r,0,'=1+1,\"a, \"\"b\"\"\",,measure,,"), "{row}");
    for part in [",18446744073709551615,", ",http_error,503,,\"two\nlines\",", ",1.5,", ",false,-0.5,"] {
        assert!(row.contains(part), "{row} lacks {part}");
    }
    assert!(row.contains("\"{\"\"n\"\": [1, 2]}\"") && row.ends_with(",a;b"), "{row}");
    let commas = |line: &str| line.matches(',').count();
    assert_eq!(commas(text.split("\r\n").nth(2).unwrap()), COLUMNS.len() - 1, "absent is empty");
}
