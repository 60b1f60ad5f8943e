import { screen, waitFor, within } from "@testing-library/react";
import type { ComponentProps } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NO_GIST, newCall, shown } from "@/api/parts";
import type { ReplyItem, UserItem } from "@/api/queries/chat";
import type { Check } from "@/api/shapes";
import { show } from "@/test/show";
import { type Engine, fakeEngine } from "@/test/wire";
import { Message, type MessageHandlers } from "./message";

let engine: Engine;

beforeEach(() => {
  engine = fakeEngine({
    "GET /api/tools": () => [
      { id: "time", display_name: "Time", tools: [{ name: "time_now", description: "", risk: "read" }] },
      { id: "mail", display_name: "Mail", tools: [{ name: "mail_send", description: "", risk: "send" }] },
    ],
    "GET /api/models/providers": () => [],
    "GET /api/models/local": () => ({
      ollama: { reachable: true, models: [{ name: "qwen3:8b", is_embedding: false }] },
      lm_studio: { reachable: false, models: [] },
    }),
    "GET /api/models/builtin": () => ({ state: "missing", model: null, offer: null, message: "" }),
  });
});
afterEach(() => vi.unstubAllGlobals());

const mine: UserItem = {
  kind: "user",
  key: "k",
  id: "u1",
  turnId: "t1",
  text: "What time is it?",
  attachments: [],
  at: "2026-01-01T00:00:00Z",
  state: "stored",
  interjection: false,
  branch: null,
};
const reply: ReplyItem = {
  kind: "reply",
  key: "r",
  id: "m1",
  turnId: "t1",
  parts: [{ kind: "message", id: "m1", thinking: "", text: "Noon." }],
  at: "2026-01-01T00:00:00Z",
  turn: null,
  ended: null,
  final: true,
  gist: NO_GIST,
  user: mine,
};

type Handlers = { [K in keyof MessageHandlers]: ReturnType<typeof vi.fn<NonNullable<MessageHandlers[K]>>> };

function open(item: ComponentProps<typeof Message>["item"], more: { busy?: boolean; last?: boolean } = {}) {
  const handlers: Handlers = {
    onEdit: vi.fn(),
    onAgain: vi.fn(),
    onContinue: vi.fn(),
    onCarryOn: vi.fn(),
    onSendAgain: vi.fn(),
    onShow: vi.fn(),
    takeFocus: vi.fn<MessageHandlers["takeFocus"]>(() => null),
    onFork: vi.fn(),
  };
  const props = { item, handlers, last: more.last ?? true, busy: more.busy ?? false, showThinking: true };
  return { ...show(<Message {...props} />), handlers };
}

const button = (name: string | RegExp) => screen.findByRole<HTMLButtonElement>("button", { name });

describe("a message of the person", () => {
  it("is copied, and changed", async () => {
    const { user, handlers } = open(mine);
    expect(await button("Copy message")).toBeTruthy();
    await user.click(await button("Edit and send again"));
    expect(handlers.onEdit).toHaveBeenCalledExactlyOnceWith(mine);
  });

  it("is not changed while a reply is written, nor when it was said into one", async () => {
    open(mine, { busy: true });
    expect((await button("Edit and send again")).disabled).toBe(true);
    open({ ...mine, interjection: true, text: "And Rome?" });
    await screen.findByText("And Rome?");
    expect(screen.getAllByRole("button", { name: "Edit and send again" })).toHaveLength(1);
  });

  it("says what it waits for", async () => {
    open({ ...mine, id: null, state: "queued" });
    expect(await screen.findByText("Waits for the reply")).toBeTruthy();
    open({ ...mine, id: null, state: "sending" });
    expect(await screen.findByText("Sending…")).toBeTruthy();
  });

  it("is walked from version to version", async () => {
    const branch = { index: 1, turns: ["a", "b", "c"] };
    const { user, handlers } = open({ ...mine, branch });
    const walk = await screen.findByRole("group", { name: "Version 2 of 3" });
    expect(walk.textContent).toContain("2 / 3");
    await user.click(within(walk).getByRole("button", { name: "Previous version" }));
    await user.click(within(walk).getByRole("button", { name: "Next version" }));
    expect(handlers.onShow.mock.calls).toEqual([
      ["a", "previous"],
      ["c", "next"],
    ]);
  });

  it("goes no further than there are versions, and not while a reply is written", async () => {
    open({ ...mine, branch: { index: 0, turns: ["a", "b"] } });
    expect((await button("Previous version")).disabled).toBe(true);
    expect((await button("Next version")).disabled).toBe(false);
    open({ ...mine, branch: { index: 1, turns: ["a", "b"] } }, { busy: true });
    const walk = await screen.findByRole("group", { name: "Version 2 of 2" });
    for (const b of within(walk).getAllByRole<HTMLButtonElement>("button")) expect(b.disabled).toBe(true);
  });

  it("shows its files by kind, and says which are gone", async () => {
    engine.set("HEAD /api/files/content/uploads/gone.txt", () => new Response(null, { status: 404 }));
    for (const name of ["screens/Inbox - Mail 3f9a2c.txt", "selections/Notepad 5b7c2e.txt", "uploads/plan.txt"])
      engine.set(`HEAD /api/files/content/${encodeURI(name)}`, () => new Response(null, { status: 200 }));
    open({
      ...mine,
      attachments: [
        "screens/Inbox - Mail 3f9a2c.txt",
        "selections/Notepad 5b7c2e.txt",
        "uploads/plan.txt",
        "uploads/gone.txt",
      ],
    });
    expect(await screen.findByRole("link", { name: "Screen: Inbox - Mail" })).toBeTruthy();
    expect(screen.getByRole("link", { name: "Selected text: Notepad" })).toBeTruthy();
    expect(screen.getByRole("link", { name: "plan.txt" })).toBeTruthy();
    expect(await screen.findByText("No longer available")).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole("link", { name: "gone.txt" })).toBeNull());
  });
});

