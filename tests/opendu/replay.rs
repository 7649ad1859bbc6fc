//! A dialogue with the shipped restaurant module, with the bundled model and no model server, led by a client of either
//! generation. What each understood is in `tests/fixtures/opendu/`, for people to read.

use super::client::{Client, Generation, Prompt};
use crate::{
    support::{Service, golden},
    understand::local::embedder,
};

const FRAMES: &[(&str, &[&str])] = &[
    ("order_food", &["name", "quantity", "extras", "service"]),
    ("reserve_table", &["people", "date", "time", "contact_name"]),
    ("get_opening_hours", &["day"]),
    ("get_order_status", &["order_id"]),
    ("cancel_order", &["order_id"]),
    ("get_menu", &["cuisine", "diet"]),
];

const fn says(text: &'static str) -> Prompt {
    Prompt { text, expects: None, is_question: false }
}

const fn asks_for(text: &'static str, frame: &'static str, slot: &'static str) -> Prompt {
    Prompt { text, expects: Some((frame, Some(slot))), is_question: false }
}

const fn confirms(text: &'static str, frame: &'static str) -> Prompt {
    Prompt { text, expects: Some((frame, None)), is_question: true }
}

const DIALOGUE: &[(Prompt, &str)] = &[
    (says("Welcome to The Copper Ladle."), "Hi! What do you have for vegetarians?"),
    (says("Pizzas, salads, and more."), "I'd like two Margheritas and a Tiramisu, please"),
    (asks_for("Delivery or pickup?", "order_food", "service"), "Delivery"),
    (asks_for("Anything to go with it?", "order_food", "extras"), "No onions please"),
    (asks_for("Nothing else to go with it?", "order_food", "extras"), "With olives and extra cheese"),
    (confirms("Two margheritas and a tiramisu for delivery. Is that right?", "order_food"), "Yeah, that's right!"),
    (confirms("Would you like some hot sauce?", "order_food"), "I don't mind"),
    (says("Your order is on its way. Is there anything else?"), "Do you know who won the match last night?"),
    (says("I am afraid not."), "Then book a table for Friday"),
    (asks_for("For how many people?", "reserve_table", "people"), "Four"),
    (asks_for("At what time?", "reserve_table", "time"), "Half past seven"),
    (asks_for("Under which name?", "reserve_table", "contact_name"), "Rossi"),
    (confirms("A table for four on Friday at half past seven. Are you sure?", "reserve_table"), "No, wait"),
    (asks_for("What shall I change? For how many people?", "reserve_table", "people"), "Make it five, please"),
    (confirms("A table for five on Friday at half past seven. Are you sure?", "reserve_table"), "yep, I am"),
    (says("It is booked."), "Cancel order 48213 and tell me when you open on Sunday"),
    (confirms("Do you really want to cancel order 48213?", "cancel_order"), "Where is my order 77120?"),
    (confirms("It is on its way. Do you really want to cancel order 48213?", "cancel_order"), "Yes, cancel it"),
    (confirms("Done. Can I do anything else for you?", "cancel_order"), "No thanks, that's all"),
];

async fn replay(generation: Generation) -> String {
    let service = Service::shipping(&["restaurant"], embedder().await);
    let client = Client { service: &service, module: "restaurant", generation, frames: FRAMES };
    let mut told = String::new();
    for (prompt, said) in DIALOGUE {
        told.push_str(&client.hear(*prompt, said).await);
        told.push('\n');
    }
    told
}

#[tokio::test]
async fn the_newer_client_understands_the_whole_dialogue() {
    golden("tests/fixtures/opendu/newer.txt", &replay(Generation::Newer).await);
}

#[tokio::test]
async fn the_older_client_understands_the_whole_dialogue() {
    golden("tests/fixtures/opendu/older.txt", &replay(Generation::Older).await);
}
