// The Responses API of openai-node.

import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';

import {
  ALONE, HASTY, NARROW, URL_, awaitModelServer, calls, collect, crowded, equal, modelServer, raises, run, script, talk,
  test, without,
} from './harness.mjs';

const connect = (baseURL = URL_, options = {}) =>
  new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: 'unused', maxRetries: 0, ...options });
const client = connect();
// In this API functions lie one level higher.
const tools = talk.TOOLS.map((tool) => ({ type: 'function', ...tool.function }));
const Light = z.object({ room: z.string(), state: z.enum(['on', 'off']) });
const LIGHT = { room: 'kitchen', state: 'on' };
const user = (content) => ({ role: 'user', content });

const respond = (input, options = {}, by = client) => by.responses.create({ model: 'home', input, ...options });

function made(response) {
  const items = response.output.filter((item) => item.type === 'function_call');
  assert(items.every((item) => item.id && item.call_id), 'a call without an id');
  return items.map((item) => [item.name, JSON.parse(item.arguments)]);
}

const expectCalls = (response, expected) => equal([made(response), response.status], [expected, 'completed']);

function expectText(response) {
  equal([made(response), response.status], [[], 'completed']);
  assert(response.output_text, 'there is nothing to show to the person');
  return response.output_text;
}

const output = (response, text) => ({
  type: 'function_call_output', call_id: response.output.find((item) => item.type === 'function_call').call_id, output: text,
});

/** The response that the library puts together from the events. */
async function streamed(input, options = {}) {
  const stream = client.responses.stream({ model: 'home', input, ...options });
  const events = await collect(stream);
  equal(events.slice(0, 2).map((event) => event.type), ['response.created', 'response.in_progress']);
  equal(events.map((event) => event.sequence_number), events.map((_, number) => number));
  return stream.finalResponse();
}

without('models', 'it is the same as of chat completions');

test('call', async () => {
  const response = await respond(talk.CALL);
  expectCalls(response, [talk.CALLED]);
  equal([response.model, response.output_text], ['home', '']);
});

test('own-tools', async () => {
  await script(calls(talk.OWN_CALLED));
  expectCalls(await respond(talk.OWN, { model: 'uptake', tools }), [talk.OWN_CALLED]);
});

test('no-arguments', async () => expectCalls(await respond(talk.NO_ARGUMENTS), [['list_devices', {}]]));

test('no-call', async () => {
  expectText(await respond(talk.NO_CALL));
  expectText(await respond(talk.NO_CALL, { model: 'uptake', tools }));
});

test('question', async () => equal(expectText(await respond(talk.ASKS)), talk.QUESTION));

test('answer', async () => {
  const question = await respond(talk.ASKS);
  expectCalls(await respond(talk.ANSWER, { previous_response_id: question.id }), [talk.ANSWERED]);
  expectCalls(await respond([user(talk.ASKS), ...question.output, user(talk.ANSWER)]), [talk.ANSWERED]);
});

test('tool-result', async () => {
  const called = await respond(talk.CALL);
  const told = await respond([output(called, '{"done": true}')], { previous_response_id: called.id });
  expectText(told);
  expectCalls(await respond(talk.NEXT, { previous_response_id: told.id }), [talk.NEXT_CALLED]);
  const kept = await client.responses.retrieve(told.id);
  equal(kept.output_text, told.output_text);
  await client.responses.delete(told.id);
  await raises(OpenAI.NotFoundError, { status: 404 }, () => client.responses.retrieve(told.id));
});

test('parallel', async () => expectCalls(await respond(talk.PARALLEL), talk.PARALLEL_CALLED));

test('one-call', async () => {
  assert(made(await respond(talk.PARALLEL, { parallel_tool_calls: false })).length <= 1);
});

test('choice-none', async () => {
  expectText(await respond(talk.OWN, { model: 'uptake', tools, tool_choice: 'none' }));
});

test('choice-required', async () => {
  await script(calls(talk.OWN_CALLED));
  expectCalls(await respond(talk.OWN, { model: 'uptake', tools, tool_choice: 'required' }), [talk.OWN_CALLED]);
});

test('choice-named', async () => {
  await script(calls(talk.OWN_CALLED));
  const tool_choice = { type: 'function', name: 'book_flight' };
  expectCalls(await respond(talk.OWN, { model: 'uptake', tools, tool_choice }), [talk.OWN_CALLED]);
});

