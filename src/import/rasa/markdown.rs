//! The training data of Rasa 1 and 2 in Markdown: `## intent:greet`, `## synonym:New York`, `## lookup:city`, `##
//! regex:zip`.

use super::{
    super::{project::Place, reader::Reader},
    Training, annotate,
};

pub(super) fn read(text: &str, path: &str, training: &mut Training, reader: &mut Reader) {
    let mut section: Option<(String, String, Place)> = None;
    for (index, line) in text.lines().enumerate() {
        let place = Place { line: Some(index + 1), ..Place::new(path, "") };
        let line = line.trim();
        if let Some(heading) = line.strip_prefix("##") {
            section =
                heading.split_once(':').map(|(kind, name)| (kind.trim().to_owned(), name.trim().to_owned(), place));
            continue;
        }
        let (Some((kind, name, begins)), Some(item)) = (&section, line.strip_prefix(['-', '*', '+'])) else { continue };
        let item = item.trim();
        if item.is_empty() || name.is_empty() {
            continue;
        }
        let items = match kind.as_str() {
            "intent" => {
                annotate(item, &place, reader, |one| training.intent(name, begins).push(one));
                continue;
            }
            "synonym" => &mut training.synonyms,
            "lookup" => &mut training.lookups,
            "regex" => &mut training.patterns,
            _ => continue,
        };
        match items.iter_mut().find(|(known, _, at)| known == name && at == begins) {
            Some((_, items, _)) => items.push(item.to_owned()),
            None => items.push((name.clone(), vec![item.to_owned()], begins.clone())),
        }
    }
}
