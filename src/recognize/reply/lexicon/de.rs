use crate::recognize::reply::lexicon::{
    Line, Manner,
    Role::{
        Asks, Common, Correction, Either, Enough, Filler, Hedge, Joint, No, Not, Opening, Other, Refuses, Unsure,
        Wants, WeakYes, Yes,
    },
};

pub(crate) const MANNER: Manner = Manner {
    or: &[" oder "],
    offers: &["mochten sie", "mochtest du", "noch etwas", "sonst noch"],
    minds: &["stort es", "etwas dagegen"],
    inverted: &[],
    denials: &["kein", "keine", "keinen"],
    pleas: &[],
};

pub(crate) const WORDS: &[Line] = &[
    (
        "ja|jo|jap|jep|jup|jawohl|jawoll|klar|na klar|aber klar|ja klar|klaro|sicher|aber sicher|na sicher|sicherlich|naturlich|selbstverstandlich|auf jeden fall|unbedingt|absolut|definitiv|bestimmt|genau|ganz genau|stimmt|das stimmt|richtig|korrekt|gerne|gern|sehr gerne|ja bitte|bitte ja|einverstanden|abgemacht|von mir aus|warum nicht|ja warum nicht|kein problem|ich denke schon|ich glaube schon|denke schon|glaube ja|ich glaube ja|ich denke ja|mach das|machen sie das|machen wir|passt|das passt|passt mir|doch|ja doch|ja genau|logo|freilich|eh klar|bestatigt|ich bestatige|so ist es|allerdings",
        Yes,
    ),
    (
        "gut|ok|okay|in ordnung|alles klar|super|prima|toll|perfekt|fein|bitte|wunderbar|wahrscheinlich|vermutlich|j",
        WeakYes,
    ),
    (
        "nein|ne|nee|no|nope|noe|auf keinen fall|keinesfalls|keineswegs|bloss nicht|lieber nicht|besser nicht|nicht wirklich|eher nicht|gar nicht|uberhaupt nicht|nein danke|danke nein|bitte nicht|sicher nicht|bestimmt nicht|naturlich nicht|absolut nicht|definitiv nicht|niemals|nie|nie im leben|falsch|das ist falsch|stimmt nicht|das stimmt nicht|das ist nicht richtig|vergiss es|lass es|lassen sie es|stopp|stop|abbrechen|ich glaube nicht|glaube nicht|ich denke nicht|denke nicht|heute nicht|jetzt nicht|noch nicht|nicht notig|kein bedarf|ich habe es mir anders uberlegt|doch nicht|weder noch|nichts|keins|keine|nicht jetzt|nicht heute|vielleicht spater|spater vielleicht",
        No,
    ),
    ("das ist alles|das wars|das war alles|ich bin fertig|alles gut|mehr nicht|sonst nichts", Enough),
    (
        "egal|ist egal|ist mir egal|mir egal|das ist mir egal|das ist egal|es ist mir egal|ganz egal|mir ist es egal|mir ist das egal|vollig egal|spielt keine rolle|das spielt keine rolle|beides|beides ist gut|beides geht|beides recht|wie sie wollen|wie du willst|wie sie mochten|was du willst|such dir was aus|entscheide du|entscheiden sie|ihre entscheidung|mir gleich|ist mir gleich|mir wurscht|wurscht|einerlei|keine praferenz|hauptsache",
        Either,
    ),
    (
        "weiss nicht|ich weiss nicht|ich weiss es nicht|keine ahnung|vielleicht|eventuell|moglicherweise|mal sehen|kommt darauf an|kommt drauf an|bin nicht sicher|ich bin nicht sicher|bin mir nicht sicher|ich bin mir nicht sicher|nicht sicher|jein|wie bitte|was",
        Unsure,
    ),
    ("nicht|kein|keinen|keiner", Not),
    ("ich glaube|ich denke|ich schatze|wohl", Hedge),
    ("moment|warte|warten sie|das heisst|ich meine|ah nein|halt", Correction),
    (
        "ah|oh|ahm|ehm|hm|hmm|na|also|danke|vielen dank|schon|das ist|es ist|ganz|sehr|so|mal|dann|und zwar|eigentlich|ich sage|wirklich",
        Filler,
    ),
    ("ich will|ich mochte|ich hatte gern|ich nehme|ich brauche|wir nehmen|wir wollen|ich hatte gerne", Wants),
    (
        "ich will nicht|ich mochte nicht|ich mochte kein|ich mochte keine|ich mochte keinen|ich will kein|ich will keine|ich will keinen|ich brauche kein|ich brauche keine|ich brauche keinen|ich mag kein|ich mag keine",
        Refuses,
    ),
    ("aber|und|nur|ausser|wenn|weil|mit|jedoch|allerdings nur", Joint),
    (
        "mach|machen|nimm|nehmen|gib|geben|ich|wir|bitte noch|andere|andern|die|der|das|den|ein|eine|einen|zwei|drei|vier|dazu|noch|lieber",
        Opening,
    ),
    (
        "wo|wann|warum|wer|welche|welcher|welches|wie|wie viel|wieviel|was ist|was kostet|kann ich|kannst du|konnen sie|haben sie|hast du|gibt es|ist das",
        Asks,
    ),
    ("stattdessen|anders|etwas anderes|was anderes|lieber das|lieber die|lieber den", Other),
    (
        "der|die|das|den|dem|ein|eine|einen|es|ich|sie|du|wir|ist|sind|sein|soll|sollen|wollen|mochten|mochte|wirklich|in|im|mit|fur|zu|auf|haben|hat|sie sicher|dass",
        Common,
    ),
];
