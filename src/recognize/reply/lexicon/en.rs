use crate::recognize::reply::lexicon::{
    Line, Manner,
    Role::{
        Asks, Common, Correction, Does, DoesNot, Either, Enough, Filler, Hedge, Joint, No, Not, Opening, Other,
        Refuses, Subject, Unsure, Wants, WeakNo, WeakYes, Yes,
    },
};

pub(crate) const MANNER: Manner = Manner {
    or: &[" or "],
    offers: &[
        "would you like",
        "do you want",
        "can i get you",
        "anything",
        "something",
        "else",
        "more",
        "care for",
        "need",
        "fancy",
    ],
    minds: &["you mind", "mind if"],
    inverted: &[
        "dont",
        "doesnt",
        "didnt",
        "isnt",
        "arent",
        "wasnt",
        "werent",
        "wont",
        "wouldnt",
        "cant",
        "couldnt",
        "shouldnt",
        "havent",
        "hasnt",
        "do you not",
        "are you not",
        "is it not",
        "would you not",
    ],
    denials: &["no"],
    pleas: &["please", "pls", "plz"],
};

pub(crate) const WORDS: &[Line] = &[
    (
        "yes|yse|eys|yeha|yaeh|yeag|yeah|yep|yup|yea|ya|yah|yeh|ye|yh|yess|yas|yass|aye|yessir|ja|si|oui|mhm|mmhm|mmhmm|mm hmm|uh huh|uhhuh|absolutely|definitely|def|defo|certainly|totally|of course|ofc|naturally|indeed|affirmative|obviously|please do|please go ahead|yes please|for sure|fo sho|by all means|you bet|you betcha|you got it|you know it|roger|roger that|10 4|ten four|copy that|hell yes|hell yeah|hell yea|heck yes|heck yeah|damn right|damn straight|too right|why not|sure why not|i dont see why not|dont see why not|no reason not to|no objection|no objections|no problem|no problems|no prob|no probs|np|no worries|no doubt|without a doubt|without doubt|without question|no question|no question about it|thats a yes|its a yes|yes it is|sounds like a plan|sign me up|count me in|im in|lets do it|lets do that|lets do this|lets go|lets go for it|lets go with that|go for it|go right ahead|be my guest|feel free|make it so|id love to|i would love to|id be happy to|i would be happy to|id love that|i would love that|id love one|id love some|id like that|i would like that|would love to|would love that|love to|happy to|gladly|with pleasure|my pleasure|couldnt agree more|i agree|agreed|agree|confirmed|confirm|i confirm|i can confirm|approved|approve|accepted|i accept|deal|its a deal|done deal|you are right|youre right|youre correct|you are correct|you have it right|you got that right|you guessed it|thats the one|thats the ticket|thats what i said|thats what i want|thats what i meant|thats what i mean|that is what i want|what i said|i think so|i believe so|i guess so|i suppose so|i suppose|i hope so|i would think so|id say so|seems so|it seems so|looks like it|more or less|pretty much|kind of|kinda|sort of|most likely|very likely|i am sure|im sure|im positive|i am positive|hundred percent|a hundred percent|one hundred percent|100 percent|without hesitation|duh|yuppers|yeppers|yis|okie dokie|okey dokey|okey doke|oki doki|righto|right on|right you are|alrighty|surely|bring it on|bring it|hit me|i do indeed|thank you yes|do it|just do it|do so|do that|please proceed|proceed|carry on|go on|go on then|oh go on|keep going|continue|works for me|that works|that works for me|it works for me|that would work|that will work|thatll work|thatd work|that will do|thatll do|that does it|that would do|fine by me|fine with me|its fine by me|thats fine by me|thats fine with me|ok by me|ok with me|okay with me|okay by me|good with me|good by me|suits me|that suits me|im ok with that|im okay with that|im fine with that|i am fine with that|i am ok with that|im happy with that|im good with that|thats it exactly|not a problem|not a bad idea|i wouldnt say no|wouldnt say no|dont mind if i do|never better|all set|spot on|bang on|bingo|you read my mind",
        Yes,
    ),
    (
        "sure|sure thing|all good|fine|good|great|perfect|lovely|nice|excellent|wonderful|awesome|brilliant|fantastic|super|splendid|ok|okay|oke|okey|k|kk|oki|okk|alright|all right|aight|cool|right|correct|true|exactly|precisely|y|go ahead|go|shure|suree|probably|likely|presumably|hopefully|positive|affirm|sounds good|sounds great|sounds perfect|sounds fine|sounds right|sounds lovely|that sounds good|that sounds great|that sounds perfect|that sounds fine|that sounds lovely|that sounds right|looks good|looks right|looks great|looks correct|thats right|thats correct|thats true|thats it|thats the plan|granted|much appreciated|amen|true that|fair enough|very well|very good|word|bet|ideal|delicious|yum|yummy",
        WeakYes,
    ),
    (
        "nope|nah|nay|naw|nop|noo|nooo|nuh uh|nuhuh|uh uh|no no|no no no|no way|no way jose|no sir|no chance|no thanks|no thank you|no ty|no thx|nty|no need|no need to|no need for that|no siree|heck no|hell no|god no|good god no|oh god no|not at all|not really|not particularly|not especially|not today|not now|not right now|not just now|not this time|not yet|not a chance|not in a million years|not on your life|not for me|not necessary|not needed|not required|not anymore|not any more|not quite|not exactly|not that i know of|not ever|not likely|not interested|im not interested|not so fast|not so much|not correct|not true|not right|not sure i want that|never|never ever|certainly not|definitely not|absolutely not|of course not|obviously not|probably not|surely not|maybe not|perhaps not|possibly not|preferably not|hopefully not|rather not|id rather not|i would rather not|id prefer not|id prefer not to|i prefer not to|i would prefer not to|i think not|i guess not|i suppose not|i hope not|i believe not|im afraid not|i am afraid not|guess not|think not|dont think so|i dont think so|i do not think so|i dont believe so|dont do it|dont do that|please dont|please do not|under no circumstances|over my dead body|by no means|in no way|out of the question|forget it|forget that|forget about it|never mind|nevermind|nvm|nm|cancel that|cancel it|stop|stop it|scratch that|drop it|leave it|leave that|skip it|skip that|skip|ill pass|i will pass|ill skip|i pass|hard pass|pass|count me out|im out|i decline|decline|declined|i refuse|denied|disagree|i disagree|wrong|thats wrong|that is wrong|its wrong|incorrect|thats incorrect|that is incorrect|thats not it|thats not right|that isnt right|thats not what i said|thats not what i want|thats not what i meant|thats a no|its a no|its a no from me|false|i changed my mind|ive changed my mind|i have changed my mind|changed my mind|not what i want|not what i said|not what i meant|i didnt say that|i never said that|i didnt mean that|it isnt|nothing|nothing else|nothing more|nothing thanks|none|none of it|none for me|none thanks|neither|neither of them|hold on a minute no|as if|yeah no|yea no|yeah nah|no deal|no dice|no go|negatory|negative|nein|non|niet|nyet|thats too much|too expensive|maybe later|perhaps later|maybe next time|maybe another time|some other time|another time|later maybe|later|i hate it|i hate that|without|thanks but no thanks|thank you but no|thanks but no|i cant|i cannot|no can do|i have to say no|ill say no|i have to decline|i must decline|not a fan|i doubt it|doubt it|doubtful|unlikely|doesnt work for me|that doesnt work|that doesnt work for me|that wont work|that wont do|i have enough|ive had enough|thats enough|ive got enough",
        No,
    ),
    ("no|n|cancel", WeakNo),
    (
        "im good|i am good|im fine|i am fine|im ok|im okay|im alright|im all right|im all set|i am all set|thats all|that is all|thatll be all|that will be all|that would be all|thats everything|that is everything|thats it for now|thats all for now|thats all thanks|im done|i am done|were good|we are good|were fine|were all set|im full|im stuffed|good thanks|fine thanks|im good thanks",
        Enough,
    ),
    (
        "whatever|whatevs|whatever you like|whatever you want|whatever you think|whatever you say|whatever you prefer|whatever works|whatever works for you|whatever works best|whatever is easier|whatever is easiest|whatevers easier|whatevers easiest|whatever is best|whatevers best|whatever you recommend|whichever|whichever you like|whichever you prefer|whichever is easier|whichever is fine|either|either one|either way|either is fine|either one is fine|either one works|either works|either will do|either is ok|either is okay|either is good|either would be fine|either way is fine|either or|both are fine|both work|both are good|both are ok|any|any is fine|any will do|any of them|any one|anything|anything is fine|anything goes|anything works|anything will do|i dont care|dont care|i do not care|dont really care|i dont really care|i couldnt care less|couldnt care less|i could care less|idc|i dont mind|dont mind|i do not mind|i dont mind either way|dont really mind|i dont really mind|idm|im easy|im not fussy|not fussy|im not picky|not picky|im flexible|i am flexible|im not bothered|not bothered|im indifferent|indifferent|i am indifferent|no preference|i have no preference|no preferences|i have no preferences|no particular preference|no strong feelings|i dont have a preference|dont have a preference|i dont have any preference|i dont have a strong preference|it doesnt matter|doesnt matter|it does not matter|it doesnt matter to me|doesnt matter to me|that doesnt matter|it makes no difference|makes no difference|makes no difference to me|no difference|no matter|its all the same|all the same|all the same to me|its all the same to me|same to me|same difference|its up to you|up to you|thats up to you|your call|its your call|you choose|you pick|you decide|you can choose|you can decide|your choice|its your choice|surprise me|dealers choice|as you like|as you wish|as you please|as you prefer|suit yourself|meh|who cares|doesnt bother me|not important|its not important|irrelevant to me|im good either way|im fine either way|im ok either way|im happy either way|fine either way|ok either way|good either way|happy either way|i could go either way|could go either way|whatever floats your boat|i have no opinion|no opinion|its immaterial|take your pick|i leave it to you|ill leave it to you|ill leave that to you|ill leave it up to you|i trust you|makes no odds|not fussed|im not fussed|dont have a strong opinion",
        Either,
    ),
    (
        "i dont know|dont know|i do not know|dunno|i dunno|idk|no idea|i have no idea|no clue|i have no clue|not sure|im not sure|i am not sure|not so sure|im not so sure|not certain|im not certain|unsure|im unsure|maybe|perhaps|possibly|might be|could be|it depends|that depends|depends|who knows|hard to say|hard to tell|cant say|i cant say|i cant remember|i dont remember|i cant decide|im undecided|undecided|im torn|let me think|let me think about it|let me check|let me see|ill think about it|i need to think|i have to think about it|give me a second|give me a moment|give me a minute|one moment|just a moment|one second|hang on|hold on|not sure yet|i have to check|i need to check|i forgot|yes and no|yes or no|what|huh|pardon|sorry what|come again|excuse me|sorry|i dont understand|i dont get it",
        Unsure,
    ),
    ("not|isnt|aint", Not),
    ("i guess|i think|i believe|i reckon|i assume|i imagine|maybe just|almost|apparently|guess|reckon", Hedge),
    (
        "wait|actually|i mean|sorry i mean|oh wait|hmm wait|on second thought|on second thoughts|scratch that no|well actually|correction|i meant|come to think of it|then again",
        Correction,
    ),
    (
        "please|pls|plz|um|umm|uh|uhm|er|erm|eh|ah|aha|oh|ooh|hm|hmm|hmmm|mmm|mm|well|so|like|hey|hi|hello|you know|thanks|thank you|thx|ty|cheers|ta|sir|maam|madam|mate|man|dude|bro|buddy|pal|dear|darling|bot|lol|haha|hahaha|tbh|to be honest|honestly|really|truly|actually yes|just|then|there|again|as well|too|also|now|very|much|very much|so much|still|always|quite|pretty|already|my answer is|the answer is|answer is|i said|i say|i would say|id say|ill say|let me say|i have to say|as i said|like i said|that is|its|thats|thatd be|that would be|it would be|itd be|thatll be|that will be|it will be|itll be|sounds|that sounds|looks|seems|it seems|that seems|its a|thats a|that is a|of it|of that|for me|from me|with me|by me|with that|with it|about it|about that|i promise|i swear|for now|if you dont mind|if thats ok|if possible|if you can|if you could|if you like|if you want|if you insist|if you will|kind sir|my friend|my dear|all of it|all of them|the lot|in fact|as a matter of fact|in a way|all things considered|my bad|please and thank you|so far|100 sure|even|at the moment|oh my|oh my god|omg|wow|gosh|damn|hell|heck|gee|jeez|god|goodness",
        Filler,
    ),
    ("i|we|you|he|she|it|they|that|this|those|these|there", Subject),
    ("do|am|are|is|was|were|will|would|can|could|did|does|have|has|should|must|may|might|shall|had", Does),
    (
        "dont|do not|does not|did not|am not|are not|is not|was not|will not|would not|can not|cannot|could not|have not|has not|should not|wont|wouldnt|cant|couldnt|didnt|doesnt|havent|hasnt|shouldnt|arent|wasnt|werent|mustnt|im not|were not|youre not|its not|thats not|hes not|shes not|theyre not|theres no",
        DoesNot,
    ),
    (
        "i want|we want|want|i need|we need|i like|i love|id like|i would like|id love|i would love|id want|we would like|wed like|ill take|i will take|well take|ill have|i will have|well have|give me|gimme|lets have|i do want|i do need|i do like|ill go with|i will go with|lets go with|let me have|i choose|ill choose|i prefer that",
        Wants,
    ),
    (
        "i dont want|i do not want|dont want|do not want|i dont need|i do not need|dont need|we dont want|we dont need|i dont like|dont like|i do not like|i wont take|i wont need|i never want|never want|i didnt want|i wouldnt like|i dont want to|i dont wanna|dont wanna|dont want to|i no longer want|no longer want|i hate|i cant have|i cant eat|i dont eat|i dont have|i refuse to",
        Refuses,
    ),
    (
        "but|and|though|although|however|except|only|plus|because|since|cause|cuz|cos|as long as|provided|if|unless|when|while|until|yet|with",
        Joint,
    ),
    (
        "make|change|add|take|put|send|bring|get|give|remove|let|lets|my|your|our|no need to worry|for|to|at|on|in|from|ill|id|im|we|wed|were|youd|theyre|it|dont forget|keep|use|set|try|switch|move|cancel my|cancel the|show|tell|find|play|call|turn|thing|things|need|want|would like|the|a|an|one|two|three|four|five|six|seven|eight|nine|ten|extra|another|more|less",
        Opening,
    ),
    (
        "what is|whats|what are|what about|what time|what do|what does|what kind|what sort|what did|what if|what was|where|wheres|when is|when will|when do|when does|when are|why|who|whos|whose|which|how|hows|can you|could you|can i|could i|may i|would you|will you|do you|did you|does it|does that|is it|is that|is there|are there|are you|am i|do i|have you|has it|should i|is this|was it|will it|do they",
        Asks,
    ),
    (
        "instead|rather have|id rather|i would rather|id prefer|i prefer|i would prefer|different|other|another one|something else|anything else|somebody else|someone else|else",
        Other,
    ),
    (
        "the|a|an|one|ones|of|it|them|this|that|these|those|some|any|my|your|our|his|her|their|is|are|be|been|being|was|do|does|did|to|in|on|at|for|with|from|by|please|i|me|we|us|you|want|need|like|love|would|will|have|has|had|get|got|take|want to|shall|should|can|could|sure|right|ok|correct|so|just|order|really|still|about|as|there|here|also|too|then|now|and|confirm|mean|say|said|go|going|let|yours|mine",
        Common,
    ),
];
