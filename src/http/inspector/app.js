// The page: which module, which part of it is looked at, the key, the language.
import * as api from "./api.js";
import { html, Problem, render, useCallback, useEffect, useState } from "./lib.js";
import { Measure, Module } from "./module.js";
import { Try } from "./try.js";
import { LANGUAGES, words } from "./words.js";

const PARTS = ["try", "module", "measure"];

/** `#try/weather`: what is looked at can be linked to. */
function place() {
  const [part, module] = location.hash.slice(1).split("/").map((one) => {
    try {
      return decodeURIComponent(one);
    } catch {
      return "";
    }
  });
  return { part: PARTS.includes(part) ? part : "try", module: module || "" };
}

function usualLanguage() {
  const asked = [localStorage.getItem("uptake.language"), ...navigator.languages];
  return asked.map((one) => (one ?? "").slice(0, 2)).find((one) => LANGUAGES.includes(one)) ?? "en";
}

function App() {
  const [here, setHere] = useState(place);
  const [language, setLanguage] = useState(usualLanguage);
  const [modules, setModules] = useState(null);
  const [error, setError] = useState(null);
  const [asksKey, setAsksKey] = useState(false);
  const t = words(language);

  useEffect(() => {
    const moved = () => setHere(place());
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = t("title");
  }, [language]);

  const reload = useCallback(async () => {
    try {
      const { data } = await api.modules();
      setModules(data);
      setError(null);
      setAsksKey(false);
    } catch (failed) {
      setModules(null);
      setAsksKey(failed.status === 401 || failed.status === 403);
      setError(failed.status === 401 && !api.key.get() ? null : failed);
    }
  }, []);
  useEffect(() => void reload(), []);

  const go = (part, module) => {
    location.hash = `${part}/${encodeURIComponent(module)}`;
  };
  const name = here.module || modules?.find((one) => one.state === "serving")?.name || modules?.[0]?.name || "";

  return html`
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("main").focus();
    }}>${t("skip")}</a>
    <header class="top">
      <h1><img src="icon.svg" alt="" width="24" height="24" /> ${t("title")}</h1>
      ${modules && html`<label class="pick">${t("module")}
        <select id="module" value=${name} onChange=${(event) => go(here.part, event.target.value)}>
          ${modules.map((one) => html`<option value=${one.name}>${one.name}${one.state === "serving" ? "" : ` (${t(one.state)})`}</option>`)}
        </select></label>
      <nav aria-label=${t("parts")}>
        ${PARTS.map(
          (part) => html`<a id=${`part-${part}`} href=${`#${part}/${encodeURIComponent(name)}`}
            aria-current=${part === here.part ? "page" : undefined}>${t(part)}</a>`,
        )}
      </nav>`}
      <span class="spring"></span>
      <label class="pick quiet"><span class="unseen">${t("language")}</span>
        <select value=${language} onChange=${(event) => {
          localStorage.setItem("uptake.language", event.target.value);
          setLanguage(event.target.value);
        }}>${LANGUAGES.map((one) => html`<option value=${one}>${words(one)("own_name")}</option>`)}</select></label>
      <button class="quiet" id="key-button" aria-expanded=${asksKey} onClick=${() => setAsksKey(!asksKey)}>${t("key")}</button>
    </header>
    <main id="main" tabindex="-1">
      ${asksKey && html`<${Key} t=${t} done=${reload} />`}
      <${Problem} error=${error} t=${t} />
      ${modules?.length === 0 && html`<p class="empty">${t("no_modules")}</p>`}
      ${name && here.part === "try" && html`<${Try} key=${name} name=${name} t=${t} language=${language} />`}
      ${name && here.part === "module" && html`<${Module} key=${name} name=${name} t=${t} changed=${reload} />`}
      ${name && here.part === "measure" && html`<${Measure} key=${name} name=${name} t=${t} />`}
    </main>`;
}

function Key({ t, done }) {
  const [text, setText] = useState(api.key.get());
  const keep = (event) => {
    event.preventDefault();
    api.key.set(text.trim());
    done();
  };
  return html`<form class="card key" onSubmit=${keep}>
    <p>${t("key_about")}</p>
    <label>${t("key")} <input id="key" type="password" autocomplete="off" spellcheck="false" value=${text}
      onInput=${(event) => setText(event.target.value)} /></label>
    <button class="main" type="submit">${t("use_key")}</button>
    <button type="button" onClick=${() => {
      api.key.set("");
      setText("");
      done();
    }}>${t("forget_key")}</button>
  </form>`;
}

render(html`<${App} />`, document.getElementById("app"));
