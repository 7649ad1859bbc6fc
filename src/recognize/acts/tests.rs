use proptest::prelude::*;

use crate::recognize::acts::*;

/// A short form of what is read: the moves, with `?` on those that must not be acted on, and the other words behind
/// `|`.
fn shown(language: &str, text: &str) -> String {
    let read = read(language, text);
    let said = |span: Span| text.chars().skip(span.start).take(span.len()).collect::<String>();
    let moves: Vec<String> = read
        .moves
        .iter()
        .map(|one| {
            let kind = match one.kind {
                MoveKind::Change { what, to: Some(to) } => format!("Change({} > {})", said(what), said(to)),
                MoveKind::Change { what, to: None } => format!("Change({})", said(what)),
                MoveKind::Replace { old, new } => format!("Replace({} > {})", said(old), said(new)),
                MoveKind::Remove { what } => format!("Remove({})", said(what)),
                MoveKind::Portion { count, rest } => format!("Portion({}: {})", said(count), said(rest)),
                MoveKind::Pick(Pick::Nth(number)) => format!("{number}"),
                MoveKind::Pick(pick) => format!("{pick:?}"),
                kind => format!("{kind:?}"),
            };
            if one.confidence < ACTS { format!("{kind}?") } else { kind }
        })
        .collect();
    let rest = read.rest.map(|rest| format!("| {}", said(rest)));
    moves.into_iter().chain(rest).collect::<Vec<_>>().join(" ")
}

fn check(language: &str, table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(text, expected)| (text, expected, shown(language, text)))
        .filter(|(_, expected, shown)| *expected != shown)
        .map(|(text, expected, shown)| format!("{text}\n  expected {expected}\n  read     {shown}"))
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Checks texts that only give a value, or that ask for a function.
fn no_moves(language: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(shown(language, text), format!("| {text}"), "{language}");
    }
}

#[test]
fn english_cancels_and_starts_over() {
    check(
        "en",
        &[
            ("cancel", "Cancel"),
            ("oh, uhm, please cancel that, thanks", "Cancel"),
            ("Never mind!", "Cancel"),
            ("forget it, where is my parcel?", "Cancel | where is my parcel?"),
            ("stop, I don't want this any more", "Cancel Cancel"),
            ("drop that", "Cancel"),
            ("I want to cancel everything", "Cancel"),
            ("can you call it off", "Cancel"),
            ("cancel it and start over", "Cancel Restart"),
            ("can I cancel my order AB123456?", "Cancel? | my order AB123456?"),
            ("cancel my order AB123456", "Cancel? | my order AB123456"),
            ("start over", "Restart"),
            ("no, let's begin again", "Restart"),
            ("reset everything please", "Restart"),
            ("let's start from scratch", "Restart"),
        ],
    );
}

#[test]
fn english_leaves_open() {
    check(
        "en",
        &[
            ("I don't know", "Unknown"),
            ("no idea, sorry", "Unknown"),
            ("hmm, not sure", "Unknown"),
            ("I don't know my order number", "Unknown | my order number"),
            ("skip", "Skip"),
            ("skip that one please", "Skip"),
            ("leave that empty", "Skip"),
            ("doesn't matter", "Skip"),
            ("no preference", "Skip"),
            ("whatever", "Skip"),
            ("none", "Skip"),
            ("pass", "Skip"),
            ("I don't have one", "Skip"),
            ("not sure, maybe 9", "Unknown? | 9"),
            ("doesn't matter, the black one", "Skip? | the black one"),
        ],
    );
}

#[test]
fn english_corrects() {
    check(
        "en",
        &[
            ("no, I meant 9", "Correct | 9"),
            ("actually make it black", "Correct | black"),
            ("sorry, 10", "Correct | 10"),
            ("sorry 10", "Correct | 10"),
            ("I mean 9", "Correct | 9"),
            ("rather black", "Correct | black"),
            ("black instead", "Correct | black"),
            ("wait, the address is 5 Main Street", "Correct | the address is 5 Main Street"),
            ("no wait, 10", "Correct | 10"),
            ("yes but make it two", "Correct | two"),
            ("yes, make it two", "Correct | two"),
            ("change it to black", "Correct | black"),
            ("9, sorry, 10", "Correct | 9, sorry, 10"),
            ("actually the second one", "Correct 2"),
            ("actually, when do you close?", "Correct? | when do you close?"),
        ],
    );
}