describe("a reply", () => {
  it("is asked for again, also of another model, and branched off", async () => {
    const { user, handlers } = open(reply);
    await user.click(await button("Answer again"));
    expect(handlers.onAgain).toHaveBeenLastCalledWith("m1", mine);
    await user.click(await button("More about this reply"));
    await user.click(await screen.findByRole("menuitemradio", { name: /qwen3:8b/ }));
    expect(handlers.onAgain).toHaveBeenLastCalledWith("m1", mine, "ollama_chat/qwen3:8b");
    await user.click(await button("More about this reply"));
    await user.click(await screen.findByRole("menuitem", { name: "Branch to a new chat" }));
    expect(handlers.onFork).toHaveBeenCalledExactlyOnceWith("m1");
  });

  it("that was cut off by the end of Sentient is carried on", async () => {
    const { user, handlers } = open({ ...reply, ended: "interrupted" });
    await user.click(await button("Carry on"));
    expect(handlers.onCarryOn).toHaveBeenCalledOnce();
    await user.click(await button("Try again"));
    expect(handlers.onAgain).toHaveBeenCalledExactlyOnceWith("m1", mine);
  });

  it("that was stopped is gone on with, while it is the newest", async () => {
    const { user, handlers } = open({ ...reply, ended: "stopped" });
    await user.click(await button("Go on"));
    expect(handlers.onContinue).toHaveBeenCalledOnce();
    open({ ...reply, key: "other", ended: "stopped" }, { last: false });
    expect(screen.getAllByRole("button", { name: "Go on" })).toHaveLength(1);
  });

  it("offers to send what was never sent, and says what was carried on", async () => {
    const line = { kind: "event" as const, key: "e", id: "e", turnId: "t1", at: "2026-01-01T00:00:00Z", branch: null };
    const { user, handlers } = open({ ...line, name: "not_sent", user: mine });
    await user.click(await button("Send again"));
    expect(handlers.onSendAgain).toHaveBeenCalledExactlyOnceWith(mine);
    open({ ...line, name: "resumed", user: null });
    expect(await screen.findByText(/^Carried on/)).toBeTruthy();
  });
});

