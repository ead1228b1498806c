//! `extract`: an order in words; the answer is a JSON object of stated form with exactly its values.

use std::sync::{Arc, LazyLock};

use inferometer_judge::Check;
use serde_json::{Map, Value, json};

use super::dice::Dice;
use super::stock::{COLOURS, FAMILIES, GOODS, MONTHS, PEOPLE, TOWNS};
use super::task::Task;

/// The form that is asked for, to servers that hold a model to one.
static PARAMETERS: LazyLock<Arc<Map<String, Value>>> = LazyLock::new(|| {
    let fields = json!({
        "customer": {"type": "string"},
        "town": {"type": "string"},
        "item": {"type": "string"},
        "quantity": {"type": "integer"},
        "unit_price": {"type": "number"},
        "delivery_date": {"type": "string"},
        "express": {"type": "boolean"},
    });
    let format = json!({"type": "json_schema", "json_schema": {"name": "order", "strict": true, "schema": schema(&fields)}});
    Arc::new(Map::from_iter([("response_format".to_owned(), format)]))
});

/// An object of exactly these fields.
fn schema(fields: &Value) -> Value {
    let required: Vec<&String> = fields.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    json!({"type": "object", "properties": fields, "required": required, "additionalProperties": false})
}

pub(super) fn task(dice: &mut Dice) -> Task {
    let customer = format!("{} {}", dice.pick(PEOPLE), dice.pick(FAMILIES));
    let (town, item) = (dice.pick(TOWNS), format!("{} {}", dice.pick(COLOURS), dice.pick(GOODS)));
    let (quantity, before) = (dice.number(2, 60), dice.number(61, 99));
    // Quarters are exact in binary and in decimal.
    let price = dice.number(5, 160) as f64 / 4.0;
    let (year, month, day) = (dice.number(2027, 2034), dice.number(1, 12), dice.number(1, 28));
    let month_name = MONTHS[month as usize - 1];
    let express = dice.chance(50);
    let how = if express { "It has to go by express." } else { "There is no need for express." };
    let message = format!(
        "Hello, {customer} writing, from {town}. Last year I took {before}, but this time please send {quantity} {item}, \
         at {price} crowns apiece as agreed. They must be here on {day} {month_name} {year}. {how}"
    );
    let asked = format!(
        "Read this order and answer with one JSON object and nothing else. Its fields: customer (full name), town, item \
         (as written, with the colour), quantity (whole number), unit_price (number), delivery_date (YYYY-MM-DD), \
         express (true or false).\n\n\"{message}\""
    );
    let values = |quantity: u64| {
        json!({
            "customer": customer, "town": town, "item": item, "quantity": quantity, "unit_price": price,
            "delivery_date": format!("{year}-{month:02}-{day:02}"), "express": express,
        })
    };
    let check = Check::JsonSchema(schema(&constants(&values(quantity))));
    let mut task = Task::text(asked, check, values(quantity).to_string(), values(before).to_string());
    task.parameters = Arc::clone(&PARAMETERS);
    task
}

/// A field that may be this value alone, for each of an object's.
fn constants(values: &Value) -> Value {
    let fields = values.as_object().into_iter().flatten();
    Value::Object(fields.map(|(name, value)| (name.clone(), json!({"const": value}))).collect())
}
