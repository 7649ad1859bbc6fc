// What every file here builds pages with: nothing in it makes HTML of a text.
import { Fragment, h, render } from "./preact.js";
import htm from "./htm.js";

export { useCallback, useEffect, useMemo, useRef, useState } from "./hooks.js";
export { Fragment, h, render };
export const html = htm.bind(h);

/** The characters of a text as the service counts them: spans are in Unicode scalar values. */
export const characters = (text) => Array.from(text);

export const slice = (text, [from, to]) => characters(text).slice(from, to).join("");

export const percent = (value) => (value === null || value === undefined ? "–" : `${Math.round(value * 100)} %`);

/** A value as JSON, but a text as itself. */
export const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** A bar from 0 to 1, told in words as well. */
export function Bar({ value, kind = "", label }) {
  const share = Math.max(0, Math.min(1, value || 0));
  return html`<span class="bar ${kind}" role="img" aria-label=${label ?? percent(value)}>
    <span class="fill" style=${{ width: `${share * 100}%` }}></span>
  </span>`;
}

/** A part of a page that can be folded. */
export function Section({ title, open = true, count, children }) {
  return html`<details class="section" open=${open}>
    <summary><h3>${title}${count === undefined ? "" : html` <span class="count">${count}</span>`}</h3></summary>
    <div class="inside">${children}</div>
  </details>`;
}

/** What went wrong, with what the checks of a module found. */
export function Problem({ error, t }) {
  if (!error) return null;
  return html`<div class="problem" role="alert">
    <p>${error.message}</p>
    <${Findings} list=${error.diagnostics} t=${t} />
  </div>`;
}

export function Findings({ list, t }) {
  if (!list?.length) return null;
  return html`<ul class="findings">
    ${list.map(
      (one) => html`<li class=${one.severity}>
        <strong>${t(one.severity)}</strong>${" "}
        <code>${one.file}${one.line ? `:${one.line}` : ""}</code> ${one.message}
        ${one.hint && html`<div class="hint">${one.hint}</div>`}
      </li>`,
    )}
  </ul>`;
}

/** A unified diff, line by line. */
export function Diff({ files }) {
  return files.map(
    ({ file, text }) => html`<figure class="diff">
      <figcaption><code>${file}</code></figcaption>
      <pre tabindex="0">${text
        .trimEnd()
        .split("\n")
        .filter((line) => !line.startsWith("\\ No newline"))
        .map((line) => {
          const kind = line.startsWith("+") ? "plus" : line.startsWith("-") ? "minus" : line.startsWith("@@") ? "place" : "";
          return html`<span class=${kind}>${line || " "}</span>`;
        })}</pre>
    </figure>`,
  );
}
