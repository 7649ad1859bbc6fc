//! Modules of any size, the same at every run, and utterances for them.

use std::path::Path;

use serde_json::{Value, json};

/// Things to do: the name, and ways to say it.
const VERBS: [(&str, [&str; 3]); 25] = [
    ("create", ["create", "set up", "make"]),
    ("cancel", ["cancel", "call off", "get rid of"]),
    ("show", ["show me", "let me see", "pull up"]),
    ("list", ["list", "give me an overview of", "enumerate"]),
    ("rename", ["rename", "change the name of", "relabel"]),
    ("share", ["share", "pass on", "let others see"]),
    ("print", ["print", "put on paper", "make a hard copy of"]),
    ("archive", ["archive", "file away", "put into storage"]),
    ("restore", ["restore", "bring back", "recover"]),
    ("approve", ["approve", "sign off on", "give the go-ahead for"]),
    ("reject", ["reject", "turn down", "decline"]),
    ("compare", ["compare", "hold side by side", "tell the difference between"]),
    ("count", ["count", "say how many there are of", "tally"]),
    ("schedule", ["schedule", "plan", "put on the calendar"]),
    ("postpone", ["postpone", "push back", "move to a later date"]),
    ("translate", ["translate", "put into another language", "give me a foreign version of"]),
    ("summarize", ["summarize", "boil down", "give me the short version of"]),
    ("rate", ["rate", "give a score to", "grade"]),
    ("export", ["export", "download", "save a copy of"]),
    ("import", ["import", "upload", "load in"]),
    ("lock", ["lock", "freeze", "make read-only"]),
    ("assign", ["assign", "hand over", "give somebody the job of"]),
    ("track", ["track", "follow the progress of", "keep an eye on"]),
    ("renew", ["renew", "extend", "prolong"]),
    ("pay", ["pay for", "settle", "transfer the money for"]),
];

/// Things to do it to.
const THINGS: [(&str, [&str; 2]); 40] = [
    ("invoice", ["invoice", "bill"]),
    ("contract", ["contract", "agreement"]),
    ("meeting", ["meeting", "conference"]),
    ("flight", ["flight", "plane ticket"]),
    ("hotel_room", ["hotel room", "place to stay"]),
    ("rental_car", ["rental car", "hire car"]),
    ("train_ticket", ["train ticket", "rail booking"]),
    ("parcel", ["parcel", "package"]),
    ("warehouse", ["warehouse", "depot"]),
    ("purchase_order", ["purchase order", "procurement request"]),
    ("customer", ["customer", "client record"]),
    ("supplier", ["supplier", "vendor"]),
    ("employee", ["employee file", "staff record"]),
    ("payslip", ["payslip", "salary statement"]),
    ("vacation", ["vacation", "leave request"]),
    ("expense_report", ["expense report", "travel costs"]),
    ("training_course", ["training course", "workshop"]),
    ("job_opening", ["job opening", "vacancy"]),
    ("interview", ["interview", "talk with an applicant"]),
    ("laptop", ["laptop", "notebook computer"]),
    ("software_license", ["software license", "product key"]),
    ("server", ["server", "virtual machine"]),
    ("backup", ["backup", "safety copy"]),
    ("password", ["password", "login credential"]),
    ("support_ticket", ["support ticket", "help desk case"]),
    ("bug", ["bug report", "software defect"]),
    ("release", ["release", "new version"]),
    ("budget", ["budget", "spending plan"]),
    ("sales_forecast", ["sales forecast", "revenue outlook"]),
    ("newsletter", ["newsletter", "mailing"]),
    ("survey", ["survey", "questionnaire"]),
    ("photo_album", ["photo album", "picture collection"]),
    ("playlist", ["playlist", "song list"]),
    ("recipe", ["recipe", "cooking instructions"]),
    ("shopping_list", ["shopping list", "list of groceries"]),
    ("doctor_appointment", ["doctor's appointment", "medical visit"]),
    ("prescription", ["prescription", "medication order"]),
    ("insurance_policy", ["insurance policy", "cover"]),
    ("gym_membership", ["gym membership", "fitness subscription"]),
    ("library_book", ["library book", "borrowed novel"]),
];

