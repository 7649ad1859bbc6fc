// The Vercel AI SDK: with its provider for OpenAI-compatible services, as `chat`, and with `openai()`, which asks the Responses
// API, as `responses`. The two are told apart by the provider and its options, and by nothing else.

import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateObject, generateText, stepCountIs, streamObject, streamText, tool } from 'ai';
import assert from 'node:assert/strict';
import { z } from 'zod';

import {
  ALONE, HASTY, NARROW, URL_, awaitModelServer, calls, collect, crowded, equal, raises, run, script, talk, test, without,
} from './harness.mjs';

const Light = z.object({ room: z.string(), state: z.enum(['on', 'off']) });
const LIGHT = { room: 'kitchen', state: 'on' };

const RESPONSES = process.argv.splice(2, 1)[0] === 'responses';

const connect = (model = 'home', url = URL_) => {
  const service = { baseURL: `${url}/v1`, apiKey: 'unused' };
  if (RESPONSES) return createOpenAI(service)(model);
  return createOpenAICompatible({ name: 'uptake', supportsStructuredOutputs: true, includeUsage: true, ...service })(model);
};

// The SDK accepts calls only of tools that it knows, so a module's functions are named here as well; what the
// module knows about them still counts.
const home = {
  set_light: tool({ description: 'Switch the light in a room on or off', inputSchema: Light }),
  set_temperature: tool({
    description: 'Heat or cool a room to so many degrees',
    inputSchema: z.object({ room: z.string(), degrees: z.number().int() }),
  }),
  list_devices: tool({ description: 'List all devices of the house', inputSchema: z.object({}) }),
};
const own = {
  book_flight: tool({ description: 'Book a flight to a city', inputSchema: z.object({ city: z.string() }) }),
  rent_car: tool({ description: 'Rent a car for some days', inputSchema: z.object({ days: z.number().int() }) }),
};

const generate = (prompt, options = {}) =>
  generateText({ model: connect(), tools: home, maxRetries: 0, prompt, ...options });

function made(toolCalls) {
  assert(toolCalls.every((call) => !call.invalid && call.toolCallId), 'an invalid call');
  return toolCalls.map((call) => [call.toolName, call.input]);
}

function expectCalls(result, expected, finish = 'tool-calls') {
  equal(made(result.toolCalls), expected);
  equal(result.finishReason, finish);
}

function expectNoCall(result) {
  equal([made(result.toolCalls), result.finishReason], [[], 'stop']);
}

function expectText(result) {
  expectNoCall(result);
  assert(result.text, 'there is nothing to show to the person');
  return result.text;
}

/** Reads the whole stream, and throws what it reports. */
async function streamed(prompt, options = {}) {
  const errors = [];
  const onError = ({ error }) => errors.push(error);
  const result = streamText({ model: connect(), tools: home, maxRetries: 0, prompt, onError, ...options });
  const parts = await collect(result.fullStream);
  if (errors.length) throw Object.assign(errors[0], { parts });
  return {
    parts,
    toolCalls: await result.toolCalls,
    text: await result.text,
    usage: await result.usage,
    finishReason: await result.finishReason,
  };
}

without('models', 'a provider does not list models');

test('call', async () => expectCalls(await generate(talk.CALL), [talk.CALLED]));

test('own-tools', async () => {
  await script(calls(talk.OWN_CALLED));
  expectCalls(await generate(talk.OWN, { model: connect('uptake'), tools: own }), [talk.OWN_CALLED]);
});

test('no-arguments', async () => expectCalls(await generate(talk.NO_ARGUMENTS), [['list_devices', {}]]));

test('no-call', async () => {
  expectNoCall(await generate(talk.NO_CALL));
  expectNoCall(await generate(talk.NO_CALL, { model: connect('uptake'), tools: own }));
});

test('question', async () => equal(expectText(await generate(talk.ASKS)), talk.QUESTION));

test('answer', async () => {
  const question = await generate(talk.ASKS);
  const user = (content) => ({ role: 'user', content });
  const messages = [user(talk.ASKS), ...question.response.messages, user(talk.ANSWER)];
  expectCalls(await generate(undefined, { messages }), [talk.ANSWERED]);
});

test('tool-result', async () => {
  const set_light = { ...home.set_light, execute: async () => ({ done: true }) };
  const result = await generate(talk.CALL, { tools: { ...home, set_light }, stopWhen: stepCountIs(3) });
  equal(result.steps.map((step) => made(step.toolCalls)), [[talk.CALLED], []]);
  expectNoCall(result);
  const before = [{ role: 'user', content: talk.CALL }, ...result.response.messages];
  const messages = [...before, { role: 'user', content: talk.NEXT }];
  expectCalls(await generate(undefined, { messages }), [talk.NEXT_CALLED]);
});

test('parallel', async () => expectCalls(await generate(talk.PARALLEL), talk.PARALLEL_CALLED));

test('one-call', async () => {
  const providerOptions = { uptake: { parallel_tool_calls: false }, openai: { parallelToolCalls: false } };
  assert((await generate(talk.PARALLEL, { providerOptions })).toolCalls.length <= 1);
});