#[test]
fn english_changes_what_is_named() {
    check(
        "en",
        &[
            ("change the city to Rome", "Change(city > Rome)"),
            ("set size to 9", "Change(size > 9)"),
            ("the size should be 9", "Change(size > 9)"),
            ("can you change my email?", "Change(email)"),
            ("my email is wrong", "Change(email)"),
            ("change the e-mail to jane-doe@example.com please", "Change(e-mail > jane-doe@example.com)"),
            ("change the size from 8 to 9", "Change(size > 9)"),
            ("change the size to 9 and the city to Rome", "Change(size > 9) Change(city > Rome)"),
            ("change the address to 1 High Street, Leeds", "Change(address > 1 High Street) | Leeds"),
            ("not 9 but 10", "Replace(9 > 10)"),
            ("not 9, but 10", "Replace(9 > 10)"),
            ("9 instead of 8", "Replace(8 > 9)"),
            ("I'd like cheese instead of olives please", "Replace(olives > cheese)"),
            ("swap the cola for a beer", "Replace(cola > a beer)"),
            ("replace the olives with cheese", "Replace(olives > cheese)"),
            ("remove the olives", "Remove(olives)"),
            ("actually, remove the olives", "Remove(olives)"),
            ("take the coke off", "Remove(coke)"),
            ("without the phone number", "Remove(phone number)"),
            ("leave out the second pizza", "Remove(second pizza)"),
            ("drop the wine", "Remove(wine)"),
            ("forget the phone number", "Remove(phone number)"),
            ("no olives any more", "Remove(olives)"),
            ("I don't want the olives any more", "Remove(olives)"),
            ("remove the olives from the pizza", "Remove(olives) | from the pizza"),
            ("remove the olives, the onions and the cheese please", "Remove(olives, the onions and the cheese)"),
            ("please remove the olives and add two cokes", "Remove(olives) Add | two cokes"),
            ("a pizza without onions", "Remove(onions)? | a pizza"),
            ("never mind the taxi", "Remove(taxi)?"),
        ],
    );
}

#[test]
fn english_adds_and_picks() {
    check(
        "en",
        &[
            ("also a coke", "Add | a coke"),
            ("and another", "Add"),
            ("add two cokes", "Add | two cokes"),
            ("a beer as well", "Add | a beer"),
            ("the second one", "2"),
            ("I'll take the second one please", "2"),
            ("the second", "2"),
            ("the 3rd option", "3"),
            ("number two", "2"),
            ("option b", "2"),
            ("2.", "2?"),
            ("the last one", "Last"),
            ("the first", "1"),
            ("both", "Both"),
            ("both and a coke", "Both Add | a coke"),
            ("all of them", "All"),
            ("none of them", "None"),
            ("either", "Either"),
            ("the other one", "Other"),
            ("two pizzas, one of them large", "Portion(one: large) | two pizzas"),
            ("two pizzas, one of them is large, thanks", "Portion(one: large) | two pizzas"),
        ],
    );
}

#[test]
fn english_goes_back() {
    check(
        "en",
        &[
            ("back to my order", "Resume"),
            ("where were we?", "Resume"),
            ("ok, let's go on", "Resume"),
            ("continue", "Resume"),
            ("what do you have so far?", "Recall"),
            ("what did I order?", "Recall"),
            ("can you repeat that?", "Recall"),
            ("sum it up", "Recall"),
            ("yes", ""),
            ("no, thanks", ""),
            ("", ""),
            ("?!", ""),
        ],
    );
}

#[test]
fn english_values_are_no_moves() {
    no_moves(
        "en",
        &[
            "Jane Austin",
            "next Friday",
            "cancel culture documentary",
            "Stop & Shop",
            "Skip Gates",
            "Pass Christian, Mississippi",
            "the second of May",
            "second street",
            "size 2",
            "The Last Supper",
            "First National Bank",
            "5 Another Road",
            "take me to the station",
            "I want to go back to London",
            "change trains in Leeds",
            "call me back on Friday",
            "a pizza with all the toppings",
            "don't cancel my order",
            "don't stop believing",
            "don't change the size to 9",
            "drop the parcel off at the door",
            "not only cheese",
            "both sides of the road",
            "either side",
            "I'd rather",
            "no olives",
            "anything but Tuesday",
            "all day",
            "that's all",
            "set up a transfer to Jane",
            "what do you have on the menu?",
            "Never Let Me Go",
            "9",
        ],
    );
}

