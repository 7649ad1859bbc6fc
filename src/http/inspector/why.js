// Everything that an answer says about itself.
import { Bar, characters, html, percent, Section, shown, slice, useState } from "./lib.js";

/** Words of the model server's own are shown as they are, and nothing of them is taken for anything else. */
export function Why({ turn, t, mend, about, number }) {
  const { utterance, answer } = turn;
  const { uptake } = answer;
  return html`<article class="card why">
    <${Head} turn=${turn} t=${t} mend=${mend} number=${number} />
    <${Marked} utterance=${utterance} uptake=${uptake} t=${t} />
    <${Forms} uptake=${uptake} utterance=${utterance} t=${t} />
    <${Candidates} uptake=${uptake} t=${t} />
    <${Proposals} uptake=${uptake} utterance=${utterance} t=${t} />
    <${Parts} uptake=${uptake} t=${t} about=${about} />
    <${Attempts} attempts=${uptake.attempts} t=${t} />
    <${Actions} actions=${uptake.actions} t=${t} />
    <${Timeline} timings=${uptake.timings_ms} t=${t} />
    ${uptake.notes?.length > 0 && html`<${Section} title=${t("notes")} count=${uptake.notes.length}>
      <ul>${uptake.notes.map((note) => html`<li>${note}</li>`)}</ul><//>`}
    <${Section} title="JSON" open=${false}><pre class="json" tabindex="0">${JSON.stringify(answer, null, 2)}</pre><//>
  </article>`;
}

function Head({ turn, t, mend, number }) {
  const { uptake, choices } = turn.answer;
  const question = uptake.question;
  return html`<header class="head">
    <div class="row">
      <h2>${t("turn")} ${number}</h2>
      <span class="badge ${uptake.outcome}">${t(`outcome_${uptake.outcome}`)}</span>
      <span class="sure"><${Bar} value=${uptake.confidence} label=${`${t("confidence")} ${percent(uptake.confidence)}`} /> ${percent(uptake.confidence)}</span>
      <span class="by">${t("decided_by")}: ${uptake.decided_by}</span>
      ${mend && html`<button class="main" id="mend" onClick=${mend}>${t("mend")}</button>`}
    </div>
    ${turn.before && html`<p class="before">${t("before_was")} <span class="badge ${turn.before.uptake.outcome}">${t(`outcome_${turn.before.uptake.outcome}`)}</span>
      ${(turn.before.choices[0].message.tool_calls ?? []).map((call) => html` <code>${call.function.name}(${call.function.arguments})</code>`)}
      ${turn.before.uptake.reply && html` “${turn.before.uptake.reply}”`}</p>`}
    ${(choices[0].message.tool_calls ?? []).map((call) => html`<pre class="called">${call.function.name}(${call.function.arguments})</pre>`)}
    ${uptake.reply && html`<blockquote>${uptake.reply}</blockquote>`}
    ${question && html`<p class="about">${t(`asked_${question.about.kind}`)}${" "}
      ${question.about.function && html`<code>${question.about.function}</code> `}
      ${[question.about.slot, ...(question.about.slots ?? []), ...(question.about.functions ?? []), question.about.path, question.about.rule]
        .filter(Boolean)
        .map((one) => html`<code>${one}</code> `)}</p>`}
    ${uptake.handoff && html`<p class="about">${t(`handoff_${uptake.handoff.reason}`)}</p>`}
  </header>`;
}

/** Every value that was read, with where it stands. */
function values(uptake) {
  const all = [];
  for (const call of uptake.calls) {
    for (const [path, slot] of Object.entries(call.slots)) {
      for (const value of [slot].flat()) all.push({ function: call.function, path, ...value });
    }
  }
  return all;
}

/** The text, with what was found in it underlined. What fills a slot goes first; of what overlaps, the longer. */
function Marked({ utterance, uptake, t }) {
  const text = characters(utterance);
  const filled = values(uptake).filter((one) => one.span && one.from === "utterance" && one.span[1] <= text.length);
  const first = uptake.calls[0]?.function;
  const left = uptake.explanations?.find((one) => one.function === first) ?? uptake.explanations?.[0];
  const isLeft = (at) => left?.left_over.some(({ span }) => span[0] <= at && at < span[1]);
  const fills = (mention) => filled.find((one) => one.span[0] === mention.span[0] && one.span[1] === mention.span[1]);
  const found = uptake.mentions.filter((one) => one.span[1] <= text.length).map((one) => ({ ...one, fills: fills(one) }));
  const free = filled.filter((one) => !uptake.mentions.some((other) => other.span[0] === one.span[0] && other.span[1] === one.span[1]));
  const all = [
    ...free.map((one) => ({ span: one.span, recognizer: t("free_text"), value: one.value, score: one.confidence, fills: one })),
    ...found,
  ].sort((a, b) => !!b.fills - !!a.fills || b.span[1] - b.span[0] - (a.span[1] - a.span[0]) || a.span[0] - b.span[0]);
  const taken = [];
  for (const one of all) {
    if (taken.every((other) => other.span[1] <= one.span[0] || one.span[1] <= other.span[0])) taken.push(one);
  }
  taken.sort((a, b) => a.span[0] - b.span[0]);
  const pieces = [];
  let at = 0;
  const plain = (until) => {
    while (at < until) {
      const leftOver = isLeft(at);
      let to = at + 1;
      while (to < until && isLeft(to) === leftOver) to += 1;
      const words = text.slice(at, to).join("");
      pieces.push(leftOver ? html`<span class="left" title=${t("left_over")}>${words}</span>` : words);
      at = to;
    }
  };
  for (const one of taken) {
    plain(one.span[0]);
    const name = one.fills ? one.fills.path : one.recognizer;
    const value = shown(one.value);
    pieces.push(html`<span class="mention ${one.fills ? (one.fills.operator === "!=" ? "out" : "fills") : "found"}"
      title=${`${one.recognizer}: ${value}`}><span class="what">${text.slice(one.span[0], one.span[1]).join("")}</span><span class="unseen"> (</span><span class="is">${name} = ${value}</span><span class="unseen">) </span></span>`);
    at = one.span[1];
  }
  plain(text.length);
  const others = all.filter((one) => !taken.includes(one));
  return html`<div class="text" tabindex="0" aria-label=${t("utterance")}><p class="marked">${pieces}</p>
    <p class="legend"><span class="fills">${t("fills_slot")}</span> <span class="found">${t("found_only")}</span>
      <span class="left">${t("left_over")}</span></p>
    ${others.length > 0 && html`<details class="more"><summary>${t("also_found")} (${others.length})</summary><ul>
      ${others.map((one) => html`<li>“${slice(utterance, one.span)}” <code>${one.recognizer}</code> = ${shown(one.value)} (${percent(one.score)})</li>`)}
    </ul></details>`}
  </div>`;
}

/** What is known of each function, after this turn. */
function Forms({ uptake, t }) {
  if (!uptake.calls.length) return null;
  return html`<${Section} title=${t("forms")} count=${uptake.calls.length}>
    ${uptake.calls.map(
      (call) => html`<div class="form"><h4><code>${call.function}</code> <span class="quiet">${percent(call.confidence)}</span></h4>
        <table><thead><tr><th scope="col">${t("slot")}</th><th scope="col">${t("value")}</th><th scope="col">${t("words")}</th>
          <th scope="col">${t("found_by")}</th><th scope="col">${t("sure")}</th></tr></thead><tbody>
          ${Object.entries(call.slots).flatMap(([path, slot]) =>
            [slot].flat().map(
              (value) => html`<tr class=${value.operator === "!=" ? "out" : ""}><th scope="row"><code>${path}</code></th>
                <td>${value.operator === "!=" && html`<strong>≠</strong> `}${shown(value.value)}</td>
                <td>${value.text ?? "–"}${value.unread && html` <em>${t("unread")}: ${value.unread}</em>`}</td>
                <td>${value.recognizer ?? t(value.from === "utterance" ? "free_text" : `from_${value.from}`)}${value.recognizer && value.from !== "utterance" ? ` (${t(`from_${value.from}`)})` : ""}</td>
                <td><${Bar} value=${value.confidence} /> ${percent(value.confidence)}</td></tr>`,
            ),
          )}
          ${call.missing.map((path) => html`<tr class="missing"><th scope="row"><code>${path}</code></th><td colspan="4">${t("missing")}</td></tr>`)}
          ${call.invalid.map((one) => html`<tr class="missing"><th scope="row"><code>${one.path}</code></th>
            <td colspan="4">${one.kind}: ${one.found === undefined ? "" : shown(one.found)} – ${one.expected}</td></tr>`)}
        </tbody></table></div>`,
    )}
    ${uptake.summary && html`<p class="summary">${uptake.summary}</p>`}
  <//>`;
}

