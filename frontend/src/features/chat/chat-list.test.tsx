import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Session } from "@/api/shapes";
import { show } from "@/test/show";
import { type Engine, fakeEngine, json } from "@/test/wire";
import { ChatList } from "./chat-list";

let engine: Engine;
let sessions: Session[];

const DAY = 86_400_000;
const chat = (id: string, title: string, more: Partial<Session> = {}): Session => ({
  id,
  title,
  channel: "window",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: new Date().toISOString(),
  incognito: false,
  memory_scope: "personal",
  model: null,
  node_id: null,
  untrusted: null,
  visited_hosts: null,
  ...more,
});

beforeEach(() => {
  sessions = [
    chat("a", "Week plan"),
    chat("b", "Soup recipe"),
    chat("old", "Old thing", { updated_at: new Date(Date.now() - 40 * DAY).toISOString() }),
    chat("secret", "Secret", { incognito: true }),
  ];
  engine = fakeEngine({
    "GET /api/sessions": () => sessions,
    "GET /api/sessions/search": () => [],
    "PATCH /api/sessions/*": ({ body }) => ({ ok: true, ...(body as object) }),
    "DELETE /api/sessions/*": () => ({ ok: true }),
  });
});
afterEach(() => vi.unstubAllGlobals());

const link = (name: string) => screen.findByRole("link", { name });
const titles = () => screen.getAllByRole("link").map((x) => x.textContent);

async function menu(user: ReturnType<typeof show>["user"], title: string, item: string) {
  await user.click(await screen.findByRole("button", { name: `More about ${title}` }));
  await user.click(await screen.findByRole("menuitem", { name: new RegExp(`^${item}`) }));
}

describe("the list of chats", () => {
  it("says that it loads, then shows the chats by age, without incognito ones", async () => {
    show(<ChatList />, { at: "/chat/b" });
    expect(await screen.findByText("Loading…")).toBeTruthy();
    await link("Week plan");
    expect(screen.queryByText("Loading…")).toBeNull();
    const today = screen.getByRole("region", { name: "Today" });
    expect(
      within(today)
        .getAllByRole("link")
        .map((x) => x.textContent),
    ).toEqual(["Week plan", "Soup recipe"]);
    expect(within(screen.getByRole("region", { name: "Earlier" })).getByRole("link").textContent).toBe("Old thing");
    expect(screen.queryByText("Secret")).toBeNull();
    expect((await link("Soup recipe")).getAttribute("aria-current")).toBe("page");
    expect((await link("Week plan")).getAttribute("aria-current")).toBeNull();
  });

  it("says when there is none", async () => {
    sessions = [];
    show(<ChatList />);
    expect(await screen.findByText("Your chats will be listed here.")).toBeTruthy();
  });

  it("says why it could not be loaded, and tries again", async () => {
    engine.set("GET /api/sessions", () => json(500, { detail: "The database is locked.", code: "busy" }));
    const { user } = show(<ChatList />);
    expect(await screen.findByText("The chats could not be loaded")).toBeTruthy();
    expect(screen.getByText("The database is locked.")).toBeTruthy();
    engine.set("GET /api/sessions", () => sessions);
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(await link("Week plan")).toBeTruthy();
    expect(screen.queryByText("The chats could not be loaded")).toBeNull();
  });

  it("finds by title and in messages, with the words marked", async () => {
    engine.set("GET /api/sessions/search", () => [
      {
        session_id: "b",
        message_id: "m",
        role: "user",
        created_at: "2026-01-01T00:00:00Z",
        snippet: "a <b>week</b> of soup",
      },
    ]);
    const { user } = show(<ChatList />);
    await link("Week plan");
    await user.type(screen.getByRole("searchbox", { name: "Search chats" }), "week");
    const hits = await screen.findByRole("region", { name: "In messages" });
    expect(within(hits).getByRole("link").textContent).toContain("Soup recipe");
    expect(within(hits).getByText("week").tagName).toBe("MARK");
    expect(hits.textContent).toContain("a week of soup");
    expect(within(screen.getByRole("region", { name: "Today" })).getAllByRole("link")).toHaveLength(1);
    await user.keyboard("{Escape}");
    await waitFor(() => expect(titles()).toEqual(["Week plan", "Soup recipe", "Old thing"]));
  });

  it("takes the signs of an expression as they are", async () => {
    const { user } = show(<ChatList />);
    await link("Week plan");
    await user.type(screen.getByRole("searchbox"), "a(b*");
    expect(await screen.findByText("No chat or message has these words.")).toBeTruthy();
  });

  it("is walked with the arrows", async () => {
    const { user } = show(<ChatList />);
    await link("Week plan");
    await user.click(screen.getByRole("searchbox"));
    await user.keyboard("{ArrowDown}{ArrowDown}");
    expect(document.activeElement).toBe(await link("Soup recipe"));
    await user.keyboard("{ArrowUp}");
    expect(document.activeElement).toBe(await link("Week plan"));
  });
});