#[test]
fn german() {
    check(
        "de",
        &[
            ("abbrechen", "Cancel"),
            ("äh, bitte vergiss es, danke", "Cancel"),
            ("vergiss es, wo ist mein Paket?", "Cancel | wo ist mein Paket?"),
            ("storniere meine Bestellung AB123", "Cancel? | meine Bestellung AB123"),
            ("lass uns von vorne anfangen", "Restart"),
            ("ich weiß nicht", "Unknown"),
            ("keine Ahnung", "Unknown"),
            ("überspringen", "Skip"),
            ("ist mir egal", "Skip"),
            ("nein, ich meinte 9", "Correct | 9"),
            ("Moment, 10", "Correct | 10"),
            ("eigentlich lieber schwarz", "Correct | schwarz"),
            ("ändere die Stadt auf Rom", "Change(Stadt > Rom)"),
            ("ich möchte die Stadt auf Rom ändern", "Change(Stadt > Rom)"),
            ("die Größe soll 9 sein", "Change(Größe > 9)"),
            ("nicht 9, sondern 10", "Replace(9 > 10)"),
            ("9 statt 8", "Replace(8 > 9)"),
            ("ersetze die Oliven durch Käse", "Replace(Oliven > Käse)"),
            ("die Oliven bitte weglassen", "Remove(Oliven)"),
            ("lass die Oliven weg", "Remove(Oliven)"),
            ("ohne die Telefonnummer", "Remove(Telefonnummer)"),
            ("auch noch eine Cola", "Add | eine Cola"),
            ("noch eine Cola", "Add | eine Cola"),
            ("die zweite", "2"),
            ("die 2. bitte", "2"),
            ("keine davon", "None"),
            ("beide", "Both"),
            ("zwei Pizzen, eine davon groß", "Portion(eine: groß) | zwei Pizzen"),
            ("machen wir weiter", "Resume"),
            ("was habe ich bestellt?", "Recall"),
        ],
    );
    no_moves(
        "de",
        &["am zweiten Mai", "Zweite Straße 5", "Stopp & Go", "storniere meine Bestellung nicht", "noch nicht", "Jana"],
    );
}

#[test]
fn french() {
    check(
        "fr",
        &[
            ("annulez", "Cancel"),
            ("euh, laisse tomber s'il vous plaît", "Cancel"),
            ("oubliez ça, où est mon colis ?", "Cancel | où est mon colis ?"),
            ("annulez ma commande AB123", "Cancel? | ma commande AB123"),
            ("recommençons depuis le début", "Restart"),
            ("je ne sais pas", "Unknown"),
            ("passez cette question", "Skip"),
            ("peu importe", "Skip"),
            ("non, je voulais dire 9", "Correct | 9"),
            ("en fait noir", "Correct | noir"),
            ("changez la ville en Rome", "Change(ville > Rome)"),
            ("l’adresse devrait être 5 rue de la Paix", "Change(adresse > 5 rue de la Paix)"),
            ("pas 9 mais 10", "Replace(9 > 10)"),
            ("9 au lieu de 8", "Replace(8 > 9)"),
            ("remplacez les olives par du fromage", "Replace(olives > du fromage)"),
            ("enlevez l'oignon", "Remove(oignon)"),
            ("sans les olives", "Remove(olives)"),
            ("ajoutez deux cocas", "Add | deux cocas"),
            ("la deuxième", "2"),
            ("le dernier", "Last"),
            ("aucune des deux", "None"),
            ("n'importe lequel", "Either"),
            ("deux pizzas, une d'entre elles grande", "Portion(une: grande) | deux pizzas"),
            ("revenons à ma commande", "Resume"),
            ("qu'est-ce que j'ai commandé ?", "Recall"),
        ],
    );
    no_moves("fr", &["le deux mai", "rue du Premier Mai", "n'annulez pas ma commande", "Jeanne Dupont", "12 rue Stop"]);
}