describe("what was done for a reply", () => {
  const time = newCall("c1", "time_now", {
    state: "done",
    args: shown({ zone: "UTC" }),
    result: shown({ now: "noon" }),
  });

  it("is a line of its kind", async () => {
    const mail = newCall("c2", "mail_send", { state: "done" });
    const strange = newCall("c3", "mcp_x_y", { state: "done" });
    const calls = (...list: (typeof time)[]) =>
      open({ ...reply, parts: list.map((call) => ({ kind: "call" as const, call })) });
    calls(time);
    expect(await button("Looked up 1 thing")).toBeTruthy();
    calls(time, mail);
    expect(await button("Did 2 things")).toBeTruthy();
    calls(time, { ...strange, state: "failed" });
    expect(await button("Used 2 tools, 1 did not work")).toBeTruthy();
    calls(time, { ...mail, state: "running", status: null });
    expect(await button("Mail send… (2 of 2)")).toBeTruthy();
    calls({ ...time, state: "running", status: "Asking the clock" });
    expect(await button("Asking the clock…")).toBeTruthy();
  });

  it("opens to its calls, and each to all that is known of it", async () => {
    const check = { ok: false, detail: "it still reports off", action: "lamp turned on" } as Check;
    const call = { ...time, durationMs: 1234, output: "tick\n", check };
    const { user } = open({ ...reply, parts: [{ kind: "call", call }] });
    await user.click(await button("Looked up 1 thing"));
    expect(screen.queryByRole("region", { name: "What it gave" })).toBeNull();
    await user.click(await button(/^Time now ?Done ?1\.2 s/));
    expect(screen.getByRole("region", { name: "What it was given" }).textContent).toContain('"zone": "UTC"');
    expect(screen.getByRole("region", { name: "What it printed" }).textContent).toBe("tick\n");
    expect(screen.getByRole("region", { name: "What it gave" }).textContent).toContain('"now": "noon"');
    expect(screen.getByText("Checked: it still reports off")).toBeTruthy();
    await user.click(await button(/^Time now/));
    expect(screen.queryByRole("region", { name: "What it gave" })).toBeNull();
  });

  it("shows what came from outside as text and nothing else, and says where it was cut", async () => {
    const page = `<img src=x onerror=alert(1)> [link](https://example.com) ${"x".repeat(30_000)}`;
    const { user } = open({ ...reply, parts: [{ kind: "call", call: { ...time, result: shown(page) } }] });
    await user.click(await button("Looked up 1 thing"));
    await user.click(await button(/^Time now/));
    const result = screen.getByRole("region", { name: "What it gave" });
    expect(result.textContent).toHaveLength(20_000);
    expect(result.querySelector("img, a")).toBeNull();
    expect(screen.getByText("These are the first 20,000 of 30,057 characters.")).toBeTruthy();
  });
});

describe("under a reply", () => {
  const gist = (more: Partial<ReplyItem["gist"]>) => open({ ...reply, gist: { ...NO_GIST, ...more } });
  const source = { app: "web", tool: "web_fetch", title: "Tides" };

  it("stand the sources it used, each leading where it is", async () => {
    gist({
      sources: [
        { ...source, kind: "web", url: "https://example.com/tides?x=1" },
        { ...source, kind: "file", title: "notes.md", file: "outputs/notes.md" },
        { ...source, kind: "email", title: "Re: boat", from: "Maya" },
        { ...source, kind: "app", title: "Calendar", tools: ["a", "b"] },
        { ...source, kind: "web", title: "Odd", url: "javascript:alert(1)" },
      ],
    });
    const list = await screen.findByRole("list", { name: "Sources" });
    expect(
      within(list)
        .getAllByRole("listitem")
        .map((x) => x.textContent),
    ).toEqual(["Tidesexample.com", "notes.md", "Re: boatMaya", "Calendar, 2 tools", "Odd"]);
    const links = within(list).getAllByRole<HTMLAnchorElement>("link");
    expect(links.map((x) => x.getAttribute("href"))).toEqual([
      "https://example.com/tides?x=1",
      "/api/files/content/outputs/notes.md",
    ]);
    expect(links.every((x) => x.target === "_blank" && x.rel.includes("noopener"))).toBe(true);
  });

  it("are the memories it had in mind, a press away", async () => {
    const memory = { kind: "fact" as const, source: "manual", via: "prompt" as const };
    const { user } = gist({
      memories: [
        { ...memory, id: 1, text: "Maya is a sailor." },
        { ...memory, id: 2, text: "The boat is red." },
      ],
    });
    await user.click(await button("2 memories"));
    const list = screen.getByRole("list", { name: "Memories this reply had in mind" });
    expect(
      within(list)
        .getAllByRole("listitem")
        .map((x) => x.textContent),
    ).toEqual(["Maya is a sailor.", "The boat is red."]);
  });

  it("stands what it really did, or what needs attention", async () => {
    const ok = { ok: true, action: "email sent", targets: [], missed: [] } as unknown as Check;
    const bad = { ...ok, ok: false, message: "Sentient said it sent the email, but it came back." };
    gist({ checks: [ok, { ...ok, action: "file written" }, { ...bad, settled: true }] });
    expect(await screen.findByText("Checked: email sent, file written.")).toBeTruthy();
    gist({ checks: [ok, bad] });
    expect(await screen.findByText("Needs your attention")).toBeTruthy();
    expect(screen.getByText("Sentient said it sent the email, but it came back.")).toBeTruthy();
  });
});