test('choice-none', async () => {
  expectNoCall(await generate(talk.OWN, { model: connect('uptake'), tools: own, toolChoice: 'none' }));
});

test('choice-required', async () => {
  await script(calls(talk.OWN_CALLED));
  const result = await generate(talk.OWN, { model: connect('uptake'), tools: own, toolChoice: 'required' });
  expectCalls(result, [talk.OWN_CALLED]);
});

test('choice-named', async () => {
  await script(calls(talk.OWN_CALLED));
  const toolChoice = { type: 'tool', toolName: 'book_flight' };
  const result = await generate(talk.OWN, { model: connect('uptake'), tools: own, toolChoice });
  // A response does not say why it ended.
  expectCalls(result, [talk.OWN_CALLED], RESPONSES ? 'tool-calls' : 'stop');
});

test('structured', async () => {
  await script(calls(['light', LIGHT]));
  const { object } = await generateObject({
    model: connect('uptake'), schema: Light, schemaName: 'light', prompt: talk.CALL, maxRetries: 0,
  });
  equal(object, LIGHT);
});

test('stream-call', async () => expectCalls(await streamed(talk.CALL), [talk.CALLED]));

test('stream-parallel', async () => expectCalls(await streamed(talk.PARALLEL), talk.PARALLEL_CALLED));

test('stream-usage', async () => {
  const { usage } = await streamed(talk.CALL);
  assert(Number.isInteger(usage.totalTokens), 'there is no usage');
  equal(usage.totalTokens, usage.inputTokens + usage.outputTokens);
});

test('stream-question', async () => equal(expectText(await streamed(talk.ASKS)), talk.QUESTION));

test('stream-structured', async () => {
  await script(calls(['light', LIGHT]));
  const result = streamObject({ model: connect('uptake'), schema: Light, schemaName: 'light', prompt: talk.CALL, maxRetries: 0 });
  await collect(result.partialObjectStream);
  equal(await result.object, LIGHT);
});

const remote = { model: connect('remote'), tools: undefined };

test('stream-cut', async () => {
  await script({ cut: true, delay: 0.8 });
  const error = await streamed(talk.REMOTE, remote).catch((caught) => caught);
  assert(error.parts, 'nothing was raised');
  equal(error.parts.filter(({ type }) => type.startsWith('tool')), []);
  assert(error.message.includes('model server failed'), error.message);
});

test('left', async () => {
  await script({ ...calls(talk.REMOTE_CALLED), delay: 15 });
  const leaving = new AbortController();
  const options = { ...remote, abortSignal: leaving.signal };
  const reading = streamed(talk.REMOTE, options);
  await awaitModelServer('served');
  leaving.abort();
  await reading.catch(() => {});
  await awaitModelServer('left');
});

/** All statuses are one class there; `data` is our envelope. */
const refused = async (statusCode, code, said, options = remote) => {
  const error = await raises(APICallError, { statusCode }, () => generate(said, options));
  equal(JSON.parse(error.responseBody).error.code, code);
  assert(!error.message.includes('{'), `no words for a person: ${error.message}`);
  return error;
};

test('error-400', () => refused(400, 'string_above_max_length', talk.TOO_LONG, {}));

test('error-404', () => refused(404, 'model_not_found', talk.CALL, { model: connect('nowhere'), tools: undefined }));

test('error-413', () => refused(413, 'body_too_large', talk.TOO_LARGE));

test('error-422', () => refused(422, 'module_refused', talk.CALL, { model: connect('broken'), tools: undefined }));

test('error-429', async () => {
  const narrow = { model: connect('home', NARROW) };
  const error = await crowded(0.3, () => refused(429, 'too_many_requests', talk.CALL, narrow));
  equal([error.isRetryable, error.responseHeaders['retry-after']], [true, '1']);
});

test('error-502', async () => {
  await script({ status: 500 });
  await refused(502, 'model_server_failed', talk.REMOTE);
});

test('error-503', () =>
  refused(503, 'no_model_server', talk.REMOTE, { model: connect('remote', ALONE), tools: undefined }));

test('error-504', async () => {
  await script({ say: 'too late', delay: 2 });
  await refused(504, 'model_server_timeout', talk.REMOTE, { model: connect('remote', HASTY), tools: undefined });
});

test('retry-429', async () => {
  const result = await crowded(0.5, () => generate(talk.CALL, { model: connect('home', NARROW), maxRetries: 2 }));
  expectCalls(result, [talk.CALLED]);
});

const parcel = tool({ description: 'Send a parcel to a city', inputSchema: z.object({ city: z.string() }) });

test('retry-503', async () => {
  await script({ say: 'too late', delay: 10 }, calls(talk.REMOTE_CALLED));
  const options = { model: connect('remote', NARROW), tools: { send_parcel: parcel }, maxRetries: 2 };
  expectCalls(await generate(talk.REMOTE, options), [talk.REMOTE_CALLED]);
});

without('no-retry', 'it does not read the header; `maxRetries` is per request');
without('legacy', 'it knows tools only');

await run();