#[test]
fn spanish() {
    check(
        "es",
        &[
            ("cancela", "Cancel"),
            ("eh, olvídalo, por favor", "Cancel"),
            ("olvídalo, ¿dónde está mi paquete?", "Cancel | dónde está mi paquete?"),
            ("cancela mi pedido AB123", "Cancel? | mi pedido AB123"),
            ("empecemos de nuevo", "Restart"),
            ("no sé", "Unknown"),
            ("sáltalo", "Skip"),
            ("me da igual", "Skip"),
            ("no, quería decir 9", "Correct | 9"),
            ("en realidad negro", "Correct | negro"),
            ("cambia la ciudad a Roma", "Change(ciudad > Roma)"),
            ("la talla debería ser 9", "Change(talla > 9)"),
            ("no 9 sino 10", "Replace(9 > 10)"),
            ("9 en vez de 8", "Replace(8 > 9)"),
            ("cambia la cola por una cerveza", "Replace(cola > una cerveza)"),
            ("quita las aceitunas", "Remove(aceitunas)"),
            ("sin el teléfono", "Remove(teléfono)"),
            ("añade dos colas", "Add | dos colas"),
            ("la segunda", "2"),
            ("el último", "Last"),
            ("ninguno de ellos", "None"),
            ("cualquiera", "Either"),
            ("dos pizzas, una de ellas grande", "Portion(una: grande) | dos pizzas"),
            ("volvamos a mi pedido", "Resume"),
            ("¿qué he pedido hasta ahora?", "Recall"),
        ],
    );
    no_moves(
        "es",
        &["el segundo de mayo", "no canceles mi pedido", "Juana Ruiz", "calle Primera 3", "el próximo viernes"],
    );
}

#[test]
fn japanese() {
    check(
        "ja",
        &[
            ("キャンセル", "Cancel"),
            ("えっと、キャンセルしてください", "Cancel"),
            ("やっぱりやめます", "Cancel"),
            ("注文をキャンセルしたい", "Cancel? | 注文"),
            ("最初からやり直して", "Restart"),
            ("わかりません", "Unknown"),
            ("スキップしてください", "Skip"),
            ("なんでもいいです", "Skip"),
            ("やっぱり黒", "Correct | 黒"),
            ("いいえ、間違えました、10です", "Correct | 10"),
            ("9じゃなくて10", "Replace(9 > 10)"),
            ("9ではなく、10でお願いします", "Replace(9 > 10)"),
            ("サイズを9に変えて", "Change(サイズ > 9)"),
            ("住所を変更したい", "Change(住所)"),
            ("オリーブを抜いてください", "Remove(オリーブ)"),
            ("かばんを外して", "Remove(かばん)"),
            ("オリーブをチーズに取り替えて", "Replace(オリーブ > チーズ)"),
            ("あとコーラを二つ", "Add | コーラを二つ"),
            ("2番目でお願いします", "2"),
            ("二つ目の方", "2"),
            ("最後の", "Last"),
            ("どちらでもいいです", "Either"),
            ("どれもいりません", "None"),
            ("ピザを二枚、そのうち一枚はLサイズ", "Portion(一: Lサイズ) | ピザを二枚"),
            ("注文に戻って", "Resume"),
            ("注文内容を教えて", "Recall"),
        ],
    );
    no_moves(
        "ja",
        &[
            "五月二日",
            "さかな",
            "かばん",
            "二番町",
            "明日の午後三時",
            "キャンセルしないで",
            "何がありますか",
            "山田花子",
        ],
    );
}

#[test]
fn other_languages_are_read_as_english() {
    assert_eq!(shown("fi", "never mind"), "Cancel");
    assert_eq!(shown("en-GB", "never mind"), "Cancel");
    assert_eq!(shown("de_AT", "vergiss es"), "Cancel");
}

/// A cue contains the words of the move, and nothing of what the move is about.
#[test]
fn cues_are_the_words_themselves() {
    for (text, expected) in [
        ("yes but make it two", "make it"),
        ("no, I meant 9", "I meant"),
        ("change the city to Rome", "change"),
        ("the size should be 9", "should be"),
        ("9 instead of 8", "instead of"),
        ("can you please cancel that", "cancel that"),
    ] {
        let read = read("en", text);
        let cues: Vec<String> =
            read.moves.iter().map(|one| text.chars().skip(one.cue.start).take(one.cue.len()).collect()).collect();
        assert_eq!(cues, [expected], "{text}");
    }
}

