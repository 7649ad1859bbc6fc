// How the page asks the service: the key goes in a header, is kept as long as the tab, and is in no address.

const base = new URL("../", document.baseURI);
const KEPT = "uptake.key";

export const key = {
  get: () => sessionStorage.getItem(KEPT) ?? "",
  set: (value) => (value ? sessionStorage.setItem(KEPT, value) : sessionStorage.removeItem(KEPT)),
};

export class Refused extends Error {
  constructor(status, body) {
    super(body?.error?.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = body?.error?.code ?? "";
    this.diagnostics = body?.uptake?.diagnostics ?? [];
  }
}

async function send(method, path, body, { headers = {}, signal } = {}) {
  const all = { accept: "application/json", ...headers };
  if (key.get()) all.authorization = `Bearer ${key.get()}`;
  if (body !== undefined) all["content-type"] = "application/json";
  const response = await fetch(new URL(path, base), {
    method,
    headers: all,
    body: body === undefined ? undefined : JSON.stringify(body),
    credentials: "omit",
    cache: "no-store",
    redirect: "error",
    signal,
  });
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => null));
  return response;
}

/** One segment of a path. */
const at = encodeURIComponent;
const of = (module) => `v1/modules/${at(module)}`;
const json = async (...request) => (await send(...request)).json();

export const modules = () => json("GET", "v1/modules");
export const module = (name) => json("GET", of(name));
export const predict = (name, body) => json("POST", `v1/predict/${at(name)}`, body);
export const files = (name) => json("GET", `${of(name)}/files`);
export const file = (name, path) => json("GET", `${of(name)}/files/${at(path)}`);
export const versions = (name) => json("GET", `${of(name)}/versions`);
export const version = (name, id) => json("GET", `${of(name)}/versions/${id}`);

export const tryOut = (name, changes) => json("PATCH", of(name), { changes, dry_run: true });
export const change = (name, tag, changes, reason) =>
  json("PATCH", of(name), { changes, reason }, { headers: { "if-match": `"${tag}"` } });
export const restore = (name, tag, id, reason) =>
  json("POST", `${of(name)}/versions/${id}/restore`, { reason }, { headers: { "if-match": `"${tag}"` } });

/** Runs the cases; `progress` hears how far it is. Gives the report. */
export async function measure(name, body, progress, signal) {
  const response = await send("POST", `${of(name)}/measure`, body, { headers: { accept: "text/event-stream" }, signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Refused(0, { error: { message: "the measurement was cut off" } });
    text += value.replaceAll("\r\n", "\n");
    let end;
    while ((end = text.indexOf("\n\n")) >= 0) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const member = (name) => lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length).trimStart());
      const [event] = member("event:");
      const data = member("data:").join("\n");
      if (event === "progress") progress(JSON.parse(data));
      if (event === "report") return JSON.parse(data);
      if (event === "error") throw new Refused(0, JSON.parse(data));
    }
  }
}