const text = { format: zodTextFormat(Light, 'light') };

test('structured', async () => {
  await script(calls(['light', LIGHT]));
  const { output_parsed } = await client.responses.parse({ model: 'uptake', input: talk.CALL, text });
  equal(output_parsed, LIGHT);
});

test('stream-call', async () => expectCalls(await streamed(talk.CALL), [talk.CALLED]));

test('stream-parallel', async () => expectCalls(await streamed(talk.PARALLEL), talk.PARALLEL_CALLED));

test('stream-usage', async () => {
  const { usage } = await streamed(talk.CALL);
  equal(usage.total_tokens, usage.input_tokens + usage.output_tokens);
});

test('stream-question', async () => {
  const question = await streamed(talk.ASKS);
  equal(expectText(question), talk.QUESTION);
  expectCalls(await respond(talk.ANSWER, { previous_response_id: question.id }), [talk.ANSWERED]);
});

test('stream-structured', async () => {
  await script(calls(['light', LIGHT]));
  equal((await streamed(talk.CALL, { model: 'uptake', text })).output_parsed, LIGHT);
});

test('stream-cut', async () => {
  await script({ cut: true, delay: 0.8 });
  const seen = [];
  const error = await (async () => {
    for await (const event of await respond(talk.REMOTE, { model: 'remote', stream: true })) seen.push(event.type);
  })().catch((caught) => caught);
  assert(error instanceof OpenAI.APIError, `nothing was raised, and the events were ${seen}`);
  equal([error.code, seen], ['model_server_failed', ['response.created', 'response.in_progress']]);
});

test('left', async () => {
  await script({ ...calls(talk.REMOTE_CALLED), delay: 15 });
  const stream = await respond(talk.REMOTE, { model: 'remote', stream: true });
  for await (const event of stream) {
    equal(event.type, 'response.created');
    break;
  }
  await awaitModelServer('left');
});

const refused = (kind, status, code, input, options = {}, by = client) =>
  raises(kind, { status, code }, () => respond(input, options, by));

test('error-400', async () => {
  await refused(OpenAI.BadRequestError, 400, 'string_above_max_length', talk.TOO_LONG);
  const going = { previous_response_id: 'resp_unknown' };
  await refused(OpenAI.BadRequestError, 400, 'previous_response_not_found', talk.ANSWER, going);
});

test('error-404', () => refused(OpenAI.NotFoundError, 404, 'model_not_found', talk.CALL, { model: 'nowhere' }));

// The library has no class for this error.
test('error-413', () => refused(OpenAI.APIError, 413, 'body_too_large', talk.TOO_LARGE));

test('error-422', () =>
  refused(OpenAI.UnprocessableEntityError, 422, 'module_refused', talk.CALL, { model: 'broken' }));

test('error-429', async () => {
  const error = await crowded(0.3, () =>
    refused(OpenAI.RateLimitError, 429, 'too_many_requests', talk.CALL, {}, connect(NARROW)));
  equal(error.headers.get('retry-after'), '1');
});

const remote = { model: 'remote' };

test('error-502', async () => {
  await script({ status: 500 });
  await refused(OpenAI.InternalServerError, 502, 'model_server_failed', talk.REMOTE, remote);
});

test('error-503', () =>
  refused(OpenAI.InternalServerError, 503, 'no_model_server', talk.REMOTE, remote, connect(ALONE)));

test('error-504', async () => {
  await script({ say: 'too late', delay: 2 });
  await refused(OpenAI.InternalServerError, 504, 'model_server_timeout', talk.REMOTE, remote, connect(HASTY));
});

test('retry-429', async () => {
  const response = await crowded(0.5, () => respond(talk.CALL, {}, connect(NARROW, { maxRetries: 2 })));
  expectCalls(response, [talk.CALLED]);
});

test('retry-503', async () => {
  await script({ say: 'too late', delay: 10 }, calls(talk.REMOTE_CALLED));
  expectCalls(await respond(talk.REMOTE, remote, connect(NARROW, { maxRetries: 2 })), [talk.REMOTE_CALLED]);
});

test('no-retry', async () => {
  await script({ status: 500 });
  const patient = connect(URL_, { maxRetries: 2 });
  await raises(OpenAI.InternalServerError, { status: 502 }, () => respond(talk.REMOTE, remote, patient));
  equal((await modelServer()).served, 1);
});

without('legacy', 'this API has no older form');

await run();