#[test]
fn a_long_text_is_read_in_no_time() {
    let texts = ["remove the a and the b and change the c, not d but e, actually one of them f ", "sorry ", "can you "];
    for text in texts {
        let started = std::time::Instant::now();
        let read = read("en", &text.repeat(4_000));
        assert_eq!(read.moves.is_empty(), !text.starts_with("remove"), "{text}");
        assert!(started.elapsed().as_secs() < 10, "{text}: {:?}", started.elapsed());
    }
}

/// A text made of words that occur in moves.
fn words_of_moves() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "cancel",
        "that",
        "not",
        "but",
        "9",
        "the",
        "second",
        "one",
        "of",
        "them",
        "change",
        "to",
        "remove",
        "and",
        ",",
        ".",
        "?",
        "without",
        "actually",
        "sorry",
        "instead",
        "please",
        "no",
        "yes",
        "add",
        "2.",
        "l'autre",
        "d'",
        "nicht",
        "sondern",
        "statt",
        "ohne",
        "weg",
        "auf",
        "ändern",
        "を",
        "に",
        "変えて",
        "の",
        "じゃなくて",
        "か",
        "つ",
        "二",
        "👍",
        "-",
        "au lieu de",
        "par",
        "en vez de",
        "sin",
        "la",
    ]);
    (prop::collection::vec(words, 0..16), prop::sample::select(vec![" ", ""])).prop_map(|(words, gap)| words.join(gap))
}

proptest! {
    #[test]
    fn spans_lie_in_the_text_and_in_order(
        text in prop_oneof![words_of_moves(), "\\PC{0,60}", "[\\x00-\\u{10FFFF}]{0,30}"],
        language in prop::sample::select(vec!["en", "de", "es", "fr", "ja", "xx", ""]),
    ) {
        let length = text.chars().count();
        let read = read(language, &text);
        let holds = |span: Span| !span.is_empty() && span.end <= length;
        let mut before = 0;
        for one in &read.moves {
            prop_assert!(holds(one.cue) && one.cue.start >= before, "{text} {one:?}");
            prop_assert!((0.0..=1.0).contains(&one.confidence));
            before = one.cue.end;
            let named = match one.kind {
                MoveKind::Change { what, to } => vec![Some(what), to],
                MoveKind::Replace { old, new } => vec![Some(old), Some(new)],
                MoveKind::Remove { what } => vec![Some(what)],
                MoveKind::Portion { rest, .. } => vec![Some(rest)],
                _ => Vec::new(),
            };
            for span in named.into_iter().flatten() {
                prop_assert!(holds(span) && !span.overlaps(one.cue), "{text} {one:?}");
            }
            if let MoveKind::Pick(Pick::Nth(number)) = one.kind {
                prop_assert!(number > 0);
            }
        }
        prop_assert!(read.rest.is_none_or(holds), "{text} {read:?}");
    }

    #[test]
    fn moves_survive_politeness(
        before in prop::sample::select(vec!["", "please ", "oh, ", "uhm, well, ", "ok, ", "no, ", "yes, ", "could you "]),
        said in prop::sample::select(vec![
            "cancel that", "start over", "skip that", "remove the olives", "change the size to 9", "the second one",
            "repeat that", "none of them", "swap the cola for a beer",
        ]),
        behind in prop::sample::select(vec!["", " please", ", thanks", ", please!", ". Thank you very much.", " now"]),
    ) {
        let polite = format!("{before}{said}{behind}");
        prop_assert_eq!(shown("en", &polite), shown("en", said), "{}", polite);
    }

    #[test]
    fn case_and_outer_space_change_nothing(said in prop::sample::select(vec!["cancel", "the second one", "skip that"])) {
        let loud = format!("  {} ", said.to_uppercase());
        prop_assert_eq!(shown("en", &loud), shown("en", said));
    }
}

#[test]
fn things_are_left_as_they_are() {
    for (language, texts) in [
        ("en", &["leave it as it is", "no, leave it as it is", "actually no, keep it", "better not after all"][..]),
        ("de", &["nein, lassen Sie es so", "lieber nicht", "dann doch lieber nicht", "ach, es bleibt so wie es ist"]),
        ("es", &["no, déjalo como está", "mejor no", "al final no"]),
        ("fr", &["non, laissez comme ça", "finalement non", "il vaut mieux pas"]),
        ("ja", &["いいえ、そのままで", "やめておきます"]),
    ] {
        for text in texts {
            assert!(shown(language, text).contains("Keep"), "{language}: {text}: {}", shown(language, text));
        }
    }
}

