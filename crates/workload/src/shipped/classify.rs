//! `classify`: a customer's message and labels; the answer is one label.

use super::dice::Dice;
use super::stock::{COLOURS, DAYS, GOODS, PEOPLE, TOWNS};
use super::task::{Task, one_word};

/// A label, what it is about, and messages that are about nothing else. `{n}` a number, `{good}` goods, `{day}` a day,
/// `{colour}` a colour.
struct Label {
    name: &'static str,
    about: &'static str,
    messages: [&'static str; 4],
}

const LABELS: [Label; 5] = [
    Label {
        name: "billing",
        about: "charges, invoices, refunds",
        messages: [
            "I was charged twice for the same {good}, {n} crowns each time. Please give one of them back.",
            "The invoice for my {good} says {n} crowns, but the shop page said less. Why is that?",
            "You promised a refund of {n} crowns for the {good} last {day}, and my account still shows nothing.",
            "Please change the company name on the invoice for the {n} {good}; our bookkeeper will not accept it.",
        ],
    },
    Label {
        name: "delivery",
        about: "parcels that are late, lost or at the wrong door",
        messages: [
            "The parcel with my {n} {good} should have come on {day}. Where is it now?",
            "The driver left my {good} at number {n} on the other side of the street, and nobody there knows of it.",
            "Tracking has said for {n} days that my {good} are on the way. Can you find out what is holding them up?",
            "Could the {good} please come to my office instead of my flat? The courier is due on {day}.",
        ],
    },
    Label {
        name: "damage",
        about: "goods that arrived broken or do not work",
        messages: [
            "Of the {n} {good} that I unpacked today, two are cracked from top to bottom.",
            "The {colour} paint on the {good} came off after {n} minutes. That cannot be right.",
            "I opened the box on {day}, and half of the {good} were in pieces. {n} of them cannot be used.",
            "The {good} arrived in time, but they are bent, and the {colour} lid does not close on any of the {n}.",
        ],
    },
    Label {
        name: "account",
        about: "login, password, personal data",
        messages: [
            "I cannot log in since {day}. The page says that my password is wrong, {n} times now.",
            "Please delete my profile and all that you store about me, also the list of {good} I once looked at.",
            "My e-mail address has changed. How do I tell you, so that messages about {good} reach me?",
            "The code for signing in arrives {n} minutes late on my {colour} phone, and by then it has expired.",
        ],
    },
    Label {
        name: "product",
        about: "questions before buying",
        messages: [
            "Do you also sell the {good} in {colour}? I would take {n}.",
            "How heavy are the {good}, and do {n} of them fit on a shelf that is one metre wide?",
            "Before I order: are the {colour} {good} safe for children of {n} years?",
            "What are the {good} made of? My aunt is allergic to nickel and would like {n} by {day}.",
        ],
    },
];

pub(super) fn task(dice: &mut Dice) -> Task {
    let labels: [usize; 5] = dice.some(&[0, 1, 2, 3, 4]);
    let (right, wrong) = (&LABELS[labels[0]], &LABELS[labels[1]]);
    let template = dice.pick(&right.messages);
    let mut message = filled(dice, template);
    if dice.chance(40) {
        // What another label is about, and no reason to choose it: the message says that it is well.
        let aside = match wrong.name {
            "billing" => "The invoice itself was correct, thank you.",
            "delivery" => "By the way, your courier was friendly and on time.",
            "damage" => "Everything I had from you before was in perfect order.",
            "account" => "My account works well, so that is not the matter.",
            _ => "I need no advice on what to buy.",
        };
        message = format!("{message} {aside}");
    }
    let order = dice.shuffled(LABELS.iter().collect());
    let list: Vec<String> = order.iter().map(|label| format!("- {}: {}", label.name, label.about)).collect();
    let asked = format!(
        "Which label fits this message best?\n\n{}\n\nMessage from {} in {}:\n\"{message}\"\n\nAnswer with the label \
         alone, in lower case.",
        list.join("\n"),
        dice.pick(PEOPLE),
        dice.pick(TOWNS),
    );
    Task::text(asked, one_word(right.name), right.name, wrong.name)
}

fn filled(dice: &mut Dice, template: &str) -> String {
    template
        .replace("{n}", &dice.number(3, 98).to_string())
        .replace("{good}", dice.pick(GOODS))
        .replace("{day}", dice.pick(DAYS))
        .replace("{colour}", dice.pick(COLOURS))
}