describe("renaming a chat", () => {
  const field = () => screen.findByRole<HTMLInputElement>("textbox", { name: "Name of the chat" });
  const asked = (id: string) => engine.of(`PATCH /api/sessions/${id}`).map((x) => x.body);

  it("from its menu shows the new name at once", async () => {
    const { user } = show(<ChatList />);
    await menu(user, "Week plan", "Rename");
    await user.clear(await field());
    await user.type(await field(), " Plans {Enter}");
    expect(await link("Plans")).toBeTruthy();
    expect(screen.queryByRole("textbox", { name: "Name of the chat" })).toBeNull();
    await waitFor(() => expect(asked("a")).toEqual([{ title: "Plans" }]));
    await waitFor(async () => expect(document.activeElement).toBe(await link("Plans")));
  });

  it("by F2, and given up by Escape", async () => {
    const { user } = show(<ChatList />);
    (await link("Soup recipe")).focus();
    await user.keyboard("{F2}");
    await user.type(await field(), "x{Escape}");
    expect(await link("Soup recipe")).toBeTruthy();
    expect(asked("b")).toEqual([]);
  });

  it("to nothing, or to the same, changes nothing", async () => {
    const { user } = show(<ChatList />);
    for (const name of ["   {Enter}", "Soup recipe{Enter}"]) {
      (await link("Soup recipe")).focus();
      await user.keyboard("{F2}");
      await user.clear(await field());
      await user.type(await field(), name);
      expect(await link("Soup recipe")).toBeTruthy();
    }
    expect(asked("b")).toEqual([]);
  });

  it("that is refused puts the old name back and says why", async () => {
    engine.set("PATCH /api/sessions/*", () => json(503, { detail: "The disk is full.", code: "full" }));
    const { user } = show(<ChatList />);
    (await link("Week plan")).focus();
    await user.keyboard("{F2}");
    await user.clear(await field());
    await user.type(await field(), "Plans{Enter}");
    expect(await screen.findAllByText("The chat was not renamed")).not.toEqual([]);
    expect(screen.getAllByText("The disk is full.")).not.toEqual([]);
    expect(await link("Week plan")).toBeTruthy();
  });
});

describe("deleting a chat", () => {
  const dialog = () => screen.findByRole("alertdialog", { name: "Delete this chat?" });

  it("asks first, with the way out in focus, and does nothing when that is taken", async () => {
    const { user } = show(<ChatList />);
    await menu(user, "Week plan", "Delete");
    const d = await dialog();
    expect(d.textContent).toContain("“Week plan” and all its messages will be gone for good.");
    await waitFor(() => expect(document.activeElement).toBe(within(d).getByRole("button", { name: "Cancel" })));
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
    expect(engine.of("DELETE /api/sessions/a")).toEqual([]);
    expect(await link("Week plan")).toBeTruthy();
  });

  it("takes the chat away and leaves the room it was in", async () => {
    const { user, where } = show(<ChatList />, { at: "/chat/a" });
    await menu(user, "Week plan", "Delete");
    await user.click(within(await dialog()).getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(screen.queryByRole("link", { name: "Week plan" })).toBeNull());
    expect(engine.of("DELETE /api/sessions/a")).toHaveLength(1);
    await waitFor(() => expect(where()).toBe("/chat"));
  });

  it("by the Delete key stays where the person is when it is another chat", async () => {
    const { user, where } = show(<ChatList />, { at: "/chat/a" });
    (await link("Soup recipe")).focus();
    await user.keyboard("{Delete}");
    await user.click(within(await dialog()).getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(screen.queryByRole("link", { name: "Soup recipe" })).toBeNull());
    expect(where()).toBe("/chat/a");
  });

  it("that is refused keeps the chat and says why", async () => {
    engine.set("DELETE /api/sessions/*", () => json(409, { detail: "A reply is being written.", code: "busy" }));
    const { user } = show(<ChatList />);
    await menu(user, "Week plan", "Delete");
    await user.click(within(await dialog()).getByRole("button", { name: "Delete" }));
    expect(await screen.findAllByText("The chat was not deleted")).not.toEqual([]);
    expect(screen.getAllByText("A reply is being written.")).not.toEqual([]);
    expect(await link("Week plan")).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
  });
});