#[test]
fn what_is_not_to_be_told_is_skipped() {
    for text in ["I'd rather not say", "I'd rather not", "I don't want to say", "I prefer not to say", "skip", "dunno"]
    {
        let read = shown("en", text);
        assert!(read == "Skip" || read == "Unknown", "{text}: {read}");
    }
}

#[test]
fn courtesies_are_nothing_else() {
    use Courtesy::{Acknowledgement, Farewell, Greeting, Introduction, Praise, Thanks};
    for (language, text, expected) in [
        ("en", "Hello!", Some(Greeting)),
        ("en", "hi there, how are you?", Some(Greeting)),
        ("en", "Thanks a lot, that's all. Bye!", Some(Thanks)),
        ("en", "ok great, thank you for your help", Some(Thanks)),
        ("en", "goodbye", Some(Farewell)),
        ("en", "ok, perfect", Some(Praise)),
        ("en", "ok, right", Some(Acknowledgement)),
        ("en", "no thanks", Some(Thanks)),
        ("en", "Good morning, I am Samuel Okafor. Nice to meet you", Some(Introduction)),
        ("en", "hello, I'm Priya!", Some(Introduction)),
        ("en", "hey, my name is tom", Some(Introduction)),
        ("en", "thanks, I'm Priya", None),
        ("en", "I'm Priya", None),
        ("en", "hello, I'm hungry", None),
        ("en", "hi, I'm Priya and I need shoes", None),
        ("en", "hi, my name is on the guest list for tonight", None),
        ("en", "hi, this is", None),
        ("de", "Guten Tag, mein Name ist Vogel", Some(Introduction)),
        ("de", "hallo, ich bin Anna, freut mich", Some(Introduction)),
        ("de", "hallo, ich bin hungrig", None),
        ("es", "hola, soy Lucía Gómez", Some(Introduction)),
        ("fr", "bonjour, je m'appelle Zoé", Some(Introduction)),
        ("ja", "こんにちは、私の名前は田中です", Some(Introduction)),
        ("en", "hi, I'd like a pizza", None),
        ("en", "thank Mary for me", None),
        ("en", "good morning alarm", None),
        ("en", "cancel that, thanks", None),
        ("de", "Guten Tag!", Some(Greeting)),
        ("de", "Vielen Dank, tschüss", Some(Thanks)),
        ("de", "Super, alles klar", Some(Praise)),
        ("de", "guten Tag, ein Zimmer bitte", None),
        ("es", "¡Hola, buenos días!", Some(Greeting)),
        ("es", "muchas gracias por su ayuda", Some(Thanks)),
        ("es", "hasta luego", Some(Farewell)),
        ("fr", "Bonjour, comment ça va ?", Some(Greeting)),
        ("fr", "merci beaucoup", Some(Thanks)),
        ("fr", "au revoir", Some(Farewell)),
        ("ja", "こんにちは", Some(Greeting)),
        ("ja", "どうもありがとうございました。", Some(Thanks)),
        ("ja", "さようなら", Some(Farewell)),
        ("ja", "ありがとうカードを送って", None),
        ("en", "", None),
    ] {
        assert_eq!(read(language, text).courtesy, expected, "{language}: {text}");
    }
}

#[test]
fn a_title_parts_no_value() {
    for (language, text, expected) in [
        ("en", "no, I meant Dr. Amara Nwosu", "Correct | Dr. Amara Nwosu"),
        ("en", "change the name to St. Ives. Thanks", "Change(name > St. Ives)"),
        ("de", "nein, ich meinte Prof. Dr. Weiß", "Correct | Prof. Dr. Weiß"),
        ("es", "no, quería decir Sr. Pérez", "Correct | Sr. Pérez"),
        ("fr", "non, je voulais dire Mme. Roy", "Correct | Mme. Roy"),
    ] {
        assert_eq!(shown(language, text), expected, "{language}");
    }
}