function Candidates({ uptake, t }) {
  const meant = Object.fromEntries((uptake.alternatives ?? []).map((one) => [one.function, one]));
  return html`<${Section} title=${t("candidates")} count=${uptake.candidates.length}>
    ${uptake.candidates.length === 0 && html`<p class="empty">${t("none")}</p>`}
    <ol class="candidates">${uptake.candidates.map(
      (one) => html`<li>
        <div class="row"><code>${one.function}</code> <${Bar} value=${one.score} label=${`${t("score")} ${percent(one.score)}`} /> ${percent(one.score)}
          ${meant[one.function] && html`<span class="quiet">${t("meant")} ${percent(meant[one.function].meant)}, ${t("whole_right")} ${percent(meant[one.function].right)}</span>`}
          ${one.negative !== undefined && html`<span class="quiet">${t("negative")} ${percent(one.negative)}</span>`}</div>
        <ul class="evidence">${one.evidence.map(
          (found) => html`<li class=${found.mode ?? ""}>${found.source === "description" ? html`<em>${t("description")}:</em> ` : ""}
            ${found.mode === "negative" ? html`<em>${t("negative")}:</em> ` : ""}“${found.text}”${" "}
            <span class="quiet">${t("by_meaning")} ${found.dense.toFixed(2)}, ${t("by_words")} ${found.lexical.toFixed(2)}</span></li>`,
        )}</ul></li>`,
    )}</ol><//>`;
}

