import { act, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { live } from "@/api/client";
import { turns } from "@/api/queries/turns";
import type { LiveEvent, Message } from "@/api/shapes";
import { onAnnounce } from "@/lib/announce";
import { show } from "@/test/show";
import { type Engine, fakeEngine, json, later } from "@/test/wire";
import { ChatPage, IncognitoPage, NewChatPage } from "./chat-page";

let engine: Engine;
let said: [string, string][];
let off: () => void;
let n = 0;
/** A chat of its own for each test: turns live as long as the page. */
let id: string;

const PAGES = {
  "/chat": NewChatPage,
  "/chat/incognito": IncognitoPage,
  "/chat/new/$key": NewChatPage,
  "/chat/$id": ChatPage,
};

const row = (role: Message["role"], content: string, more: Partial<Message> = {}): Message => ({
  id: `${id}-${content}`,
  role,
  content,
  created_at: "2026-01-01T00:00:00Z",
  approval: null,
  attachments: [],
  checks: null,
  interjection: false,
  memory_sources: null,
  name: null,
  sources: null,
  thinking: null,
  tool_call_id: null,
  tool_calls: null,
  turn_id: `turn-${id}`,
  ...more,
});

beforeEach(() => {
  id = `s${++n}`;
  sessionStorage.clear();
  said = [];
  off = onAnnounce((text, urgency) => said.push([text, urgency]));
  engine = fakeEngine({
    "GET /api/bootstrap": () => ({ assistant: { user_name: "Asha" }, ui: {}, models: {} }),
    "GET /api/config": () => ({ chat: { show_thinking: true } }),
    "GET /api/sessions": () => [],
    "GET /api/sessions/*/messages": () => [],
    "GET /api/sessions/*/subagents": () => [],
    "GET /api/tools": () => [],
    "GET /api/sessions/*/live": () => ({
      turn_id: null,
      client_id: "",
      message_id: "",
      seq: 0,
      text: "",
      thinking: "",
      steers: [],
    }),
  });
});
afterEach(() => {
  off();
  turns.forget(id);
  vi.unstubAllGlobals();
});

type Body = LiveEvent extends infer E
  ? E extends { turn_id: string }
    ? Omit<E, "session_id" | "turn_id">
    : never
  : never;

const give = (...events: Body[]) =>
  act(async () => {
    for (const e of events) turns.event({ session_id: id, turn_id: `t-${id}`, ...e } as LiveEvent);
  });

const done = (seq: number, content: string, more: object = {}): Body =>
  ({ type: "done", seq, content, message_id: null, checks: [], sources: [], memory_sources: [], ...more }) as Body;

async function begin() {
  const shown = show(null, { at: `/chat/${id}`, pages: PAGES });
  const area = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
  await screen.findByText("Hello, Asha");
  await shown.user.type(area, "Hi{Enter}");
  const [turn] = turns.view(id).turns;
  await give({ type: "session", seq: 1, client_id: turn?.clientId ?? "" });
  return shown;
}

describe("what is told of a reply", () => {
  it("is its start and its end, once each, and none of its pieces", async () => {
    await begin();
    await give(
      { type: "text_delta", seq: 2, message_id: "m", offset: 0, text: "Hel" },
      { type: "text_delta", seq: 3, message_id: "m", offset: 3, text: "lo" },
    );
    await give(done(4, "Hello"), done(5, "Hello"));
    expect(said).toEqual([
      ["Reply started.", "polite"],
      ["Reply finished.", "polite"],
    ]);
    const regions = [...document.querySelectorAll("[aria-live=polite][role=status]")].map((x) => x.textContent);
    expect(regions).toContain("Reply finished.");
  });

  it("is an error, once and at once", async () => {
    await begin();
    await give(
      { type: "error", seq: 2, message: "The model went away.", recoverable: false },
      done(3, "", { error: "x" }),
    );
    expect(said).toEqual([
      ["Reply started.", "polite"],
      ["The reply failed. The model went away.", "assertive"],
    ]);
  });

  it("is that it was stopped", async () => {
    await begin();
    await give(
      { type: "text_delta", seq: 2, message_id: "m", offset: 0, text: "Half" },
      done(3, "Half", { cancelled: true }),
    );
    expect(said.map((x) => x[0])).toEqual(["Reply started.", "Reply stopped."]);
  });
});

describe("a chat", () => {
  it("greets by name and puts a starter into the box without sending it", async () => {
    const { user } = show(null, { at: "/chat", pages: PAGES });
    await screen.findByText("Hello, Asha");
    await user.click(screen.getByRole("button", { name: "Help me plan my week" }));
    expect(screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" }).value).toBe("Help me plan my week");
  });

  it("that is to be forgotten begins as such, and says so", async () => {
    const { user, where } = show(null, { at: "/chat", pages: PAGES });
    await user.click(await screen.findByRole("button", { name: "Start an incognito chat" }));
    expect(await screen.findByRole("heading", { name: "Incognito chat" })).toBeTruthy();
    const posted = vi.spyOn(live, "send");
    await user.type(screen.getByRole("textbox", { name: "Message" }), "Between us{Enter}");
    expect(posted).toHaveBeenCalledWith(expect.objectContaining({ type: "chat.send", incognito: true }));
    await waitFor(() => expect(where()).toMatch(/^\/chat\/new\//));
    expect(screen.getByText(/^Nothing is learned from this chat/)).toBeTruthy();
  });

  it("that is gone says so and leads to a new one", async () => {
    engine.set("GET /api/sessions/*/messages", () => json(404, { detail: "No such chat.", code: "chat_unknown" }));
    const { user, where } = show(null, { at: `/chat/${id}`, pages: PAGES });
    expect(await screen.findByRole("heading", { name: "This chat is gone" })).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "New chat" }));
    await waitFor(() => expect(where()).toBe("/chat"));
  });

  it("that cannot be loaded says why and tries again", async () => {
    engine.set("GET /api/sessions/*/messages", () => json(500, { detail: "The database is locked.", code: "busy" }));
    const { user } = show(null, { at: `/chat/${id}`, pages: PAGES });
    expect(await screen.findByText("The database is locked.")).toBeTruthy();
    engine.set("GET /api/sessions/*/messages", () => []);
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("textbox", { name: "Message" })).toBeTruthy();
  });

  it("offers to ask again what has no reply, in the place of the first try", async () => {
    engine.set("GET /api/sessions/*/messages", () => [row("user", "Anybody there?")]);
    const asked = later<unknown>();
    engine.set("POST /api/sessions/*/regenerate", () => asked.promise);
    const { user } = show(null, { at: `/chat/${id}`, pages: PAGES });
    expect(await screen.findByText("Your last message has no reply.")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Try again" }));
    const [turn] = turns.view(id).turns;
    expect(turn?.user).toMatchObject({ text: "Anybody there?", replaces: `${id}-Anybody there?` });
    await waitFor(() =>
      expect(engine.of(`POST /api/sessions/${id}/regenerate`).map((x) => x.body)).toEqual([
        { message_id: `${id}-Anybody there?`, client_id: turn?.clientId },
      ]),
    );
    await waitFor(() => expect(screen.queryByText("Your last message has no reply.")).toBeNull());
    asked.reject(new TypeError("Failed to fetch"));
    expect(await screen.findAllByText("It could not be answered again")).not.toEqual([]);
    expect(turns.view(id).turns).toEqual([]);
    expect(await screen.findByText("Your last message has no reply.")).toBeTruthy();
  });

  it("takes what is said while a reply is written into that reply", async () => {
    const { user } = await begin();
    await user.type(screen.getByRole("textbox", { name: "Message" }), "And quickly{Enter}");
    expect(turns.view(id).turns).toHaveLength(1);
    expect(turns.view(id).steers.map((x) => x.text)).toEqual(["And quickly"]);
    expect(screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" }).value).toBe("");
  });

  it("that is new moves to its own address, and keeps what was typed meanwhile", async () => {
    const { user, where } = show(null, { at: "/chat", pages: PAGES });
    await screen.findByText("Hello, Asha");
    await user.type(screen.getByRole("textbox", { name: "Message" }), "Hi{Enter}");
    await waitFor(() => expect(where()).toMatch(/^\/chat\/new\//));
    const clientId = decodeURIComponent(where().split("/").at(-1) ?? "").replace(/^new:/, "");
    await user.type(screen.getByRole("textbox", { name: "Message" }), "And also");
    await give({ type: "session", seq: 1, client_id: clientId });
    await waitFor(() => expect(where()).toBe(`/chat/${id}`));
    await waitFor(() =>
      expect(screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" }).value).toBe("And also"),
    );
    expect(said).toEqual([["Reply started.", "polite"]]);
  });
});