const CITIES: [&str; 60] = [
    "Amsterdam",
    "Athens",
    "Atlanta",
    "Auckland",
    "Bangkok",
    "Barcelona",
    "Berlin",
    "Boston",
    "Brussels",
    "Bucharest",
    "Budapest",
    "Buenos Aires",
    "Cairo",
    "Cape Town",
    "Chicago",
    "Copenhagen",
    "Dallas",
    "Delhi",
    "Denver",
    "Dubai",
    "Dublin",
    "Edinburgh",
    "Frankfurt",
    "Geneva",
    "Hamburg",
    "Helsinki",
    "Hong Kong",
    "Houston",
    "Istanbul",
    "Jakarta",
    "Lagos",
    "Las Vegas",
    "Lima",
    "Lisbon",
    "London",
    "Los Angeles",
    "Madrid",
    "Melbourne",
    "Mexico City",
    "Miami",
    "Milan",
    "Montreal",
    "Moscow",
    "Mumbai",
    "Munich",
    "Nairobi",
    "New York",
    "Oslo",
    "Paris",
    "Prague",
    "Rio de Janeiro",
    "Rome",
    "San Francisco",
    "Santiago",
    "Seattle",
    "Seoul",
    "Singapore",
    "Stockholm",
    "Sydney",
    "Tokyo",
];

const TEAMS: [(&str, &str); 12] = [
    ("accounting", "the bookkeepers"),
    ("sales", "the sales people"),
    ("marketing", "the campaign team"),
    ("engineering", "the developers"),
    ("human resources", "HR"),
    ("legal", "the lawyers"),
    ("logistics", "the shipping department"),
    ("support", "the help desk"),
    ("research", "R&D"),
    ("management", "the board"),
    ("security", "the guards"),
    ("facilities", "the janitors"),
];

/// `{v}` and `{t}` are the verb and the thing; a slot occurs at most twice per sentence.
const TEMPLATES: [&str; 24] = [
    "{v} the {t}",
    "please {v} my {t} for <city>",
    "I want to {v} a {t} in <city> on <date>",
    "could you {v} the {t} of <team>",
    "{v} <count> {t}s for <team>",
    "can you {v} that {t} by <date>",
    "I need somebody to {v} the {t} called <title>",
    "{v} the <priority> {t} in <city>",
    "it is time to {v} the {t}",
    "how do I {v} a {t} for <team> in <city>",
    "<team> would like to {v} their {t} before <date>",
    "{v} all {t}s with <priority> priority",
    "go ahead and {v} <count> of the {t}s",
    "we should {v} the {t} named <title> on <date>",
    "{v} the {t} from <city>, there are <count>",
    "the {t}: {v} it for me",
    "would you mind if I asked you to {v} the {t} that <team> sent us",
    "for <date>, {v} a {t}",
    "help me {v} the <priority> {t} of <team>",
    "{v} my {t} right now",
    "my boss told me to {v} the {t} for our office in <city>",
    "is it possible to {v} a {t} called <title>",
    "let's {v} the {t} of <date> for <count> people",
    "quickly {v} the {t} in <city> for <team>",
];

/// A pseudo-random number, the same at every run, evenly distributed.
fn pick(seed: &str, below: usize) -> usize {
    let bytes = blake3::hash(seed.as_bytes());
    let number = bytes.as_bytes()[..4].iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
    number % below
}

fn fill(template: &str, verb: &str, thing: &str) -> String {
    template.replace("{v}", verb).replace("{t}", thing)
}

