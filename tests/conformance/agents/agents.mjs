// Does a task with the agent loop of a JavaScript library.
//
//   agents.mjs LIBRARY BASE_URL TASK
//
// TASK is JSON: {model, text, tools: [name], streamed, fails}. Prints {answer, ran: [[name, argument...]]}.

import { z } from "zod";

const [library, baseURL, task] = process.argv.slice(2);
const { model, text, tools, streamed, fails } = JSON.parse(task);
const ran = [];

const TOOLS = {
  set_light: {
    description: "Switch the light in a room on or off",
    parameters: z.object({ room: z.string().describe("The room"), state: z.string().describe("On or off") }),
    execute: ({ room, state }) => {
      ran.push(["set_light", room, state]);
      return fails ? "Error: the lamp is broken" : "The light in the kitchen is on now.";
    },
  },
  list_devices: {
    description: "List all devices of the house",
    parameters: z.object({}),
    execute: () => {
      ran.push(["list_devices"]);
      return JSON.stringify({ devices: ["lamp", "heater"], count: 2 });
    },
  },
  book_flight: {
    description: "Book a flight to a city",
    parameters: z.object({ city: z.string().describe("Where to fly") }),
    execute: ({ city }) => {
      ran.push(["book_flight", city]);
      return `Booked to ${city}.`;
    },
  },
};

async function openaiAgents() {
  const { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } = await import("@openai/agents");
  const { OpenAI } = await import("openai");
  setTracingDisabled(true);
  const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
  const agent = new Agent({
    name: "Agent",
    instructions: "Help.",
    model: new OpenAIChatCompletionsModel(client, model),
    tools: tools.map((name) => tool({ name, ...TOOLS[name] })),
  });
  if (!streamed) return (await run(agent, text, { maxTurns: 4 })).finalOutput;
  const stream = await run(agent, text, { maxTurns: 4, stream: true });
  for await (const _ of stream.toTextStream());
  await stream.completed;
  return stream.finalOutput;
}

async function mastra() {
  const { Agent } = await import("@mastra/core/agent");
  const { createTool } = await import("@mastra/core/tools");
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const made = tools.map((id) => {
    const { description, parameters, execute } = TOOLS[id];
    const own = createTool({ id, description, inputSchema: parameters, execute: async (input) => execute(input.context ?? input) });
    return [id, own];
  });
  const agent = new Agent({
    id: "agent",
    name: "agent",
    instructions: "Help.",
    model: createOpenAICompatible({ name: "uptake", baseURL, apiKey: "none" })(model),
    tools: Object.fromEntries(made),
  });
  if (!streamed) return (await agent.generate(text, { maxSteps: 4 })).text;
  return await (await agent.stream(text, { maxSteps: 4 })).text;
}

const LIBRARIES = { "@openai/agents": openaiAgents, "@mastra/core": mastra };
const answer = await LIBRARIES[library]();
process.stdout.write(`\n${JSON.stringify({ answer: String(answer), ran })}\n`, () => process.exit(0));
