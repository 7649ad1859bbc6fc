use crate::recognize::reply::lexicon::{
    Line, Manner,
    Role::{
        Asks, Common, Correction, Either, Enough, Filler, Hedge, Joint, No, Not, Opening, Other, Refuses, Unsure,
        Wants, WeakYes, Yes,
    },
};

pub(crate) const MANNER: Manner = Manner {
    or: &[" ou "],
    offers: &["voulez vous", "veux tu", "autre chose", "desirez vous", "souhaitez vous"],
    minds: &["ca vous derange", "ca te derange"],
    inverted: &[],
    denials: &["pas"],
    pleas: &[],
};

pub(crate) const WORDS: &[Line] = &[
    (
        "oui|ouais|ouaip|mais oui|oui oui|si|mais si|bien sur|bien sur que oui|evidemment|naturellement|certainement|absolument|tout a fait|exactement|exact|c'est exact|c'est ca|c'est bien ca|c'est juste|c'est correct|effectivement|en effet|volontiers|avec plaisir|avec joie|d'accord|entendu|ca marche|ca me va|ca roule|pourquoi pas|oui pourquoi pas|allez y|vas y|sans probleme|pas de probleme|aucun probleme|sans doute|sans aucun doute|je pense que oui|je crois que oui|je veux bien|je confirme|confirme|s'il vous plait oui|oui merci|definitivement|carrement|grave|parfaitement",
        Yes,
    ),
    (
        "bon|bien|tres bien|ok|okay|parfait|super|genial|correct|juste|s'il vous plait|s'il te plait|svp|probablement|vrai|c'est vrai|c'est bon|c'est parfait",
        WeakYes,
    ),
    (
        "non|nan|non merci|merci non|mais non|pas du tout|absolument pas|certainement pas|surement pas|bien sur que non|jamais|jamais de la vie|pas question|hors de question|en aucun cas|plutot pas|pas vraiment|pas maintenant|pas aujourd'hui|pas encore|pas cette fois|pas la peine|ce n'est pas la peine|pas necessaire|je ne crois pas|je ne pense pas|je crois que non|je pense que non|je ne veux pas|j'en veux pas|c'est faux|faux|incorrect|ce n'est pas ca|c'est pas ca|ce n'est pas correct|oubliez|oublie|laissez tomber|laisse tomber|annulez|annule|arretez|arrete|stop|rien|aucun|ni l'un ni l'autre|j'ai change d'avis|peut etre plus tard|une autre fois|surtout pas",
        No,
    ),
    ("c'est tout|ce sera tout|rien d'autre|ca suffit", Enough),
    (
        "peu importe|peu m'importe|ca m'est egal|c'est egal|cela m'est egal|m'est egal|egal|n'importe|n'importe lequel|n'importe laquelle|comme vous voulez|comme tu veux|comme vous preferez|ce que vous voulez|a vous de choisir|a toi de choisir|choisissez|je m'en fiche|je m'en fous|les deux me vont|l'un ou l'autre|sans preference|pas de preference|je n'ai pas de preference|aucune preference|indifferent",
        Either,
    ),
    (
        "je ne sais pas|je sais pas|j'sais pas|aucune idee|pas sur|je ne suis pas sur|je ne suis pas sure|je suis pas sur|peut etre|ca depend|eventuellement|comment|pardon|quoi",
        Unsure,
    ),
    ("pas|pas le|pas la|pas les", Not),
    ("je crois|je pense|je suppose", Hedge),
    ("attendez|attends|en fait|je veux dire|enfin", Correction),
    ("ah|oh|euh|ben|bah|hein|hmm|alors|merci|merci beaucoup|tres|c'est|ca|vraiment|je dis|donc", Filler),
    ("je veux|je voudrais|j'aimerais|je prends|je prendrai|donnez moi|il me faut", Wants),
    (
        "je ne veux pas de|je ne veux pas le|je ne veux pas la|je ne veux pas les|je veux pas|je n'aime pas|je ne prends pas|je n'ai pas besoin",
        Refuses,
    ),
    ("mais|et|seulement|sauf|si c'est|parce que|avec|par contre", Joint),
    (
        "mettez|mets|faites|fais|ajoutez|ajoute|changez|change|prenez|je|nous|le|la|les|un|une|deux|trois|quatre|plutot|pour|a|de|mon|ma",
        Opening,
    ),
    (
        "ou est|ou sont|quand|pourquoi|qui|quel|quelle|combien|a quelle heure|est ce que|puis je|pouvez vous|peux tu|avez vous|y a t il|qu'est ce",
        Asks,
    ),
    ("a la place|autre|une autre|un autre|autre chose|different|je prefere", Other),
    (
        "le|la|les|l|un|une|de|du|des|que|est|en|avec|pour|a|au|vous|tu|je|etes|sur|sure|voulez|veux|bien|vraiment|ce|cette|ces",
        Common,
    ),
];
