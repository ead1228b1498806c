//! The words that tasks are made of. Each of [`PEOPLE`], [`TOWNS`], [`COLOURS`] and [`MONTHS`] is one o200k token after
//! a space, so that lengths can be stated without a tokenizer (`length`).

/// First names.
pub(super) const PEOPLE: &[&str] = &[
    "Anna", "Maria", "Peter", "David", "Laura", "Oscar", "Emma", "Paul", "Sarah", "Thomas", "Alice", "Simon",
    "Julia", "Martin", "Helen", "Victor", "Clara", "Daniel", "Robert", "Eva", "Frank", "Grace", "Henry",
    "Lucy",
];

/// Family names.
pub(super) const FAMILIES: &[&str] = &[
    "Lindqvist",
    "Okafor",
    "Marchetti",
    "Novak",
    "Bergmann",
    "Sorensen",
    "Tanaka",
    "Duarte",
    "Kowalski",
    "Haddad",
    "Petrov",
    "Alvarez",
    "Nakamura",
    "Fitzgerald",
    "Jansen",
    "Moreau",
    "Rossi",
    "Yilmaz",
    "Eriksen",
    "Castellan",
];

/// Towns.
pub(super) const TOWNS: &[&str] = &[
    "London",
    "Paris",
    "Berlin",
    "Madrid",
    "Rome",
    "Vienna",
    "Geneva",
    "Dublin",
    "Prague",
    "Boston",
    "Chicago",
    "Toronto",
    "Sydney",
    "Hamburg",
    "Milan",
    "Athens",
    "Lisbon",
    "Warsaw",
    "Amsterdam",
    "Stockholm",
];

/// Goods that can be counted.
pub(super) const GOODS: &[&str] = &[
    "lamps",
    "notebooks",
    "cups",
    "brushes",
    "ropes",
    "candles",
    "baskets",
    "chairs",
    "scarves",
    "plates",
    "tickets",
    "puzzles",
    "kettles",
    "umbrellas",
    "bells",
    "jars",
];

/// Months.
pub(super) const MONTHS: &[&str] = &[
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Days of the week, in order.
pub(super) const DAYS: &[&str] =
    &["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Colours.
pub(super) const COLOURS: &[&str] =
    &["red", "blue", "green", "yellow", "white", "black", "orange", "purple", "brown", "silver"];