/// Writes a module directory with `count` functions (1,000 at most) and 10 exemplars each: five slots, three of them
/// with list recognizers, one a date, one free text.
pub(crate) fn write_module(directory: &Path, count: usize) -> std::io::Result<()> {
    let (mut functions, mut exemplars) = (Vec::new(), serde_json::Map::new());
    // Things in the outer loop, so that even a few functions share things.
    for (thing, things) in &THINGS {
        for (verb, verbs) in &VERBS {
            if functions.len() == count {
                break;
            }
            let name = format!("{verb}_{thing}");
            let required = ["city", "team", "date"][pick(&name, 3)];
            functions.push(json!({
                "name": name,
                "description": format!("{} a {}, also known as a {}", capitalized(verbs[1]), things[0], things[1]),
                "parameters": {
                    "type": "object",
                    "properties": {
                        "city": {"type": "string", "description": "Where it is"},
                        "team": {"type": "string", "description": "The department that it belongs to"},
                        "priority": {"type": "string", "enum": ["low", "normal", "high", "urgent"]},
                        "date": {"type": "string", "format": "date", "description": "The day that it is about"},
                        "count": {"type": "integer", "minimum": 1, "description": format!("How many {}s", things[0])},
                        "title": {"type": "string", "description": format!("What the {} is called", things[0])},
                    },
                    "required": [required],
                },
            }));
            let start = pick(&name, TEMPLATES.len());
            let shown: Vec<Value> = (0..10)
                .map(|at| {
                    // Five is coprime to the number of templates, so that no two are the same.
                    let template = TEMPLATES[(start + at * 5) % TEMPLATES.len()];
                    json!({"template": fill(template, verbs[at % 3], things[(at / 3) % 2])})
                })
                .collect();
            exemplars.insert(name, shown.into());
        }
    }
    let list = |instances: Vec<Value>| json!({"rec_type": "list", "instances": instances});
    let recognizers = json!({
        "recognizers": {
            "place": list(CITIES.iter().map(|city| json!({"label": city, "expressions": [format!("{city} area"), format!("greater {city}")]})).collect()),
            "department": list(TEAMS.iter().map(|(team, other)| json!({"label": team, "expressions": [other, format!("{team} department")]})).collect()),
            "urgency": list([("low", "unimportant"), ("normal", "usual"), ("high", "important"), ("urgent", "burning")].iter()
                .map(|(label, other)| json!({"label": label, "expressions": [other]})).collect()),
        },
        "slots": {"city": "place", "team": "department", "priority": "urgency"},
    });
    std::fs::create_dir_all(directory)?;
    std::fs::write(directory.join("schema.json"), Value::from(functions).to_string())?;
    std::fs::write(directory.join("exemplars.json"), Value::from(exemplars).to_string())?;
    std::fs::write(directory.join("recognizers.json"), recognizers.to_string())
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// 50 different ones: 44 for some function, with slots filled, and six about nothing in the module.
pub(crate) fn utterances() -> Vec<String> {
    let other = [
        "what is the highest mountain of South America",
        "hi there",
        "tell me a joke about penguins",
        "why is the sky blue and the grass green, and who decided that it should be so in the first place",
        "knock knock",
        "the quick brown fox jumps over the lazy dog",
    ];
    let dates = ["tomorrow", "next Friday", "March 3rd", "24 December 2026", "the day after tomorrow"];
    let priorities = ["urgent", "important", "low", "usual"];
    let counts = ["3", "twelve", "two", "40"];
    let titles = ["Blue Horizon", "spring cleaning", "Q3", "the big one"];
    let one = |number: usize| {
        let of = |what: &str, below: usize| pick(&format!("{what} {number}"), below);
        let (_, verbs) = VERBS[of("verb", VERBS.len())];
        let (_, things) = THINGS[of("thing", THINGS.len())];
        fill(TEMPLATES[number % TEMPLATES.len()], verbs[of("wording", 3)], things[of("name", 2)])
            .replace("<city>", CITIES[of("city", CITIES.len())])
            .replace("<team>", TEAMS[of("team", TEAMS.len())].1)
            .replace("<date>", dates[of("date", dates.len())])
            .replace("<priority>", priorities[of("priority", priorities.len())])
            .replace("<count>", counts[of("count", counts.len())])
            .replace("<title>", titles[of("title", titles.len())])
    };
    (0..44).map(one).chain(other.map(str::to_owned)).collect()
}
