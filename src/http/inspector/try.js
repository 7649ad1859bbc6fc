// A conversation with a module, and why each turn came out as it did.
import * as api from "./api.js";
import { html, Problem, useEffect, useRef, useState } from "./lib.js";
import { Mend } from "./mend.js";
import { Why } from "./why.js";

const STRATEGIES = ["auto", "local", "tools", "structured", "staged"];

export function Try({ name, t, language }) {
  const [turns, setTurns] = useState([]);
  const [chosen, setChosen] = useState(null);
  const [beside, setBeside] = useState(null);
  const [text, setText] = useState("");
  const [strategy, setStrategy] = useState("");
  const [now, setNow] = useState("");
  const [goesOn, setGoesOn] = useState(true);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const [about, setAbout] = useState(null);
  const [mends, setMends] = useState(false);
  const field = useRef(null);
  const end = useRef(null);

  useEffect(() => {
    api.module(name).then(setAbout, setError);
    field.current?.focus();
  }, [name]);
  useEffect(() => end.current?.scrollIntoView?.({ block: "nearest" }), [turns.length]);

  /** `from` is the turn before; the conversation goes on from its state. */
  async function say(utterance, from) {
    setBusy(true);
    setError(null);
    const body = { utterance, explain: true };
    if (strategy) body.strategy = strategy;
    if (now) body.now = now;
    if (from?.answer.uptake.state) body.state = from.answer.uptake.state;
    try {
      const answer = await api.predict(name, body);
      return { utterance, answer, from };
    } catch (failed) {
      setError(failed);
      return null;
    } finally {
      setBusy(false);
    }
  }

  async function send(event) {
    event?.preventDefault();
    const utterance = text.trim();
    if (!utterance || busy) return;
    const turn = await say(utterance, goesOn ? turns.at(-1) : undefined);
    if (!turn) return;
    setTurns([...turns, turn]);
    setChosen(turns.length);
    setBeside(null);
    setMends(false);
    setText("");
    field.current?.focus();
  }

  /** The same words again, of the module as it is by now; what came after them no longer follows. */
  async function again(index) {
    const turn = await say(turns[index].utterance, turns[index].from);
    if (!turn) return null;
    setTurns([...turns.slice(0, index), { ...turn, before: turns[index].answer }]);
    setChosen(index);
    setBeside(null);
    return turn;
  }

  const turn = chosen === null ? null : turns[chosen];
  return html`<div class="try">
    <section class="talk card" aria-label=${t("conversation")}>
      <ol class="turns" aria-live="polite">
        ${turns.length === 0 && html`<li class="empty">${t("try_about")}</li>`}
        ${turns.map(
          (one, index) => html`<li class=${index === chosen ? "chosen" : index === beside ? "beside" : ""}>
            <button class="turn" aria-pressed=${index === chosen} onClick=${() => {
              setChosen(index);
              setMends(false);
              if (beside === index) setBeside(null);
            }}>
              <span class="said">${one.utterance}</span>
              <${Answer} answer=${one.answer} t=${t} />
            </button>
            ${turns.length > 1 && index !== chosen && html`<button class="quiet small" aria-pressed=${index === beside}
              onClick=${() => setBeside(index === beside ? null : index)}>${t("beside")}</button>`}
          </li>`,
        )}
        <li ref=${end} class="end" aria-hidden="true"></li>
      </ol>
      <form onSubmit=${send}>
        <label class="unseen" for="utterance">${t("utterance")}</label>
        <textarea id="utterance" ref=${field} rows="2" maxlength="8000" placeholder=${t("utterance_hint")} value=${text}
          onInput=${(event) => setText(event.target.value)}
          onKeyDown=${(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
          }}></textarea>
        <div class="row">
          <button class="main" id="send" disabled=${busy || !text.trim()}>${t("say")}</button>
          <button type="button" id="anew" disabled=${!turns.length} onClick=${() => {
            setTurns([]);
            setChosen(null);
            setBeside(null);
            setMends(false);
            field.current?.focus();
          }}>${t("anew")}</button>
          <label class="check"><input type="checkbox" checked=${goesOn} onChange=${(event) => setGoesOn(event.target.checked)} /> ${t("goes_on")}</label>
        </div>
        <details class="more"><summary>${t("settings")}</summary>
          <label>${t("strategy")} <select value=${strategy} onChange=${(event) => setStrategy(event.target.value)}>
            <option value="">${t("of_module")}</option>
            ${STRATEGIES.map((one) => html`<option value=${one}>${one}</option>`)}
          </select></label>
          <label>${t("now")} <input value=${now} placeholder="2026-03-01T09:00:00+01:00[Europe/Zurich]" spellcheck="false"
            onInput=${(event) => setNow(event.target.value.trim())} /></label>
        </details>
      </form>
      <${Problem} error=${error} t=${t} />
    </section>
    ${turn && html`<section class="answers ${beside === null ? "" : "two"}" aria-label=${t("why")}>
      ${mends && html`<${Mend} key=${`${chosen}`} name=${name} t=${t} turn=${turn} about=${about} again=${() => again(chosen)}
        changed=${() => api.module(name).then(setAbout, setError)} close=${() => setMends(false)} />`}
      <div class="pair">
        <${Why} t=${t} turn=${turn} about=${about} mend=${mends ? null : () => setMends(true)} number=${chosen + 1} />
        ${beside !== null && html`<${Why} t=${t} turn=${turns[beside]} about=${about} number=${beside + 1} />`}
      </div>
    </section>`}
  </div>`;
}

/** What came back, in short. */
function Answer({ answer, t }) {
  const { uptake, choices } = answer;
  const calls = choices[0].message.tool_calls ?? [];
  return html`<span class="answer">
    <span class="badge ${uptake.outcome}">${t(`outcome_${uptake.outcome}`)}</span>
    ${calls.map((call) => html`<code class="call">${call.function.name}(${call.function.arguments})</code>`)}
    ${uptake.reply && html`<span class="reply">${uptake.reply}</span>`}
  </span>`;
}
