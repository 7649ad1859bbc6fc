//! A round trip as lines for a terminal.

use super::{
    super::{
        report::{ReportOptions, calls, describe},
        share::{percent, plural},
    },
    RoundTrip, forms,
};

/// Without a final newline.
#[must_use]
pub fn text(found: &RoundTrip, options: ReportOptions) -> String {
    let scores = &found.scores;
    let mut lines = vec![
        format!(
            "{}: {} said in {}, seed {}",
            found.module,
            plural(found.templates, "template"),
            plural(scores.cases, "sentence"),
            found.seed
        ),
        format!("  right      {} wholly right", percent(scores.right)),
        format!("  calls      {}", calls(&scores.calls)),
        format!("  function   {}; slots F1 {}", percent(scores.function.accuracy), percent(scores.slots.f1)),
    ];
    let by_form = forms(found).into_iter().map(|(form, (_, right))| format!("{form} {}", percent(right)));
    lines.push(format!("  forms      {}", by_form.collect::<Vec<_>>().join(", ")));
    let by_group = scores.slots.by_group.iter().map(|(group, found)| format!("{} {}", group.name(), percent(found.f1)));
    lines.push(format!("  slots of   {}", by_group.collect::<Vec<_>>().join(", ")));
    if !found.failures.is_empty() && options.top > 0 {
        lines.push(String::new());
        lines.push("templates that are not understood in every form".to_owned());
        let most = if options.errors { found.failures.len() } else { options.top };
        for failure in found.failures.iter().take(most) {
            let template = &failure.template;
            let count = format!("{} of {}", failure.wrong.len(), failure.sentences);
            lines.push(format!("{count:>9}  {}: {}", template.function, template.template));
            if options.errors {
                for wrong in &failure.wrong {
                    describe(wrong, &mut lines);
                }
                lines.push(String::new());
            }
        }
        if found.failures.len() > most {
            lines.push(format!("        and {} more", found.failures.len() - most));
        }
    }
    if !found.unfilled.is_empty() {
        lines.push(String::new());
        lines.push("templates with a slot for which no value is known".to_owned());
        lines.extend(found.unfilled.iter().map(|one| format!("  {}: {}", one.function, one.template)));
    }
    lines.join("\n")
}
