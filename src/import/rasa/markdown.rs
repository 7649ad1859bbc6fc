//! The training data of Rasa 1 and 2 in Markdown: `## intent:greet`, `## synonym:New York`, `## lookup:city`, `##
//! regex:zip`.

use super::{
    super::{project::Place, reader::ProjectReader},
    Training, annotate,
};

pub(super) fn read(text: &str, path: &str, training: &mut Training, reader: &mut ProjectReader) {
    let mut section: Option<(String, String, Place)> = None;
    for (index, line) in without_comments(text).lines().enumerate() {
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

/// The text with line breaks alone in place of comments.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        let (comment, behind) = comment.split_once("-->").unwrap_or((comment, ""));
        kept.push_str(before);
        kept.extend(comment.matches('\n'));
        rest = behind;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_leave_their_lines() {
        let text = "## intent:greet <!-- a note -->\n- hello\n<!--\n- hi\n-->\n- hey <!-- open";
        assert_eq!(without_comments(text), "## intent:greet \n- hello\n\n\n\n- hey ");
    }
}
