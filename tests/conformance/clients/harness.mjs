// Shared code of the client programs in JavaScript; harness.py documents it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const talk = JSON.parse(readFileSync(new URL('talk.json', import.meta.url), 'utf8'));
talk.TOO_LONG = 'light '.repeat(1_500);
talk.TOO_LARGE = 'light '.repeat(200_000);

export const URL_ = process.env.URL_OF_SERVICE;
export const HASTY = process.env.URL_OF_HASTY;
export const NARROW = process.env.URL_OF_NARROW;
export const ALONE = process.env.URL_OF_ALONE;
const MODEL_SERVER = process.env.MODEL_SERVER_URL;

const LIMIT_MS = 20_000;
const cases = new Map();

export const { deepEqual: equal } = assert;

export function test(name, action) {
  assert(!cases.has(name), `${name} is there twice`);
  cases.set(name, action);
}

/** The client has no means for this case. */
export const without = (name, why) => test(name, why);

export async function script(...replies) {
  await post(`${MODEL_SERVER}/script`, { replies });
}

export const calls = ([name, args]) => ({ calls: [{ name, arguments: args }] });

export async function modelServer() {
  return (await fetch(`${MODEL_SERVER}/state`)).json();
}

export async function awaitModelServer(what, count = 1) {
  for (let tries = 0; tries < 250; tries += 1) {
    if ((await modelServer())[what] >= count) return;
    await sleep(20);
  }
  assert.fail(`the model server does not count ${count} ${what}`);
}

/** The narrow service is busy for so long with somebody else's turn while `action` runs. */
export async function crowded(seconds, action) {
  await script({ ...calls(talk.REMOTE_CALLED), delay: seconds });
  const body = { model: 'remote', messages: [{ role: 'user', content: talk.REMOTE }] };
  const other = post(`${NARROW}/v1/chat/completions`, body).catch(() => {});
  try {
    await awaitModelServer('served');
    return await action();
  } finally {
    await other;
  }
}

/** `action` rejects with an instance of this very class, whose members are these. */
export async function raises(kind, expected, action) {
  let error;
  try {
    await action();
  } catch (caught) {
    error = caught;
  }
  assert(error, `nothing was raised, ${kind.name} was expected`);
  assert.equal(error.constructor, kind, `${error.constructor.name}: ${error.message}`);
  for (const [name, value] of Object.entries(expected)) {
    assert.deepEqual(error[name], value, `${name} is ${JSON.stringify(error[name])}, not ${JSON.stringify(value)}`);
  }
  return error;
}

export async function collect(iterable) {
  const all = [];
  for await (const item of iterable) all.push(item);
  return all;
}

export async function run() {
  const named = process.argv.slice(2);
  for (const [name, action] of cases) {
    if (named.length && !named.includes(name)) continue;
    if (typeof action === 'string') {
      tell(name, 'without', action, 0);
      continue;
    }
    const start = performance.now();
    try {
      await script({ say: 'I do not know.' });
      await limited(action());
      tell(name, 'passed', null, performance.now() - start);
    } catch (error) {
      tell(name, 'failed', words(error), performance.now() - start);
    }
  }
  // What a failed case left behind must not keep the process alive.
  process.exit(0);
}

async function limited(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${LIMIT_MS} ms`)), LIMIT_MS);
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function words(error) {
  const program = path.basename(fileURLToPath(`file://${process.argv[1]}`));
  const place = String(error?.stack).match(new RegExp(`${program.replace('.', '\\.')}:(\\d+)`));
  const kind = error?.constructor?.name ?? typeof error;
  return `${place ? place[0] : program}: ${kind}: ${error?.message ?? error}`.replaceAll(/\s+/g, ' ');
}

function tell(name, result, why, ms) {
  const seconds = Math.round(ms) / 1000;
  process.stdout.write(`${JSON.stringify({ case: name, result, why, seconds })}\n`);
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function post(url, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  await answer.arrayBuffer();
}