function Proposals({ uptake, utterance, t }) {
  const [all, setAll] = useState(false);
  const explained = uptake.explanations ?? [];
  if (!explained.some((one) => one.proposals.length)) return null;
  return html`<${Section} title=${t("proposals")} open=${false}>
    <label class="check"><input type="checkbox" checked=${all} onChange=${(event) => setAll(event.target.checked)} /> ${t("unlikely_too")}</label>
    ${explained.map((one) => {
      const likely = one.proposals.filter((each) => all || each.probability >= each.least / 4).slice(0, all ? 48 : 12);
      return html`<h4><code>${one.function}</code></h4>
        ${likely.length === 0 && html`<p class="empty">${t("none")}</p>`}
        <ul class="proposals">${likely.map(
          (each) => html`<li><details><summary><code>${each.slot}</code> “${slice(utterance, each.span)}”${" "}
            <${Bar} value=${each.probability} kind=${each.probability >= each.least ? "" : "weak"} /> ${percent(each.probability)}${" "}
            <span class="quiet">${each.recognizer ?? t("free_text")}</span></summary>
            <${Features} features=${each.features} t=${t} /></details></li>`,
        )}</ul>`;
    })}<//>`;
}

function Features({ features, t }) {
  return html`<dl class="features" aria-label=${t("features")}>
    ${Object.entries(features).map(([name, value]) => html`<div><dt>${name.replaceAll("_", " ")}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

/** What the confidence is made of: what speaks for it to the right, what against it to the left. */
function Parts({ uptake, t, about }) {
  const explained = (uptake.explanations ?? []).filter((one) => one.parts.length);
  if (!explained.length) return null;
  const features = Object.fromEntries((uptake.alternatives ?? []).map((one) => [one.function, one.features]));
  const sure = about?.settings?.sure;
  return html`<${Section} title=${t("made_of")} open=${false}>
    <p class="quiet">${t("made_of_about")}${sure ? ` ${t("sure_from")} ${percent(sure)}.` : ""}</p>
    ${explained.map((one) => {
      const most = Math.max(...one.parts.map((part) => Math.abs(part.adds)), 0.001);
      return html`<h4><code>${one.function}</code></h4>
        <table class="parts"><tbody>${one.parts.slice(0, 14).map(
          (part) => html`<tr><th scope="row">${part.feature === "bias" ? t("bias") : part.feature.replaceAll("_", " ")}</th>
            <td class="quiet">${features[one.function]?.[part.feature] ?? ""}</td>
            <td class="scale"><span class=${part.adds < 0 ? "against" : "for"} style=${{
              width: `${(Math.abs(part.adds) / most) * 50}%`,
              [part.adds < 0 ? "right" : "left"]: "50%",
            }}></span></td><td class="number">${part.adds > 0 ? "+" : ""}${part.adds.toFixed(2)}</td></tr>`,
        )}</tbody></table>`;
    })}<//>`;
}

function Attempts({ attempts, t }) {
  if (!attempts?.length) return null;
  return html`<${Section} title=${t("model_server")} count=${attempts.length}>
    <ol class="attempts">${attempts.map(
      (one) => html`<li><p><strong>${one.stage}</strong> ${one.server} <span class="quiet">${one.usage.total_tokens} ${t("tokens")}${one.cached ? `, ${t("cached")}` : ""}</span>
          ${one.failure && html` <span class="badge failed">${one.failure}</span>`}</p>
        ${one.repairs.length > 0 && html`<p>${t("repairs")}: ${one.repairs.join(", ")}</p>`}
        ${one.violations.length > 0 && html`<ul>${one.violations.map(
          (fault) => html`<li>${fault.kind} <code>${fault.path}</code> ${fault.found === undefined ? "" : shown(fault.found)} – ${fault.expected}</li>`,
        )}</ul>`}
        ${one.exchange && html`<details><summary>${t("prompt")}</summary>
            ${one.exchange.request.messages.map((message) => html`<h5>${message.role}</h5><pre tabindex="0">${message.content ?? JSON.stringify(message.tool_calls, null, 2)}</pre>`)}
            ${one.exchange.request.tools && html`<h5>tools</h5><pre tabindex="0">${JSON.stringify(one.exchange.request.tools, null, 2)}</pre>`}
            ${one.exchange.request.response_format && html`<h5>response_format</h5><pre tabindex="0">${JSON.stringify(one.exchange.request.response_format, null, 2)}</pre>`}
          </details>
          <details open><summary>${t("their_reply")}</summary><pre tabindex="0">${one.exchange.reply ? JSON.stringify(one.exchange.reply, null, 2) : "–"}</pre></details>`}
      </li>`,
    )}</ol><//>`;
}

function Actions({ actions, t }) {
  if (!actions?.length) return null;
  return html`<${Section} title=${t("actions")} count=${actions.length}><pre tabindex="0">${JSON.stringify(actions, null, 2)}</pre><//>`;
}

/** The phases, one behind the other, in proportion. */
function Timeline({ timings, t }) {
  const phases = ["recognize", "embed", "retrieve", "decide", "llm"];
  const total = Math.max(timings.total, phases.reduce((sum, phase) => sum + timings[phase], 0), 0.001);
  let at = 0;
  return html`<${Section} title=${`${t("time")}: ${timings.total.toFixed(1)} ms`} open=${false}>
    <table class="timeline"><tbody>${phases.map((phase) => {
      const from = at;
      at += timings[phase];
      return html`<tr><th scope="row">${t(`phase_${phase}`)}</th><td class="scale"><span class=${phase} style=${{
        left: `${(from / total) * 100}%`,
        width: `${(timings[phase] / total) * 100}%`,
      }}></span></td><td class="number">${timings[phase].toFixed(2)} ms</td></tr>`;
    })}</tbody></table><//>`;
}
