// openai-node.

import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import assert from 'node:assert/strict';
import { z } from 'zod';

import {
  ALONE, HASTY, NARROW, URL_, awaitModelServer, calls, collect, crowded, equal, modelServer, raises, run, script, talk, test,
} from './harness.mjs';

const { TOOLS } = talk;
const Light = z.object({ room: z.string(), state: z.enum(['on', 'off']) });
const LIGHT = { room: 'kitchen', state: 'on' };

const connect = (url = URL_, options = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: 'unused', maxRetries: 0, ...options });
const client = connect();
const user = (content) => ({ role: 'user', content });

function complete(said, options = {}, from = client) {
  const messages = typeof said === 'string' ? [user(said)] : said;
  return from.chat.completions.create({ model: 'home', messages, ...options });
}

const made = (message) =>
  (message.tool_calls ?? []).map(({ function: called }) => [called.name, JSON.parse(called.arguments)]);

function expectCalls(completion, expected, finish = 'tool_calls') {
  const [choice] = completion.choices;
  equal(made(choice.message), expected);
  equal(choice.finish_reason, finish);
  equal(choice.message.content, null);
}

function expectNoCall(completion) {
  const [choice] = completion.choices;
  equal([made(choice.message), choice.finish_reason], [[], 'stop']);
  return choice;
}

function expectText(completion) {
  const choice = expectNoCall(completion);
  assert(choice.message.content, 'there is nothing to show to the person');
  return choice.message.content;
}

/** Put together from the pieces, by index. */
async function streamed(said, options = {}) {
  const found = { content: '', calls: [], finish: [], usage: [] };
  for await (const piece of await complete(said, { stream: true, ...options })) {
    if (piece.usage) found.usage.push(piece.usage);
    for (const choice of piece.choices) {
      found.content += choice.delta.content ?? '';
      for (const part of choice.delta.tool_calls ?? []) {
        found.calls[part.index] ??= { id: part.id, name: '', arguments: '' };
        found.calls[part.index].name += part.function.name ?? '';
        found.calls[part.index].arguments += part.function.arguments ?? '';
      }
      if (choice.finish_reason) found.finish.push(choice.finish_reason);
    }
  }
  assert(found.calls.every((call) => call.id), 'a call without an id');
  return { ...found, calls: found.calls.map((call) => [call.name, JSON.parse(call.arguments)]) };
}

test('models', async () => {
  const names = (await collect(client.models.list())).map((model) => model.id);
  assert(['home', 'remote', 'uptake'].every((name) => names.includes(name)), `there are ${names}`);
});

test('call', async () => {
  const completion = await complete(talk.CALL);
  expectCalls(completion, [talk.CALLED]);
  equal(completion.model, 'home');
  assert(completion._request_id, 'no request id');
});

test('own-tools', async () => {
  await script(calls(talk.OWN_CALLED));
  expectCalls(await complete(talk.OWN, { model: 'uptake', tools: TOOLS }), [talk.OWN_CALLED]);
});

test('no-arguments', async () => expectCalls(await complete(talk.NO_ARGUMENTS), [['list_devices', {}]]));

test('no-call', async () => {
  expectNoCall(await complete(talk.NO_CALL));
  expectNoCall(await complete(talk.NO_CALL, { model: 'uptake', tools: TOOLS }));
});

test('question', async () => equal(expectText(await complete(talk.ASKS)), talk.QUESTION));

test('answer', async () => {
  const { message } = (await complete(talk.ASKS)).choices[0];
  expectCalls(await complete([user(talk.ASKS), message, user(talk.ANSWER)]), [talk.ANSWERED]);
});

test('tool-result', async () => {
  const { message } = (await complete(talk.CALL)).choices[0];
  const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: '{"done": true}' };
  const conversation = [user(talk.CALL), message, result];
  expectNoCall(await complete(conversation));
  expectCalls(await complete([...conversation, user(talk.NEXT)]), [talk.NEXT_CALLED]);
});

test('parallel', async () => expectCalls(await complete(talk.PARALLEL), talk.PARALLEL_CALLED));

test('one-call', async () => {
  const completion = await complete(talk.PARALLEL, { parallel_tool_calls: false });
  assert(made(completion.choices[0].message).length <= 1, 'several calls, though they are forbidden');
});

test('choice-none', async () => {
  expectNoCall(await complete(talk.OWN, { model: 'uptake', tools: TOOLS, tool_choice: 'none' }));
});

test('choice-required', async () => {
  await script(calls(talk.OWN_CALLED));
  const completion = await complete(talk.OWN, { model: 'uptake', tools: TOOLS, tool_choice: 'required' });
  expectCalls(completion, [talk.OWN_CALLED]);
});

test('choice-named', async () => {
  await script(calls(talk.OWN_CALLED));
  const tool_choice = { type: 'function', function: { name: 'book_flight' } };
  const completion = await complete(talk.OWN, { model: 'uptake', tools: TOOLS, tool_choice });
  expectCalls(completion, [talk.OWN_CALLED], 'stop');
});

