// A module as its author wrote it, its versions, and how well it does on its own cases.
import * as api from "./api.js";
import { Bar, Diff, Findings, html, percent, Problem, Section, shown, useEffect, useRef, useState } from "./lib.js";
import { Moves } from "./mend.js";

export function Module({ name, t, changed }) {
  const [about, setAbout] = useState(null);
  const [state, setState] = useState(null);
  const [versions, setVersions] = useState([]);
  const [error, setError] = useState(null);

  async function reload() {
    setError(null);
    // What does not load can still be read, and mended.
    const [module, files, list] = await Promise.allSettled([api.module(name), api.files(name), api.versions(name)]);
    setAbout(module.value ?? null);
    setState(files.value ?? null);
    setVersions(list.value?.data ?? []);
    setError(module.reason ?? files.reason ?? null);
  }
  useEffect(() => void reload(), [name]);
  const done = async () => {
    await reload();
    changed();
  };

  return html`<div class="module">
    <${Problem} error=${error} t=${t} />
    ${about && html`<section class="card"><h2>${about.name}</h2><p>${about.description}</p>
      <p class="quiet">${about.counts.functions} ${t("functions")}, ${about.counts.exemplars} ${t("exemplars")}, ${about.counts.recognizers} ${t("recognizers")}</p>
      <${Findings} list=${about.failure} t=${t} />
      ${about.warnings.length > 0 && html`<${Section} title=${t("warnings")} count=${about.warnings.length} open=${false}><${Findings} list=${about.warnings} t=${t} /><//>`}
      <${Section} title=${t("functions")} count=${about.functions.length} open=${about.functions.length < 8}>
        ${about.functions.map((one) => html`<div class="function"><h4><code>${one.name}</code> <span class="quiet">${one.exemplars} ${t("exemplars")}</span></h4>
          <p>${one.description}</p>
          <ul>${one.slots.map((slot) => html`<li><code>${slot.path}</code> <span class="quiet">${slot.kind}${slot.required ? `, ${t("required")}` : ""}</span>
            ${slot.choices && html` ${slot.choices.slice(0, 12).map(shown).join(" · ")}${slot.choices.length > 12 ? " …" : ""}`}
            ${slot.question && html` <em>“${slot.question}”</em>`}</li>`)}</ul></div>`)}
      <//>
    </section>`}
    ${state && html`<${Editor} key=${state.tag} name=${name} state=${state} t=${t} done=${done} />`}
    ${state && html`<${Versions} name=${name} state=${state} list=${versions} t=${t} done=${done} />`}
  </div>`;
}

/** A file, changed as a whole: checked first, then saved. */
function Editor({ name, state, t, done }) {
  const [file, setFile] = useState("");
  const [before, setBefore] = useState("");
  const [text, setText] = useState("");
  const [tried, setTried] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);

  async function open(path) {
    setError(null);
    setTried(null);
    try {
      const found = await api.file(name, path);
      setFile(path);
      setBefore(found.text);
      setText(found.text);
    } catch (failed) {
      setError(failed);
    }
  }
  const changes = () => [{ op: "put", file, text }];
  async function act(what) {
    setBusy(true);
    setError(null);
    try {
      if (what === "check") setTried(await api.tryOut(name, changes()));
      else {
        await api.change(name, state.tag, changes(), `${file}`);
        await done();
      }
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  }
  return html`<section class="card"><h2>${t("files")}</h2>
    ${!state.writable && html`<p class="problem">${t("read_only")}</p>`}
    <ul class="files">${state.files.map((one) => html`<li><button class="quiet" aria-pressed=${one.name === file} onClick=${() => open(one.name)}><code>${one.name}</code></button>
      <span class="quiet">${one.bytes} B</span></li>`)}</ul>
    ${file && html`<label for="file-text"><code>${file}</code></label>
      <textarea id="file-text" class="code" rows="18" spellcheck="false" wrap="off" value=${text} onInput=${(event) => { setText(event.target.value); setTried(null); }}></textarea>
      <div class="row"><button id="file-check" disabled=${busy || text === before} onClick=${() => act("check")}>${t("check")}</button>
        <button class="main" id="file-save" disabled=${busy || text === before || !state.writable} onClick=${() => act("save")}>${t("save")}</button></div>
      ${tried && html`<${Findings} list=${tried.diagnostics} t=${t} /><${Diff} files=${tried.diff} />`}`}
    <${Problem} error=${error} t=${t} />
  </section>`;
}

