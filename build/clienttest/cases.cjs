// The cases of clients_test.go in the words of OpenAI's client for Node.js. Prints a JSON line a case.
"use strict";
const assert = require("node:assert/strict");
const openai = require("openai");
const OpenAI = openai.OpenAI ?? openai.default;

const { API_BASE, API_OFF, API_KEY, API_CONTROL, API_CLIENT } = process.env;
const user = (name) => `${API_CLIENT} ${name}`;
const gate = (name) => `${API_CLIENT}-${name}`;

let requests = 0; // a client that tries again sends more than it was asked to
const counted = (url, init) => (requests++, fetch(url, init));
const client = new OpenAI({ baseURL: API_BASE, apiKey: API_KEY, fetch: counted });
const say = (content, more) => ({ model: "sentient", messages: [{ role: "user", content }], ...more });
const ask = (content, more) => client.chat.completions.create(say(content, more));

async function control(method, path) {
  const res = await fetch(API_CONTROL + path, { method });
  const text = await res.text();
  if (res.status === 501) throw new Skip(text);
  assert.equal(res.status, 200, text);
  return text && JSON.parse(text);
}
class Skip extends Error {}

// refused wants one request that fails in this way, with what to read and nothing tried again.
async function refused(kind, status, code, send) {
  const before = requests;
  let error;
  try {
    await send();
  } catch (e) {
    error = e;
  }
  assert.ok(error instanceof kind, `got ${error?.constructor?.name}: ${error?.message}`);
  assert.equal(error.status, status);
  assert.equal(error.code, code);
  assert.match(error.error.message, /^\S.*\.$/);
  assert.equal(requests - before, 1, "the client tried again");
  return error;
}

// read reads a stream to its end and checks each chunk.
async function read(stream) {
  let text = "";
  let role;
  let usage;
  const finish = [];
  for await (const chunk of stream) {
    assert.equal(chunk.object, "chat.completion.chunk");
    assert.equal(chunk.model, "sentient");
    if (chunk.usage) usage = chunk.usage;
    const choice = chunk.choices[0];
    if (!choice) continue;
    role ??= choice.delta.role;
    assert.ok(choice.finish_reason === null || choice.finish_reason === "stop", `finish_reason ${choice.finish_reason}`);
    if (choice.finish_reason !== null) finish.push(choice.finish_reason);
    else assert.equal(finish.length, 0, "a chunk after the last");
    text += choice.delta.content ?? "";
  }
  return { text, role, usage, finish };
}

// first reads a stream up to its first text.
async function first(stream) {
  for (const chunks = stream[Symbol.asyncIterator](); ; ) {
    const { value, done } = await chunks.next();
    assert.ok(!done, "the stream ended");
    if (value.choices[0]?.delta.content) return { text: value.choices[0].delta.content, rest: { [Symbol.asyncIterator]: () => chunks } };
  }
}

