// What was read wrong, put right: the words become an exemplar, a negative, a synonym or a case; what else that changes is
// told before it is saved, and what was saved can be taken back.
import * as api from "./api.js";
import { Bar, characters, Diff, Findings, html, percent, Problem, shown, useEffect, useMemo, useRef, useState } from "./lib.js";

const KINDS = ["exemplar", "negative", "synonym", "case"];

/** How a template names a slot: by the end of its path, where no other slot ends so. */
function markOf(path, slots) {
  const end = (one) => one.split(".").at(-1).replaceAll("[]", "");
  return slots.filter((one) => end(one.path) === end(path)).length === 1 ? end(path) : path;
}

/** Where what was said was read for a slot of the function, in characters. */
function read(turn, name) {
  const call = turn.answer.uptake.calls.find((one) => one.function === name);
  const values = Object.entries(call?.slots ?? {}).flatMap(([path, slot]) => [slot].flat().map((one) => ({ path, ...one })));
  return values.filter((one) => one.span && one.from === "utterance" && one.operator === "==");
}

function template(text, marks, slots) {
  const signs = characters(text);
  let made = "";
  let at = 0;
  for (const { span, path } of [...marks].sort((a, b) => a.span[0] - b.span[0])) {
    made += signs.slice(at, span[0]).join("") + `<${markOf(path, slots)}>`;
    at = span[1];
  }
  return (made + signs.slice(at).join("")).trim();
}

