use proptest::prelude::*;

use crate::recognize::reply::*;

/// (question, replies, answer). Written by hand, and corrected together with the tables.
type Labelled = (&'static str, &'static [&'static str], YesNo);

const SURE: &str = "Are you sure you want the white one?";
const CHEESE: &str = "Would you like extra cheese on your pizza?";
const CONFIRM: &str = "I have two lasagnas for delivery. Is that correct?";
const CANCEL: &str = "Do you really want to cancel your order?";
const ELSE: &str = "Can I get you anything else?";
const WAIT: &str = "Is it ok if it takes 40 minutes?";

const ENGLISH: &[Labelled] = &[
    (
        SURE,
        &[
            "yes",
            "Yes, absolutely.",
            "yeah",
            "yep!",
            "yup i'm sure",
            "i am",
            "of course",
            "of course i am",
            "definitely",
            "definately",
            "absolutly",
            "yesss",
            "yees",
            "i'm positive",
            "100 percent",
            "you bet",
            "sure thing",
            "certainly",
            "the white one",
            "white please",
            "yes the white one please",
            "i want the white one",
            "indeed i am",
            "👍",
            "hell yeah",
            "without a doubt",
            "affirmative",
            "i said yes",
            "the white one, yes",
            "y",
            "yes i am sure",
            "i guess so",
            "i think so",
            "pretty much",
            "yes, white",
            "aye",
            "mhm",
            "i am quite sure",
        ],
        YesNo::Affirmative,
    ),
    (
        SURE,
        &[
            "no",
            "nope",
            "nah",
            "no way",
            "not really",
            "i'm not",
            "no i'm not",
            "i am not",
            "absolutely not",
            "not at all",
            "no thanks",
            "not the white one",
            "i don't want the white one",
            "i changed my mind",
            "never",
            "no, cancel that",
            "hell no",
            "definitely not",
            "that's not what i want",
            "n",
            "noooo",
            "wrong",
            "i don't want it",
            "👎",
            "no wait, not white",
            "forget it",
            "i don't think so",
            "probably not",
            "sorry, no",
        ],
        YesNo::Negative,
    ),
    (
        SURE,
        &[
            "whatever",
            "i don't care",
            "doesn't matter",
            "either is fine",
            "up to you",
            "you choose",
            "no preference",
            "it makes no difference to me",
            "idc",
        ],
        YesNo::Indifferent,
    ),
    (
        SURE,
        &[
            "the black one please",
            "i'd rather have the black one",
            "black",
            "what colors do you have?",
            "where is my order",
            "how much is it",
            "i don't know",
            "maybe",
            "let me think",
            "what do you mean",
            "is there a red one",
            "book a table for four",
            "hmm",
            "something else please",
            "i'm not sure",
            "what?",
        ],
        YesNo::Irrelevant,
    ),
    (
        CHEESE,
        &[
            "yes please",
            "i would",
            "i'd love some",
            "sure",
            "ok",
            "okay great",
            "why not",
            "sounds good",
            "that would be lovely",
            "please",
            "yes, extra cheese",
            "extra cheese please",
            "i'd like extra cheese",
            "go ahead",
            "yeah sure why not",
            "yes but make it two",
            "sure, and add a coke",
            "yes i do",
            "no problem",
            "fine by me",
            "ok then",
            "gladly",
            "definitely yes",
            "i suppose so",
            "yeah i guess",
            "yes plz",
            "oh yes",
            "i'd like that",
            "alright",
            "well yes",
            "yes and some olives too",
            "cheese yes",
            "perfect",
            "thank you, yes",
            "sure whatever",
        ],
        YesNo::Affirmative,
    ),
    (
        CHEESE,
        &[
            "no thank you",
            "i'm good",
            "no i wouldn't",
            "no cheese",
            "no cheese please",
            "not today",
            "i'd rather not",
            "none for me",
            "no need",
            "i'll pass",
            "no, i don't like cheese",
            "without cheese",
            "i don't eat cheese",
            "nah i'm fine",
            "no but add olives",
            "i'm good thanks",
            "maybe not",
            "nothing thanks",
            "no make it spicy instead",
            "please don't",
            "never mind",
            "nay",
            "no, thats fine",
            "not for me thanks",
            "i guess not",
            "thanks but no thanks",
        ],
        YesNo::Negative,
    ),
    (
        CHEESE,
        &[
            "i don't mind",
            "whatever you recommend",
            "i'm easy",
            "as you like",
            "surprise me",
            "anything is fine",
            "don't care",
            "it's up to you",
            "whatever works",
            "i'm not fussy",
        ],
        YesNo::Indifferent,
    ),
    (
        CHEESE,
        &[
            "no onions",
            "two pizzas",
            "can you make it spicy",
            "how much does that cost?",
            "is it vegan?",
            "with mushrooms",
            "tell me a joke",
            "i want mushrooms",
            "where are you located",
            "cancel order 48213 please",
            "it depends",
            "make it a large one",
            "who won the match last night",
        ],
        YesNo::Irrelevant,
    ),
    (
        CONFIRM,
        &[
            "that's right",
            "correct",
            "right",
            "exactly",
            "it is",
            "yes it is",
            "that is correct",
            "looks good",
            "perfect, thanks",
            "that's it",
            "all good",
            "confirmed",
            "yes that's right",
            "spot on",
            "great",
            "ok go ahead",
            "true",
            "yes two lasagnas",
            "actually yes",
            "no wait, yes",
            "corect",
            "yes, but for pickup",
            "that is right",
        ],
        YesNo::Affirmative,
    ),
    (
        CONFIRM,
        &[
            "that's wrong",
            "that's not right",
            "it isn't",
            "no it's not",
            "incorrect",
            "that is not correct",
            "not quite",
            "no, three lasagnas",
            "yes... no wait, that's wrong",
            "no make it three",
            "that isn't right",
            "nope for pickup",
        ],
        YesNo::Negative,
    ),
    (
        CONFIRM,
        &["three lasagnas", "for pickup", "when will it arrive?", "i need to check", "add a tiramisu"],
        YesNo::Irrelevant,
    ),
    (
        CANCEL,
        &["cancel it", "yes cancel", "i do", "please do", "yes cancel it please", "go ahead and cancel it", "do it"],
        YesNo::Affirmative,
    ),
    (
        CANCEL,
        &[
            "don't",
            "don't cancel it",
            "no don't",
            "please don't cancel",
            "no, keep it",
            "i don't want to cancel",
            "do not cancel my order",
        ],
        YesNo::Negative,
    ),
    (
        ELSE,
        &[
            "that's all",
            "no that's all",
            "that's it for now",
            "nothing else",
            "no i'm fine",
            "i'm done",
            "that will be all, thanks",
        ],
        YesNo::Negative,
    ),
    (ELSE, &["a coke please", "two lemonades", "what desserts do you have"], YesNo::Irrelevant),
    (
        WAIT,
        &[
            "that's fine",
            "no problem",
            "works for me",
            "fine",
            "it's ok",
            "no worries",
            "i can live with it, yes",
            "not a problem",
        ],
        YesNo::Affirmative,
    ),
    (WAIT, &["that's too long, no", "it's not ok", "no that is not ok"], YesNo::Negative),
    ("Don't you want cheese?", &["no I don't", "no", "i don't"], YesNo::Negative),
    ("Don't you want cheese?", &["yes i do", "i do", "sure i do"], YesNo::Affirmative),
    ("You don't want cheese?", &["no i don't", "right", "correct, no cheese"], YesNo::Affirmative),
    ("You don't want cheese?", &["yes i do", "i do"], YesNo::Negative),
    (
        "Do you mind if it takes an hour?",
        &["go ahead", "not at all", "no", "no problem", "i don't mind", "that's fine"],
        YesNo::Negative,
    ),
    ("Do you mind if it takes an hour?", &["yes i do", "i do mind"], YesNo::Affirmative),
    ("Delivery or pickup?", &["delivery", "pickup please"], YesNo::Irrelevant),
    ("Delivery or pickup?", &["either one", "both are fine"], YesNo::Indifferent),
];

#[test]
fn english_replies_say_what_people_mean_by_them() {
    let mut wrong = Vec::new();
    for answer in YesNo::ALL {
        let of_class = || ENGLISH.iter().filter(|(.., label)| *label == answer);
        let replies = of_class().map(|(_, replies, _)| replies.len()).sum::<usize>();
        let mut missed = 0;
        for (question, replies, _) in of_class() {
            for reply in *replies {
                let read = read("en", Some(question), reply);
                if read.answer != answer {
                    missed += 1;
                    wrong.push(format!("{question} {reply:?}: {} instead of {}", read.answer.name(), answer.name()));
                }
            }
        }
        assert!(replies >= 15, "{}: {replies}", answer.name());
        assert!(missed * 50 <= replies, "{}: {missed} of {replies}: {wrong:#?}", answer.name());
    }
}

#[test]
fn other_languages_have_their_yes_and_no() {
    for (language, question, replies) in [
        (
            "de",
            "Möchten Sie extra Käse?",
            &[
                ("ja bitte", YesNo::Affirmative),
                ("na klar", YesNo::Affirmative),
                ("gerne", YesNo::Affirmative),
                ("ja, aber ohne Oliven", YesNo::Affirmative),
                ("nein danke", YesNo::Negative),
                ("nee", YesNo::Negative),
                ("lieber nicht", YesNo::Negative),
                ("auf keinen Fall", YesNo::Negative),
                ("ist mir egal", YesNo::Indifferent),
                ("weiß nicht", YesNo::Irrelevant),
                ("wo ist meine Bestellung?", YesNo::Irrelevant),
                ("kein Käse", YesNo::Negative),
            ][..],
        ),
        (
            "es",
            "¿Quiere queso extra?",
            &[
                ("sí", YesNo::Affirmative),
                ("claro que sí", YesNo::Affirmative),
                ("por supuesto", YesNo::Affirmative),
                ("no, gracias", YesNo::Negative),
                ("no", YesNo::Negative),
                ("mejor no", YesNo::Negative),
                ("me da igual", YesNo::Indifferent),
                ("no sé", YesNo::Irrelevant),
                ("¿dónde está mi pedido?", YesNo::Irrelevant),
            ],
        ),
        (
            "fr",
            "Voulez-vous plus de fromage ?",
            &[
                ("oui", YesNo::Affirmative),
                ("bien sûr", YesNo::Affirmative),
                ("d'accord", YesNo::Affirmative),
                ("non merci", YesNo::Negative),
                ("pas du tout", YesNo::Negative),
                ("ça m'est égal", YesNo::Indifferent),
                ("peu importe", YesNo::Indifferent),
                ("je ne sais pas", YesNo::Irrelevant),
                ("où est ma commande ?", YesNo::Irrelevant),
            ],
        ),
        (
            "ja",
            "チーズを追加しますか",
            &[
                ("はい", YesNo::Affirmative),
                ("はい、お願いします", YesNo::Affirmative),
                ("もちろんです", YesNo::Affirmative),
                ("いいえ", YesNo::Negative),
                ("いいえ、結構です", YesNo::Negative),
                ("いりません", YesNo::Negative),
                ("はい、でも二つにしてください", YesNo::Affirmative),
                ("やっぱりやめます", YesNo::Negative),
                ("いいえ、違います。三つです", YesNo::Negative),
                ("いや、間違えました、2-2-3です", YesNo::Negative),
                ("渋谷区です", YesNo::Irrelevant),
                ("田中太郎と申します", YesNo::Irrelevant),
                ("どちらでもいいです", YesNo::Indifferent),
                ("わかりません", YesNo::Irrelevant),
                ("注文はどこですか", YesNo::Irrelevant),
            ],
        ),
    ] {
        for (reply, answer) in replies {
            assert_eq!(read(language, Some(question), reply).answer, *answer, "{language} {reply}");
        }
    }
}

#[test]
fn what_was_said_beside_the_answer_is_kept() {
    for (question, reply, rest) in [
        (CHEESE, "yes but make it two", Some("make it two")),
        (CHEESE, "Sure, and add a coke please", Some("add a coke")),
        (CHEESE, "no make it spicy instead", Some("make it spicy instead")),
        (CONFIRM, "yes, two lasagnas for pickup", Some("two lasagnas for pickup")),
        (CONFIRM, "no, three", Some("three")),
        (SURE, "the white one, yes", Some("the white one")),
        (SURE, "the black one please", Some("the black one")),
        (SURE, "yes please, thanks", None),
        (SURE, "no", None),
    ] {
        let read = read("en", Some(question), reply);
        let said = |span: Span| reply.chars().skip(span.start).take(span.len()).collect::<String>();
        assert_eq!(read.rest.map(said).as_deref(), rest, "{reply}");
    }
}

#[test]
fn no_question_is_still_answered() {
    for (reply, answer) in [
        ("yes", YesNo::Affirmative),
        ("no thanks", YesNo::Negative),
        ("either", YesNo::Indifferent),
        ("the black one", YesNo::Irrelevant),
        ("", YesNo::Irrelevant),
        ("?!", YesNo::Irrelevant),
    ] {
        assert_eq!(read("en", None, reply).answer, answer, "{reply}");
    }
}

#[test]
fn doubtful_replies_are_unsure() {
    for (question, reply) in [
        ("You don't want cheese?", "no"),
        (SURE, "yes no"),
        (SURE, "the black one please"),
        ("Do you mind if it takes an hour?", "yes go ahead"),
        (ELSE, "flibbertigibbet"),
    ] {
        assert!(read("en", Some(question), reply).confidence < 0.75, "{reply}");
    }
    assert!(read("en", Some(SURE), "yes").confidence > 0.9);
}

proptest! {
    #[test]
    fn any_reply_is_read(
        language in "en|de|es|fr|ja|xx",
        question in prop::option::of("\\PC{0,40}"),
        pieces in prop::collection::vec("yes|no|not|i|do|don't|but|want|the|white|either|[.,?!]|👍|はい|\\PC{0,4}", 0..12),
    ) {
        let reply = pieces.join(" ");
        let read = read(&language, question.as_deref(), &reply);
        prop_assert!((0.0..=1.0).contains(&read.confidence));
        if let Some(rest) = read.rest {
            prop_assert!(rest.start < rest.end && rest.end <= reply.chars().count());
        }
    }

    #[test]
    fn case_and_outer_space_change_nothing(reply in "(yes|no|sure|not really|i do|whatever)( please| but make it two)?") {
        let plain = read("en", Some(CHEESE), &reply);
        let loud = read("en", Some(CHEESE), &format!("  {} ", reply.to_uppercase()));
        prop_assert_eq!(plain.answer, loud.answer);
    }
}