#[test]
fn courtesies_are_known_in_all_languages_at_once() {
    use Courtesy::{
        Apology, Complaint, Farewell, Greeting, Help, Interjection, Person, Praise, Purpose, Puzzled, Thanks, Thinking,
        Waiting,
    };
    for (text, expected) in [
        ("Hallo", Greeting),
        ("Merci beaucoup !", Thanks),
        ("adiós, gracias", Thanks),
        ("またね", Farewell),
        ("genau, alles klar", Praise),
        ("hmm", Interjection),
        ("えっと", Interjection),
        ("tut mir leid", Apology),
        ("please hurry", Complaint),
        ("one moment please", Waiting),
        ("hold on a second", Waiting),
        ("let me think about it", Thinking),
        ("einen Moment bitte", Waiting),
        ("espere un momento", Waiting),
        ("laissez-moi réfléchir", Thinking),
        ("ちょっと待ってください", Waiting),
        ("what?", Puzzled),
        ("I don't understand the question", Puzzled),
        ("das verstehe ich nicht", Puzzled),
        ("no entiendo", Puzzled),
        ("je n'ai pas compris", Puzzled),
        ("意味がわかりません", Puzzled),
        ("why do you need that?", Purpose),
        ("wozu brauchen Sie das?", Purpose),
        ("¿para qué lo necesita?", Purpose),
        ("pourquoi cette question ?", Purpose),
        ("なぜですか", Purpose),
        ("help", Help),
        ("hi, what can you do?", Help),
        ("are you a robot?", Help),
        ("was können Sie alles?", Help),
        ("¿en qué puede ayudarme?", Help),
        ("qu'est-ce que vous pouvez faire ?", Help),
        ("何ができますか", Help),
        ("can I talk to a human?", Person),
        ("I'd like to speak to a real person please", Person),
        ("hello, could you connect me with an agent?", Person),
        ("kann ich bitte mit einem Menschen sprechen?", Person),
        ("quiero hablar con una persona", Person),
        ("je voudrais parler à un conseiller", Person),
        ("担当者と話したいです", Person),
    ] {
        for language in ["en", "de", "es", "fr", "ja"] {
            assert_eq!(read(language, text).courtesy, Some(expected), "{text}, in a module of {language}");
        }
    }
    for text in
        ["help Anna", "Ben", "Como", "what a day", "wait for Anna at the station", "a human rights lawyer", "Nancy"]
    {
        assert_eq!(read("en", text).courtesy, None, "{text}");
    }
}

#[test]
fn fillers_say_nothing() {
    for (language, text) in [("en", "please"), ("en", "um, please"), ("de", "bitte"), ("ja", "お願いします")] {
        assert!(is_filler(language, text), "{text}");
    }
    for (language, text) in [("en", "please hurry"), ("en", ""), ("ja", "窓側をお願いします")] {
        assert!(!is_filler(language, text), "{text}");
    }
}

#[test]
fn courtesies_stand_at_the_ends() {
    for (language, text, expected) in [
        ("en", "thanks, Anna Meyer", "Anna Meyer"),
        ("en", "Danke! Anna Meyer, merci", "Anna Meyer"),
        ("de", "Hello, hmm, Anna Meyer. Thank you very much!", "Anna Meyer."),
        ("fr", "Anna Meyer, s'il vous plaît, merci", "Anna Meyer, s'il vous plaît"),
        ("ja", "ありがとう、田中", "田中"),
        ("en", "Good morning. Is it 9? Thanks", "Is it 9?"),
        // Nothing is taken from a quotation, a dictated text or a title.
        ("en", "tell him: thanks", "tell him: thanks"),
        ("en", "\"Hello, Dolly\"", "\"Hello, Dolly\""),
        ("en", "thank you for the music", "thank you for the music"),
        ("en", "no thanks, the soup", "no thanks, the soup"),
        ("en", "hold on, the soup", "hold on, the soup"),
        ("en", "let me think, in Oslo", "in Oslo"),
        ("en", "a ver, in Oslo", "in Oslo"),
        ("en", "yes, let me think", "yes, let me think"),
        ("en", "nope. Bye", "nope."),
        ("en", "ann@example.com. Gracias", "ann@example.com."),
        // The whole text is a courtesy.
        ("en", "thanks, bye", "thanks, bye"),
    ] {
        let asides = courtesies_beside(language, text);
        let kept =
            text.chars().enumerate().filter(|(at, _)| !asides.iter().any(|one| one.start <= *at && *at < one.end));
        assert_eq!(kept.map(|(_, character)| character).collect::<String>().trim(), expected, "{language}: {text}");
    }
}