function Versions({ name, state, list, t, done }) {
  const [open, setOpen] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  async function act(run) {
    setBusy(true);
    setError(null);
    try {
      await run();
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  }
  return html`<section class="card"><h2>${t("versions")}</h2>
    ${list.length === 0 && html`<p class="empty">${t("no_versions")}</p>`}
    <ol class="versions" reversed>${list.map((one) => html`<li value=${one.id}>
      <button class="quiet" aria-expanded=${open?.id === one.id} onClick=${() => (open?.id === one.id ? setOpen(null) : act(async () => setOpen({ id: one.id, ...(await api.version(name, one.id)) })))}>
        <time>${one.at.replace("T", " ").replace("Z", "")}</time> ${one.reason || "–"}</button>
      <span class="quiet">${one.author} ${one.changed.join(", ")}${one.tag === state.tag ? ` (${t("as_now")})` : ""}</span>
      ${open?.id === one.id && html`<div class="inside"><${Diff} files=${open.diff} />
        ${one.tag !== state.tag && html`<button disabled=${busy || !state.writable} onClick=${() => act(async () => {
          await api.restore(name, state.tag, one.id);
          setOpen(null);
          await done();
        })}>${t("restore")}</button>`}</div>`}
    </li>`)}</ol>
    <${Problem} error=${error} t=${t} />
  </section>`;
}

export function Measure({ name, t }) {
  const [versions, setVersions] = useState([]);
  const [since, setSince] = useState("");
  const [progress, setProgress] = useState(null);
  const [report, setReport] = useState(null);
  const [error, setError] = useState(null);
  const running = useRef(null);
  useEffect(() => {
    api.versions(name).then((list) => setVersions(list.data), setError);
    return () => running.current?.abort();
  }, [name]);

  async function run() {
    setError(null);
    setReport(null);
    setProgress({ part: "after", done: 0, all: 0 });
    running.current = new AbortController();
    try {
      setReport(await api.measure(name, since ? { since: Number(since) } : {}, setProgress, running.current.signal));
    } catch (failed) {
      if (failed.name !== "AbortError") setError(failed);
    } finally {
      setProgress(null);
    }
  }
  return html`<div class="measure"><section class="card"><h2>${t("measure")}</h2><p class="quiet">${t("measure_about")}</p>
    <div class="row wrap">
      <label>${t("compared_with")} <select id="since" value=${since} onChange=${(event) => setSince(event.target.value)}>
        <option value="">${t("nothing")}</option>
        ${versions.map((one) => html`<option value=${one.id}>${one.id}: ${one.reason.slice(0, 60)}</option>`)}</select></label>
      <button class="main" id="run" disabled=${!!progress} onClick=${run}>${t("run")}</button>
      ${progress && html`<button onClick=${() => running.current?.abort()}>${t("stop")}</button>`}
    </div>
    ${progress && html`<p role="status"><${Bar} value=${progress.all ? progress.done / progress.all : 0} /> ${t(`part_${progress.part}`)} ${progress.done}/${progress.all}</p>`}
    <${Problem} error=${error} t=${t} />
  </section>
  ${report && html`<section class="card" id="report">
    ${report.before && html`<${Moves} report=${report} t=${t} />`}
    <${Scores} report=${report} t=${t} />
    <${Plots} after=${report.after} before=${report.before} t=${t} />
    <${Wrong} report=${report.after} t=${t} />
  </section>`}</div>`;
}

function Scores({ report: { before, after }, t }) {
  const rows = [
    [t("cases"), (one) => one.scores.cases],
    [t("answers_right"), (one) => percent(one.scores.right)],
    [t("functions_right"), (one) => percent(one.scores.function.accuracy)],
    [t("best_guess"), (one) => percent(one.scores.function.best_guess)],
    [t("calls_made"), (one) => one.scores.calls?.made ?? "–"],
    [t("calls_wrong"), (one) => one.scores.calls?.wrong ?? "–"],
    [t("dialogues"), (one) => `${one.dialogues.plain.right + one.dialogues.scripted.right}/${one.dialogues.plain.dialogues + one.dialogues.scripted.dialogues}`],
  ];
  return html`<table class="scores"><thead><tr><th></th>${before && html`<th scope="col">${t("part_before")}</th>`}<th scope="col">${before ? t("part_after") : t("now_is")}</th></tr></thead>
    <tbody>${rows.map(([title, of]) => html`<tr><th scope="row">${title}</th>${before && html`<td>${of(before)}</td>`}<td>${of(after)}</td></tr>`)}</tbody></table>`;
}

/** Confidence against how often it was right, and how much can be answered at which risk. */
function Plots({ before, after, t }) {
  const series = [...(before ? [["before", before]] : []), ["after", after]];
  const bins = (one) => one.scores.calibration.map((bin) => [bin.confidence, bin.right, bin.cases]).filter(([x, y]) => x != null && y != null);
  if (!series.some(([, one]) => bins(one).length)) return null;
  const size = 220;
  const at = (value) => value * size;
  return html`<figure class="plot"><figcaption>${t("calibration")}</figcaption>
    <svg viewBox="-34 -8 268 262" role="img" aria-label=${t("calibration_about")}>
      <rect x="0" y="0" width=${size} height=${size} class="frame" />
      <line x1="0" y1=${size} x2=${size} y2="0" class="even" />
      ${[0, 0.5, 1].map((tick) => html`<text x=${at(tick)} y=${size + 16} class="tick" text-anchor="middle">${tick}</text><text x="-6" y=${size - at(tick) + 4} class="tick" text-anchor="end">${tick}</text>`)}
      <text x=${size / 2} y=${size + 30} class="tick" text-anchor="middle">${t("confidence")}</text>
      ${series.map(([part, one]) => html`<g class=${part}>${bins(one).map(([x, y, count]) => html`<circle cx=${at(x)} cy=${size - at(y)} r=${Math.min(12, 2 + Math.sqrt(count ?? 1))} />`)}</g>`)}
    </svg></figure>`;
}

function Wrong({ report, t }) {
  const dialogues = report.wrong_dialogues ?? [];
  return html`<${Section} title=${t("not_right")} count=${report.wrong.length + dialogues.length}>
    <ul class="wrong">${report.wrong.map((one) => html`<li><code>${one.place}</code> “${one.utterance}”
        <div class="quiet">${t("expected")}: ${one.expected}${one.expected_outcome ? ` (${one.expected_outcome})` : ""} – ${t("got")}: ${one.got} (${one.outcome})</div>
        ${one.findings.length > 0 && html`<pre>${one.findings.map((finding) => JSON.stringify(finding)).join("\n")}</pre>`}</li>`)}
      ${dialogues.map((one) => html`<li><code>${one.place}</code> ${one.id ?? ""} ${t("turn")} ${one.turn}
        <ul>${one.so_far.map((line) => html`<li>“${line.user}” → ${line.answer}</li>`)}</ul>
        <div class="quiet">${t("expected")}: ${JSON.stringify(one.expected)}</div></li>`)}</ul><//>`;
}