const cases = {
  async models() {
    const list = await client.models.list();
    assert.deepEqual(list.data.map((m) => [m.id, m.object, typeof m.created, m.owned_by]), [["sentient", "model", "number", "sentient"]]);
  },
  async chat() {
    const answer = await ask("hello there", { user: user("chat"), temperature: 0.3 });
    assert.equal(answer.object, "chat.completion");
    assert.equal(answer.choices.length, 1);
    assert.equal(answer.choices[0].finish_reason, "stop");
    assert.equal(answer.choices[0].message.role, "assistant");
    assert.match(answer.choices[0].message.content, /^You said: [^]*hello there$/);
    assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
    assert.ok(answer.usage.completion_tokens > 0);
  },
  async stream() {
    const whole = await ask("good morning", { user: user("stream whole") });
    const got = await read(await ask("good morning", { user: user("stream"), stream: true, stream_options: { include_usage: true } }));
    assert.equal(got.text, whole.choices[0].message.content);
    assert.equal(got.role, "assistant");
    assert.deepEqual(got.finish, ["stop"]);
    assert.ok(got.usage.total_tokens > 0);
    const helper = client.chat.completions.stream(say("good morning", { user: user("stream helper") }));
    assert.equal(await helper.finalContent(), got.text);
  },
  async parts() {
    const answer = await client.chat.completions.create({
      model: "sentient",
      user: user("parts"),
      messages: [
        { role: "system", content: [{ type: "text", text: "Be brief." }] },
        {
          role: "user",
          content: [
            { type: "text", text: "first part" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
            { type: "text", text: "second part" },
          ],
        },
      ],
    });
    assert.match(answer.choices[0].message.content, /first part\nsecond part$/);
  },
  async "no text"() {
    for (const content of [[], null, "", [{ type: "image_url", image_url: { url: "x" } }]]) {
      await refused(OpenAI.BadRequestError, 400, "no_user_message", () => ask(content));
    }
    await refused(OpenAI.BadRequestError, 400, "invalid_request", () => ask(5));
  },
  async "wrong key"() {
    const wrong = new OpenAI({ baseURL: API_BASE, apiKey: `${API_KEY}x`, fetch: counted });
    await refused(OpenAI.AuthenticationError, 401, "invalid_api_key", () => wrong.chat.completions.create(say("hello")));
    await refused(OpenAI.AuthenticationError, 401, "invalid_api_key", () => wrong.models.list());
  },
  async off() {
    const off = new OpenAI({ baseURL: API_OFF, apiKey: API_KEY, fetch: counted });
    await refused(OpenAI.NotFoundError, 404, "api_off", () => off.chat.completions.create(say("hello", { stream: true })));
  },
  async busy() {
    const held = await first(await ask(`hold ${gate("busy")}`, { user: user("busy"), stream: true }));
    await refused(OpenAI.ConflictError, 409, "chat_busy", () => ask("hello", { user: user("busy") }));
    await refused(OpenAI.ConflictError, 409, "chat_busy", () => ask("hello", { user: user("busy"), stream: true }));
    const beside = await ask("hello", { user: user("beside") });
    assert.match(beside.choices[0].message.content, /hello$/);
    await control("POST", `/open/${gate("busy")}`);
    const rest = await read(held.rest);
    assert.equal(held.text + rest.text, "Before and after.");
    const after = await ask("hello again", { user: user("busy") });
    assert.match(after.choices[0].message.content, /hello again$/);
  },
  async error() {
    await refused(OpenAI.InternalServerError, 500, "turn_failed", () => ask("fail", { user: user("error") }));
  },
  async "error in a stream"() {
    const before = requests;
    await assert.rejects(
      async () => read(await ask("fail", { user: user("error in a stream"), stream: true })),
      (e) => e instanceof OpenAI.APIError && e.code === "turn_failed" && /^\S.*\.$/.test(e.error.message),
    );
    assert.equal(requests - before, 1);
  },
  async "cut off"() {
    let text = "";
    await assert.rejects(
      async () => {
        for await (const chunk of await ask("cut", { user: user("cut off"), stream: true })) text += chunk.choices[0].delta.content ?? "";
      },
      (e) => e instanceof OpenAI.APIError && e.code === "turn_failed",
    );
    assert.match(text, /^This is cut/);
    await refused(OpenAI.InternalServerError, 500, "turn_failed", () => ask("cut", { user: user("cut off") }));
  },
  async quiet() {
    const got = await read(await ask("quiet", { user: user("quiet"), stream: true }));
    assert.match(got.text, /^Let me see\.(\n\n)?Here it is\.$/);
    assert.deepEqual(got.finish, ["stop"]);
  },
  async stop() {
    const held = await first(await ask(`hold ${gate("stop")}`, { user: user("stop"), stream: true }));
    try {
      await control("POST", "/stop");
    } catch (e) {
      await control("POST", `/open/${gate("stop")}`);
      throw e;
    }
    await assert.rejects(
      () => read(held.rest),
      (e) => e instanceof OpenAI.APIError && e.error.message === "Stopped.",
    );
    assert.match((await ask("hello", { user: user("stop") })).choices[0].message.content, /hello$/);
  },
  async "hang up"() {
    const leave = new AbortController();
    const stream = await client.chat.completions.create(say(`hold ${gate("hang-up")}`, { user: user("hang up"), stream: true }), { signal: leave.signal });
    await first(stream);
    leave.abort();
    await refused(OpenAI.ConflictError, 409, "chat_busy", () => ask("still there?", { user: user("hang up") }));
    await control("POST", `/open/${gate("hang-up")}`);
    for (let tries = 0; ; tries++) {
      const replies = await control("GET", `/replies/${encodeURIComponent(user("hang up"))}`);
      if (replies.at(-1) === "Before and after.") break;
      assert.ok(tries < 400, `the chat has ${JSON.stringify(replies)}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  },
};

(async () => {
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run();
      console.log(JSON.stringify({ name, ok: true }));
    } catch (e) {
      console.log(JSON.stringify(e instanceof Skip ? { name, skip: e.message.trim() } : { name, ok: false, detail: String(e.stack ?? e) }));
    }
  }
})();
