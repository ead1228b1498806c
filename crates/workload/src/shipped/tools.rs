//! `tools`: something to do and five tools; the answer calls the right one with the right arguments.

use std::sync::{Arc, LazyLock};

use inferometer_judge::Check;
use serde_json::{Map, Value, json};

use super::dice::Dice;
use super::stock::{FAMILIES, MONTHS, PEOPLE, TOWNS};
use super::task::{Asked, Reply, Task};

static PARAMETERS: LazyLock<Arc<Map<String, Value>>> = LazyLock::new(|| {
    let text = |what: &str| json!({"type": "string", "description": what});
    let whole = |what: &str| json!({"type": "integer", "description": what});
    let tools = json!([
        tool(
            "book_table",
            "Reserves a table in a restaurant.",
            &json!({
                "restaurant": text("Name of the restaurant"), "people": whole("How many guests"),
                "date": text("YYYY-MM-DD"), "time": text("HH:MM, 24 hours"),
            })
        ),
        tool(
            "set_alarm",
            "Sets an alarm on the user's phone.",
            &json!({
                "time": text("HH:MM, 24 hours"), "label": text("One word that is shown"),
            })
        ),
        tool(
            "get_weather",
            "Tells the weather forecast of a town.",
            &json!({
                "town": text("Name of the town"), "date": text("YYYY-MM-DD"),
            })
        ),
        tool(
            "convert_money",
            "Converts an amount between currencies.",
            &json!({
                "amount": whole("The amount"), "from": text("ISO 4217 code"), "to": text("ISO 4217 code"),
            })
        ),
        tool(
            "move_stock",
            "Moves goods between two shelves of the warehouse.",
            &json!({
                "article": whole("Article number"), "from_shelf": whole("Shelf they are on"),
                "to_shelf": whole("Shelf they go to"), "count": whole("How many"),
            })
        ),
    ]);
    Arc::new(Map::from_iter([("tools".to_owned(), tools), ("tool_choice".to_owned(), "auto".into())]))
});

fn tool(name: &str, description: &str, fields: &Value) -> Value {
    let required: Vec<&String> = fields.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    let parameters =
        json!({"type": "object", "properties": fields, "required": required, "additionalProperties": false});
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

/// What is asked, the tool, its arguments, and arguments that are wrong.
struct Call {
    asked: String,
    name: &'static str,
    right: Value,
    wrong: Value,
}

const CALLS: [fn(&mut Dice) -> Call; 5] = [book_table, set_alarm, get_weather, convert_money, move_stock];

pub(super) fn task(dice: &mut Dice) -> Task {
    let Call { asked, name, right, wrong } = dice.pick(&CALLS)(dice);
    let reply =
        |arguments: &Value| Reply::ToolCall { name: name.to_owned(), arguments: arguments.to_string() };
    let (right_reply, wrong_reply) = (reply(&right), reply(&wrong));
    let arguments = if let Value::Object(arguments) = right { arguments } else { Map::new() };
    Task {
        asked: Asked::Text(format!("{asked} Use one of the tools for it.")),
        parameters: Arc::clone(&PARAMETERS),
        check: Check::ToolCall { name: name.to_owned(), arguments },
        right: right_reply,
        wrong: wrong_reply,
    }
}

/// A day in words and as tools want it.
fn day(dice: &mut Dice) -> (String, String) {
    let (year, month, day) = (dice.number(2027, 2034), dice.number(1, 12), dice.number(1, 28));
    (format!("{day} {} {year}", MONTHS[month as usize - 1]), format!("{year}-{month:02}-{day:02}"))
}

fn time(dice: &mut Dice) -> String {
    format!("{:02}:{:02}", dice.number(6, 22), 5 * dice.number(0, 11))
}

fn book_table(dice: &mut Dice) -> Call {
    let (restaurant, friends, time) = (dice.pick(FAMILIES), dice.number(2, 12), time(dice));
    let (said, date) = day(dice);
    let arguments =
        |people: u64| json!({"restaurant": restaurant, "people": people, "date": date, "time": time});
    Call {
        asked: format!(
            "I bring {} friends along, and all of us want to eat at the restaurant {restaurant} on {said}, at {time}. \
             Please reserve.",
            number_words(friends)
        ),
        name: "book_table",
        right: arguments(friends + 1),
        wrong: arguments(friends),
    }
}

/// Small numbers in words.
fn number_words(n: u64) -> &'static str {
    const WORDS: [&str; 13] = [
        "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    WORDS.get(n as usize).copied().unwrap_or("many")
}

fn set_alarm(dice: &mut Dice) -> Call {
    let (hour, minute, label) = (dice.number(7, 21), 5 * dice.number(0, 11), dice.word());
    let arguments = |hour: u64| json!({"time": format!("{hour:02}:{minute:02}"), "label": label});
    Call {
        asked: format!(
            "Something starts at {hour:02}:{minute:02}, and I need an hour to get there. Make my phone ring at the minute \
             I must leave, and let it show the word {label}."
        ),
        name: "set_alarm",
        right: arguments(hour - 1),
        wrong: arguments(hour),
    }
}

fn get_weather(dice: &mut Dice) -> Call {
    let [person] = dice.some(PEOPLE);
    let [town, other] = dice.some(TOWNS);
    let (said, date) = day(dice);
    let arguments = |town: &str| json!({"town": town, "date": date});
    Call {
        asked: format!(
            "{person} lives in {other} and visits me in {town} on {said}. Will it rain here on that day?"
        ),
        name: "get_weather",
        right: arguments(town),
        wrong: arguments(other),
    }
}

fn convert_money(dice: &mut Dice) -> Call {
    const CURRENCIES: [(&str, &str); 8] = [
        ("euros", "EUR"),
        ("US dollars", "USD"),
        ("Japanese yen", "JPY"),
        ("Swiss francs", "CHF"),
        ("pounds sterling", "GBP"),
        ("Swedish kronor", "SEK"),
        ("Polish zlotys", "PLN"),
        ("Canadian dollars", "CAD"),
    ];
    let [(from, from_code), (to, to_code)] = dice.some(&CURRENCIES);
    let (amount, town) = (dice.number(20, 9_000), dice.pick(TOWNS));
    let arguments = |from: &str, to: &str| json!({"amount": amount, "from": from, "to": to});
    Call {
        asked: format!(
            "I am back from {town} with {amount} {from} in my pocket. How many {to} are they worth?"
        ),
        name: "convert_money",
        right: arguments(from_code, to_code),
        wrong: arguments(to_code, from_code),
    }
}

fn move_stock(dice: &mut Dice) -> Call {
    let (article, count) = (dice.number(10_000, 99_999), dice.number(3, 90));
    let (from, to) = (dice.number(1, 40), dice.number(41, 80));
    let arguments =
        |from: u64, to: u64| json!({"article": article, "from_shelf": from, "to_shelf": to, "count": count});
    Call {
        asked: format!(
            "Shelf {to} has room again. Bring {count} pieces of article {article} there from shelf {from}, please."
        ),
        name: "move_stock",
        right: arguments(from, to),
        wrong: arguments(to, from),
    }
}