test('structured', async () => {
  await script(calls(['light', LIGHT]));
  const messages = [user(talk.CALL)];
  const response_format = zodResponseFormat(Light, 'light');
  const object = await client.chat.completions.parse({ model: 'uptake', messages, response_format });
  equal(object.choices[0].message.parsed, LIGHT);
  const tools = [zodFunction({ name: 'set_light', parameters: Light })];
  const called = await client.chat.completions.parse({ model: 'home', messages, tools });
  equal(called.choices[0].message.tool_calls[0].function.parsed_arguments, LIGHT);
});

test('stream-call', async () => {
  const expected = { content: '', calls: [talk.CALLED], finish: ['tool_calls'], usage: [] };
  equal(await streamed(talk.CALL), expected);
});

test('stream-parallel', async () => {
  const { calls: found, finish } = await streamed(talk.PARALLEL);
  equal([found, finish], [talk.PARALLEL_CALLED, ['tool_calls']]);
  const stream = client.chat.completions.stream({ model: 'home', messages: [user(talk.PARALLEL)] });
  equal(made((await stream.finalChatCompletion()).choices[0].message), talk.PARALLEL_CALLED);
});

test('stream-usage', async () => {
  const { usage } = await streamed(talk.CALL, { stream_options: { include_usage: true } });
  equal(usage.length, 1);
  equal(usage[0].total_tokens, usage[0].prompt_tokens + usage[0].completion_tokens);
});

test('stream-question', async () => {
  const { content, calls: found, finish } = await streamed(talk.ASKS);
  equal([content, found, finish], [talk.QUESTION, [], ['stop']]);
});

test('stream-structured', async () => {
  await script(calls(['light', LIGHT]));
  const response_format = zodResponseFormat(Light, 'light');
  const stream = client.chat.completions.stream({ model: 'uptake', messages: [user(talk.CALL)], response_format });
  equal((await stream.finalChatCompletion()).choices[0].message.parsed, LIGHT);
});

test('stream-cut', async () => {
  await script({ cut: true, delay: 0.8 });
  const seen = [];
  const error = await complete(talk.REMOTE, { model: 'remote', stream: true })
    .then(async (stream) => {
      for await (const piece of stream) seen.push(...piece.choices.filter((choice) => choice.delta.tool_calls));
    })
    .catch((caught) => caught);
  assert(error instanceof OpenAI.APIError, `${error}`);
  equal([seen, error.code], [[], 'model_server_failed']);
});

test('left', async () => {
  await script({ ...calls(talk.REMOTE_CALLED), delay: 15 });
  for await (const piece of await complete(talk.REMOTE, { model: 'remote', stream: true })) {
    equal(piece.choices[0].finish_reason, null);
    // Leaving the loop aborts the request.
    break;
  }
  await awaitModelServer('left');
});

const refused = (kind, status, code, said, options, from) =>
  raises(kind, { status, code }, () => complete(said, options, from));

test('error-400', async () => {
  await refused(OpenAI.BadRequestError, 400, 'string_above_max_length', talk.TOO_LONG);
  await raises(OpenAI.BadRequestError, { param: 'n' }, () => complete(talk.CALL, { n: 2 }));
});

test('error-404', () => refused(OpenAI.NotFoundError, 404, 'model_not_found', talk.CALL, { model: 'nowhere' }));

// The library has no class for this error.
test('error-413', () => refused(OpenAI.APIError, 413, 'body_too_large', talk.TOO_LARGE));

test('error-422', () =>
  refused(OpenAI.UnprocessableEntityError, 422, 'module_refused', talk.CALL, { model: 'broken' }));

test('error-429', async () => {
  const error = await crowded(0.3, () =>
    refused(OpenAI.RateLimitError, 429, 'too_many_requests', talk.CALL, {}, connect(NARROW)),
  );
  equal([error.type, error.headers.get('retry-after')], ['rate_limit_error', '1']);
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
  const completion = await crowded(0.5, () => complete(talk.CALL, {}, connect(NARROW, { maxRetries: 2 })));
  expectCalls(completion, [talk.CALLED]);
});

test('retry-503', async () => {
  await script({ say: 'too late', delay: 10 }, calls(talk.REMOTE_CALLED));
  expectCalls(await complete(talk.REMOTE, remote, connect(NARROW, { maxRetries: 2 })), [talk.REMOTE_CALLED]);
});

test('no-retry', async () => {
  await script({ status: 500 });
  await refused(
    OpenAI.InternalServerError, 502, 'model_server_failed', talk.REMOTE, remote, connect(URL_, { maxRetries: 2 }),
  );
  equal((await modelServer()).served, 1);
});

test('legacy', async () => {
  await script(calls(talk.OWN_CALLED));
  const functions = TOOLS.map((tool) => tool.function);
  const completion = await complete(talk.OWN, { model: 'uptake', functions, function_call: 'auto' });
  const [{ message, finish_reason }] = completion.choices;
  equal(finish_reason, 'function_call');
  equal([message.function_call.name, JSON.parse(message.function_call.arguments)], talk.OWN_CALLED);
});

await run();
