//! The words that tasks are made of. Each of [`PEOPLE`], [`TOWNS`], [`COLOURS`], [`MONTHS`] and [`THINGS`] is one o200k token after
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

/// Things. All are among the plain words of `tokens`.
pub(super) const THINGS: &[&str] = &[
    "animal", "apple", "baby", "ball", "bank", "basket", "battery", "bench", "boat", "body", "bone", "book",
    "bottom", "branch", "bread", "brick", "bridge", "brush", "bubble", "bucket", "budget", "button", "cake",
    "camera", "castle", "chain", "chair", "chart", "clock", "cloth", "cloud", "coach", "coat", "coffee",
    "college", "concert", "corn", "country", "court", "cross", "culture", "desk", "diet", "dish", "doctor",
    "door", "dress", "dust", "earth", "editor", "egg", "engine", "entry", "essay", "event", "factory",
    "family", "farm", "father", "feature", "field", "figure", "film", "finger", "fish", "flag", "flash",
    "floor", "flower", "food", "foot", "forest", "fortune", "frame", "friend", "fruit", "fund", "garage",
    "garden", "gate", "gift", "girl", "glass", "goal", "gold", "grain", "grass", "ground", "group", "guest",
    "guide", "hair", "hall", "hand", "heart", "height", "history", "hole", "holiday", "horse", "hospital",
    "host", "hotel", "house", "idea", "image", "index", "inch", "iron", "joint", "journal", "juice", "knife",
    "lake", "lamp", "land", "language", "leader", "leaf", "league", "lecture", "lesson", "letter", "level",
    "library", "light", "line", "list", "lock", "machine", "margin", "market", "meal", "memory", "menu",
    "message", "metal", "meter", "milk", "mill", "mirror", "model", "monitor", "motor", "mouse", "mouth",
    "movie", "music", "neck", "neighbor", "network", "night", "nose", "note", "object", "office", "olive",
    "opera", "orbit", "organ", "oven", "owner", "page", "paint", "panel", "paper", "parent", "park",
    "partner", "party", "path", "pattern", "people", "phone", "photo", "picture", "piece", "pilot", "pipe",
    "planet", "plant", "plate", "player", "policy", "pond", "pool", "port", "price", "problem", "product",
    "program", "project", "pulse", "quarter", "question", "race", "radio", "rail", "rain", "recipe",
    "record", "region", "report", "research", "reward", "ring", "river", "road", "rock", "role", "roof",
    "room", "root", "rose", "route", "rule", "salt", "sample", "sand", "scale", "scene", "school", "screen",
    "season", "seat", "secret", "seed", "sheet", "ship", "shirt", "shoe", "shop", "signal", "snow", "soap",
    "soil", "song", "spring", "square", "stage", "stamp", "star", "station", "stone", "story", "street",
    "student", "studio", "summer", "surface", "switch", "symbol", "table", "tank", "task", "taste",
    "teacher", "team", "thumb", "ticket", "title", "tool", "tour", "tower", "town", "track", "train", "tray",
    "tree", "trip", "truck", "uniform", "vehicle", "video", "voice", "wall", "watch", "water", "wave",
    "weather", "wheel", "window", "wing", "winter", "wire", "woman", "wood", "word", "worker", "world",
    "writer", "yard",
];
