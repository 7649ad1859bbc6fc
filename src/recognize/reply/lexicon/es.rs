use crate::recognize::reply::lexicon::{
    Line, Manner,
    Role::{
        Asks, Common, Correction, Either, Enough, Filler, Hedge, Joint, No, Not, Opening, Other, Refuses, Unsure,
        Wants, WeakNo, WeakYes, Yes,
    },
};

pub(crate) const MANNER: Manner = Manner {
    or: &[" o "],
    offers: &["quiere", "quieres", "algo mas", "desea", "le gustaria"],
    minds: &["te importa", "le importa"],
    inverted: &[],
    denials: &["no"],
    pleas: &[],
};

pub(crate) const WORDS: &[Line] = &[
    (
        "si|sip|claro|claro que si|por supuesto|desde luego|naturalmente|seguro|efectivamente|exacto|exactamente|correcto|asi es|eso es|cierto|es cierto|es correcto|de acuerdo|por que no|como no|sin duda|sin problema|no hay problema|ningun problema|adelante|dale|hazlo|hagalo|me parece bien|me gustaria|me encantaria|con gusto|con mucho gusto|creo que si|supongo que si|confirmado|confirmo|lo confirmo|trato hecho|por favor si|si por favor|obvio|absolutamente|definitivamente|totalmente",
        Yes,
    ),
    (
        "vale|bueno|bien|esta bien|muy bien|ok|okay|okey|perfecto|genial|estupendo|por favor|probablemente|listo|venga",
        WeakYes,
    ),
    (
        "no gracias|que va|para nada|de ninguna manera|de ningun modo|en absoluto|ni hablar|ni loco|jamas|nunca|claro que no|por supuesto que no|desde luego que no|mejor no|creo que no|no lo creo|me parece que no|hoy no|ahora no|todavia no|aun no|no quiero|no es correcto|no es asi|incorrecto|falso|olvidalo|olvidelo|dejalo|cancela|cancelar|detente|tampoco|nada|ninguno|ninguna|he cambiado de idea|cambie de idea|no hace falta|quizas mas tarde",
        No,
    ),
    ("no", WeakNo),
    ("eso es todo|nada mas|ya esta|con eso basta|es todo", Enough),
    (
        "da igual|me da igual|me da lo mismo|da lo mismo|es lo mismo|lo mismo me da|no importa|no me importa|cualquiera|cualquiera esta bien|cualquiera de los dos|como quieras|como quiera|lo que quieras|lo que quiera|lo que sea|como sea|tu decides|usted decide|tu eliges|usted elige|elige tu|sin preferencia|no tengo preferencia|los dos me valen|ambos estan bien|indiferente|me es indiferente",
        Either,
    ),
    (
        "no se|no lo se|ni idea|no tengo ni idea|no estoy seguro|no estoy segura|quizas|quiza|tal vez|a lo mejor|puede ser|depende|como|que",
        Unsure,
    ),
    ("no es", Not),
    ("creo que|supongo que|pienso que", Hedge),
    ("espera|espere|perdon|quiero decir|mejor dicho|en realidad", Correction),
    (
        "ah|oh|eh|pues|hmm|mmm|bueno pues|gracias|muchas gracias|muy|entonces|eso|esta|es|la verdad|digo que|de verdad",
        Filler,
    ),
    ("quiero|deseo|me gustaria|dame|deme|ponme|pongame|prefiero ese", Wants),
    (
        "no quiero el|no quiero la|no quiero los|no quiero las|no quiero un|no quiero una|no deseo|no me gusta|no necesito",
        Refuses,
    ),
    ("pero|y|solo|solamente|excepto|si es|porque|aunque|con", Joint),
    (
        "que sea|que sean|pon|ponga|cambia|cambie|agrega|anade|quita|haz|yo|el|la|los|las|un|una|dos|tres|cuatro|mejor|para|a|de|en|mi",
        Opening,
    ),
    ("donde|cuando|por que|quien|cual|cuanto|cuanta|cuantos|que hora|que es|puedo|puede|puedes|hay|tiene|tienes", Asks),
    ("en lugar|en vez|otro|otra|otra cosa|diferente|prefiero", Other),
    (
        "el|la|los|las|un|una|de|del|que|es|en|con|para|por|a|al|su|tu|mi|esta|este|quiere|quieres|seguro de que|segura|lo|le|se",
        Common,
    ),
];