/** Marks after the text changed: those before and behind the change stay with their words. */
function moved(marks, before, after) {
  const [a, b] = [characters(before), characters(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const shift = b.length - a.length;
  return marks.flatMap((mark) => {
    if (mark.span[1] <= head) return [mark];
    if (mark.span[0] >= a.length - tail) return [{ ...mark, span: mark.span.map((one) => one + shift) }];
    return [];
  });
}

/** Names of the lists that the author wrote: choices of the schema are lists, too, and stand in no file. */
function listsOf(text) {
  try {
    const written = JSON.parse(text);
    const defined = written.recognizers && !written.recognizers.rec_type ? written.recognizers : written;
    return Object.keys(defined).filter((one) => defined[one]?.instances);
  } catch {
    return [];
  }
}

function valueOf(words, slot) {
  if (["integer", "number"].includes(slot?.kind) && words.trim() && !Number.isNaN(Number(words))) return Number(words);
  return slot?.choices?.find((choice) => String(choice).toLowerCase() === words.toLowerCase()) ?? words;
}

export function Mend({ name, turn, about, again, changed, close, t }) {
  const uptake = turn.answer.uptake;
  const functions = about?.functions ?? [];
  const [kind, setKind] = useState("exemplar");
  const [chosen, setChosen] = useState(uptake.calls[0]?.function ?? uptake.candidates[0]?.function ?? functions[0]?.name ?? "");
  const [text, setText] = useState(turn.utterance);
  const [marks, setMarks] = useState(() => read(turn, chosen).map(({ span, path }) => ({ span, path })));
  const [withCase, setWithCase] = useState(!turn.from);
  const [written, setWritten] = useState(null);
  const [synonym, setSynonym] = useState({ slot: "", label: "", said: "" });
  const [reason, setReason] = useState("");
  const [state, setState] = useState(null);
  const [lists, setLists] = useState([]);
  const [tried, setTried] = useState(null);
  const [progress, setProgress] = useState(null);
  const [report, setReport] = useState(null);
  const [saved, setSaved] = useState(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const field = useRef(null);
  const heading = useRef(null);
  const running = useRef(null);

  const own = functions.find((one) => one.name === chosen);
  const slots = own?.slots ?? [];

  useEffect(() => {
    heading.current?.focus();
    api.files(name).then(setState, setError);
    // A module may have no such file.
    api.file(name, "recognizers.json").then(({ text }) => setLists(listsOf(text)), () => setLists([]));
    return () => running.current?.abort();
  }, []);

  const said = useMemo(() => {
    const known = read(turn, chosen);
    const values = {};
    for (const { span, path } of marks) {
      const same = known.find((one) => one.path === path && one.span[0] === span[0] && one.span[1] === span[1]);
      values[path] = same ? same.value : valueOf(characters(text).slice(...span).join(""), slots.find((one) => one.path === path));
    }
    return values;
  }, [marks, text, chosen, about]);
  const usualCase = useMemo(() => {
    if (kind === "negative") return { utterance: text.trim(), function: null };
    const made = { utterance: text.trim(), function: chosen };
    if (Object.keys(said).length) made.arguments = said;
    return made;
  }, [kind, text, chosen, said]);
  const caseText = written ?? JSON.stringify(usualCase);

  function changes() {
    const list = [];
    if (kind === "exemplar") list.push({ op: "add_exemplar", function: chosen, template: template(text, marks, slots) });
    if (kind === "negative") list.push({ op: "add_exemplar", function: chosen, template: template(text, marks, slots), mode: "negative" });
    if (kind === "synonym") {
      const slot = slots.find((one) => one.path === synonym.slot);
      const label = slot?.choices?.find((choice) => String(choice) === synonym.label) ?? synonym.label;
      const recognizer = slot?.recognizers.find((one) => lists.includes(one)) ?? markOf(synonym.slot, slots);
      list.push({ op: "add_expression", recognizer, slot: `${chosen}.${synonym.slot}`, label, expression: synonym.said.trim() });
    }
    if (withCase || kind === "case") list.push({ op: "add_case", case: JSON.parse(caseText) });
    return list;
  }

  /** Whatever was tried before is not what would be saved now. */
  const stale = () => {
    running.current?.abort();
    setTried(null);
    setReport(null);
    setProgress(null);
    setSaved(null);
  };

  function mark(path) {
    const { selectionStart, selectionEnd } = field.current;
    const count = (until) => characters(text.slice(0, until)).length;
    let [from, to] = [count(selectionStart), count(selectionEnd)];
    const signs = characters(text);
    while (from < to && /\s/u.test(signs[from])) from += 1;
    while (to > from && /\s/u.test(signs[to - 1])) to -= 1;
    field.current.focus();
    if (from === to) return;
    const others = marks.filter((one) => one.span[1] <= from || to <= one.span[0]);
    setMarks(path ? [...others, { span: [from, to], path }] : others);
    if (kind === "synonym") setSynonym({ ...synonym, slot: path || synonym.slot, said: signs.slice(from, to).join("") });
    setWritten(null);
    stale();
  }

  async function tryOut(event) {
    event?.preventDefault();
    setBusy(true);
    setError(null);
    stale();
    const controller = new AbortController();
    running.current = controller;
    try {
      const list = changes();
      const found = await api.tryOut(name, list);
      setTried({ ...found, changes: list });
      if (!found.refused) {
        setProgress({ part: "before", done: 0, all: 0 });
        setReport(await api.measure(name, { changes: list }, setProgress, controller.signal));
      }
    } catch (failed) {
      if (failed.name !== "AbortError") setError(failed);
    } finally {
      setProgress(null);
      setBusy(false);
    }
  }

  async function save() {
    setBusy(true);
    setError(null);
    try {
      const done = await api.change(name, state.tag, tried.changes, reason || `${t(`kind_${kind}`)}: ${text.trim()}`.slice(0, 400));
      setSaved(done);
      setState({ ...state, tag: done.tag });
      changed();
      await again();
    } catch (failed) {
      setError(failed);
      if (failed.code === "module_changed") {
        stale();
        api.files(name).then(setState, setError);
      }
    } finally {
      setBusy(false);
    }
  }

  async function undo() {
    setBusy(true);
    setError(null);
    try {
      const done = await api.restore(name, state.tag, saved.version.id - 1, `${t("undo")}: ${saved.version.reason}`.slice(0, 400));
      setState({ ...state, tag: done.tag });
      stale();
      changed();
      await again();
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  }

  const choose = (next) => {
    setChosen(next);
    setMarks(read(turn, next).filter(() => text === turn.utterance).map(({ span, path }) => ({ span, path })));
    setWritten(null);
    stale();
  };
  let isCase = true;
  try {
    JSON.parse(caseText);
  } catch {
    isCase = false;
  }
  const ready = text.trim() && (kind === "case" || chosen) && (!(withCase || kind === "case") || isCase) &&
    (kind !== "synonym" || (synonym.slot && synonym.label && synonym.said.trim()));
  const listed = slots.filter((slot) => slot.kind === "string" || slot.choices?.length);
  const choices = slots.find((one) => one.path === synonym.slot)?.choices ?? [];

  return html`<section class="card mend" aria-labelledby="mend-title">
    <div class="row"><h2 id="mend-title" tabindex="-1" ref=${heading}>${t("mend_title")}</h2>
      <button class="quiet" id="mend-close" onClick=${close}>${t("close")}</button></div>
    <form onSubmit=${tryOut}>
      <fieldset class="kinds"><legend>${t("becomes")}</legend>
        ${KINDS.map((one) => html`<label class="check"><input type="radio" name="kind" id=${`kind-${one}`} value=${one} checked=${kind === one}
          onChange=${() => { setKind(one); setWritten(null); stale(); }} /> ${t(`kind_${one}`)}</label>`)}
      </fieldset>
      <p class="quiet">${t(`about_${kind}`)}</p>
      <label>${t(kind === "negative" ? "not_function" : "function")}
        <select id="mend-function" value=${chosen} onChange=${(event) => choose(event.target.value)}>
          ${functions.map((one) => html`<option value=${one.name}>${one.name}</option>`)}
        </select></label>
      <label for="mend-text">${t("words_said")}</label>
      <textarea id="mend-text" ref=${field} rows="2" value=${text} aria-describedby="mend-keys"
        onInput=${(event) => { setMarks(moved(marks, text, event.target.value)); setText(event.target.value); setWritten(null); stale(); }}
        onKeyDown=${(event) => {
          const index = event.altKey ? Number(event.code.replace("Digit", "")) : NaN;
          if (index >= 1 && index <= slots.length) { event.preventDefault(); mark(slots[index - 1].path); }
          if (event.altKey && index === 0) { event.preventDefault(); mark(""); }
        }}></textarea>
      ${kind !== "case" && html`<div class="slots" role="group" aria-label=${t("mark_as")}>
        <span id="mend-keys" class="quiet">${t("mark_as")}</span>
        ${slots.map((slot, index) => html`<button type="button" class="slot" title=${slot.description || slot.path} onMouseDown=${(event) => event.preventDefault()}
          onClick=${() => mark(slot.path)}><code>${slot.path}</code>${index < 9 && html` <kbd>Alt ${index + 1}</kbd>`}</button>`)}
        <button type="button" class="slot" onMouseDown=${(event) => event.preventDefault()} onClick=${() => mark("")}>${t("no_slot")} <kbd>Alt 0</kbd></button>
      </div>`}
      ${(kind === "exemplar" || kind === "negative") && html`<p>${t("template")}: <code id="mend-template">${template(text, marks, slots)}</code></p>`}
      ${kind === "synonym" && html`<div class="row wrap">
        <label>${t("slot")} <select id="synonym-slot" value=${synonym.slot} onChange=${(event) => { setSynonym({ ...synonym, slot: event.target.value, label: "" }); stale(); }}>
          <option value=""></option>${listed.map((slot) => html`<option value=${slot.path}>${slot.path}</option>`)}</select></label>
        <label>${t("means")} ${choices.length > 0
          ? html`<select id="synonym-label" value=${synonym.label} onChange=${(event) => { setSynonym({ ...synonym, label: event.target.value }); stale(); }}>
              <option value=""></option>${choices.map((choice) => html`<option value=${String(choice)}>${shown(choice)}</option>`)}</select>`
          : html`<input id="synonym-label" value=${synonym.label} onInput=${(event) => { setSynonym({ ...synonym, label: event.target.value }); stale(); }} />`}</label>
        <label>${t("synonym")} <input id="synonym-said" value=${synonym.said} onInput=${(event) => { setSynonym({ ...synonym, said: event.target.value }); stale(); }} /></label>
      </div>`}
      ${kind !== "case" && html`<label class="check"><input type="checkbox" id="with-case" checked=${withCase} onChange=${(event) => { setWithCase(event.target.checked); stale(); }} /> ${t("with_case")}</label>`}
      ${(withCase || kind === "case") && html`<label for="mend-case">${t("case")}</label>
        <textarea id="mend-case" rows="3" spellcheck="false" class="code" aria-invalid=${!isCase} value=${caseText}
          onInput=${(event) => { setWritten(event.target.value); stale(); }}></textarea>`}
      <div class="row"><button class="main" id="try-out" type="submit" disabled=${busy || !ready}>${t("what_changes")}</button></div>
    </form>
    ${progress && html`<p role="status"><${Bar} value=${progress.all ? progress.done / progress.all : 0} /> ${t(`part_${progress.part}`)} ${progress.done}/${progress.all}</p>`}
    <${Problem} error=${error} t=${t} />
    ${tried && html`<div class="tried">
      ${tried.refused && html`<p class="problem" role="alert">${t("refused_about")}</p>`}
      <${Findings} list=${tried.diagnostics.filter((one) => tried.refused || one.severity === "error")} t=${t} />
      <${Diff} files=${tried.diff} />
      ${report && html`<${Moves} report=${report} t=${t} />`}
      ${report && !saved && html`<div class="row wrap">
        <label class="grow">${t("reason")} <input id="reason" value=${reason} maxlength="400" onInput=${(event) => setReason(event.target.value)} /></label>
        <button class="main" id="save" disabled=${busy || state?.writable === false} onClick=${save}>${t("save")}</button>
      </div>`}
      ${state?.writable === false && html`<p class="problem">${t("read_only")}</p>`}
    </div>`}
    ${saved && html`<p class="good" id="saved" role="status">${t("saved")} ${saved.version ? `(${t("version")} ${saved.version.id})` : ""}
      ${saved.version && html` <button id="undo" disabled=${busy} onClick=${undo}>${t("undo")}</button>`}</p>`}
  </section>`;
}

/** What is newly right beside what no longer is. */
export function Moves({ report, t }) {
  const lists = [["newly_right", "good"], ["no_longer_right", "bad"]];
  return html`<div class="moves">
    ${lists.map(([list, kind]) => html`<div class="move ${kind}"><h3 id=${list}>${t(list)} <span class="count">${report[list].length}</span></h3>
      ${report[list].length > 0 && html`<ul>${report[list].map((one) => html`<li><code>${one.place}</code> “${one.utterance}”
        ${list === "no_longer_right" && html`<div class="quiet">${t("expected")}: ${one.expected} – ${t("got")}: ${one.got}</div>`}</li>`)}</ul>`}</div>`)}
    <p class="quiet">${t("still_right")} ${report.still_right}, ${t("still_wrong")} ${report.still_wrong}.
      ${report.before && html` ${t("answers_right")}: ${percent(report.before.scores.right)} → ${percent(report.after.scores.right)}`}</p>
  </div>`;
}
