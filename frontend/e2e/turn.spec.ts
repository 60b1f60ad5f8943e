import type { Page } from "@playwright/test";
import { OwnEngine, shared, stubConfig } from "./engine.ts";
import {
  expect,
  FORTY,
  faults,
  finished,
  go,
  Line,
  messageBox,
  messages,
  mine,
  newChat,
  open,
  replies,
  say,
  stored,
  test,
} from "./support.ts";

const stop = (page: Page) => page.getByRole("button", { name: "Stop", exact: true });
const version = (page: Page, name: string) => messages(page).getByRole("group", { name });

test.describe("what is said into a reply", () => {
  test("waits under it, is read, and is answered in the same turn", async ({ app }) => {
    const id = await newChat(app, "slow please");
    await expect(replies(app)).toContainText("word1");
    await say(app, "and hurry");
    await expect(mine(app).nth(1)).toContainText("Waits for the reply");
    await expect(messageBox(app)).toHaveValue("");
    await expect(replies(app).last()).toContainText("You said: and hurry");
    await finished(app);
    await expect(mine(app).nth(1)).not.toContainText("Waits for the reply");
    await expect(mine(app)).toHaveCount(2);
    expect(await stored(shared, id)).toEqual([
      "user: slow please",
      `assistant: ${FORTY} `,
      "user: and hurry",
      "assistant: You said: and hurry",
    ]);
    const before = await messages(app).innerText();
    await app.reload();
    await finished(app);
    // What was seen while it was written is what is stored.
    const plain = (s: string) => s.replace(/\b(now|\d+ (sec|min)\S* ago)\b/g, "").replace(/\s+/g, " ");
    await expect.poll(async () => plain(await messages(app).innerText())).toBe(plain(before));
  });

  test("is still there on a page loaded again, and becomes a turn of its own when the reply is stopped", async ({
    app,
  }) => {
    const id = await newChat(app, "hang now");
    await expect(replies(app)).toContainText("Let me think");
    await say(app, "never mind");
    await expect(mine(app).nth(1)).toContainText("Waits for the reply");
    await app.reload();
    await expect(mine(app).nth(1)).toContainText("never mind");
    await expect(mine(app).nth(1)).toContainText("Waits for the reply");
    await messageBox(app).press("Escape");
    await expect(replies(app).first()).toContainText("You stopped this reply.");
    await expect(replies(app).nth(1)).toContainText("You said: never mind");
    await expect(mine(app)).toHaveCount(2);
    await expect.poll(() => stored(shared, id)).toHaveLength(4);
  });

  test("is said in one window and seen in the other", async ({ app, context }) => {
    const id = await newChat(app, "hang for two");
    const other = await context.newPage();
    await other.goto(`${shared.base}/#/chat/${id}`);
    await expect(replies(other)).toContainText("Let me think");
    await say(app, "from the first");
    await expect(mine(other).nth(1)).toContainText("from the first");
    await say(other, "from the second");
    for (const page of [app, other]) await expect(mine(page)).toHaveCount(3);
    await stop(app).click();
    for (const page of [app, other]) {
      await expect(replies(page).last()).toContainText("You said: from the second");
      await expect(mine(page)).toHaveCount(3);
      await expect(messages(page)).not.toContainText("Waits for the reply");
    }
  });

  test("is not lost when its receipt is", async ({ page }) => {
    const line = new Line();
    await line.lay(page);
    await open(page, shared);
    const id = await newChat(page, "slow on a bad line");
    await expect(replies(page)).toContainText("word1");
    line.cutAfter = (m) => m.type === "chat.steer";
    await say(page, "only once, please");
    await expect(mine(page).nth(1)).toContainText("only once, please");
    line.cutAfter = () => false;
    line.mend();
    await expect(replies(page).last()).toContainText("You said: only once, please");
    await finished(page);
    await expect(mine(page)).toHaveCount(2);
    expect((await stored(shared, id)).filter((m) => m === "user: only once, please")).toHaveLength(1);
  });
});

test.describe("what the assistant does", () => {
  test("is one line; its calls are a press away, and all of each one press more", async ({ app, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: shared.base });
    await newChat(app, 'tools 3 time_now {"zone":"+05:#"}');
    await finished(app);
    const reply = replies(app);
    await expect(reply).toContainText("It gave:");
    const line = reply.getByRole("button", { name: "Looked up 3 things", exact: true });
    await expect(line).toHaveAttribute("aria-expanded", "false");
    await line.focus();
    await app.keyboard.press("Enter");
    const list = reply.getByRole("list", { name: "What was done" });
    await expect(list.getByRole("listitem")).toHaveCount(3);
    const first = list.getByRole("button", { name: /^Time now Done/ }).first();
    await first.press("Enter");
    await expect(list.getByRole("region", { name: "What it gave" })).toContainText("{");
    await list.getByRole("button", { name: "Copy what Time now gave" }).click();
    const copied = await app.evaluate(() => navigator.clipboard.readText());
    expect(() => JSON.parse(copied)).not.toThrow();
    expect(await faults(app)).toEqual([]);
    await app.reload();
    await replies(app).getByRole("button", { name: "Looked up 3 things" }).click();
    await expect(list.getByRole("listitem")).toHaveCount(3);
  });

  test("is told as not done when it is not", async ({ app }) => {
    await newChat(app, 'tool no_such_tool {"page":"<b>bold</b> [a](https://example.com)"}');
    await finished(app);
    const reply = replies(app);
    await reply.getByRole("button", { name: "No such tool did not work", exact: true }).click();
    await reply.getByRole("button", { name: /^No such tool Did not work/ }).click();
    const given = reply.getByRole("region", { name: "What it was given" });
    await expect(given).toContainText("<b>bold</b> [a](https://example.com)");
    await expect(given.locator("a, b")).toHaveCount(0);
  });

  test("is whole and in order when the page is loaded again in the middle of many rounds", async ({ app }) => {
    const id = await newChat(app, 'rounds 12 time_now {"zone":"+05:#"}');
    await expect(replies(app)).toContainText("Round 2.");
    await app.reload();
    await expect(replies(app)).toContainText("It gave:");
    await finished(app);
    const text = (await replies(app).innerText()).replace(/\s+/g, " ");
    const rounds = [...text.matchAll(/Round (\d+)\./g)].map((m) => Number(m[1]));
    expect(rounds).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    await expect(replies(app).getByRole("button", { name: "Looked up 1 thing", exact: true })).toHaveCount(12);
    const rows = await stored(shared, id);
    expect(rows.filter((r) => r.startsWith("tool: "))).toHaveLength(12);
  });

  test("stays one line with sixty calls, and what is opened stays in sight", async ({ app }) => {
    await newChat(app, "tool time_now");
    await finished(app);
    await say(app, 'tools 60 time_now {"zone":"+05:#"}');
    await finished(app);
    const line = replies(app).last().getByRole("button", { name: "Looked up 60 things", exact: true });
    await line.click();
    await expect(replies(app).last().getByRole("listitem")).toHaveCount(60);
    await expect(line).toBeInViewport();
    await line.click();
    await expect(replies(app).last().getByRole("listitem")).toHaveCount(0);
  });
});

test.describe("another version", () => {
  test("of a message is sent, the old one is kept, and one walks between them", async ({ app }) => {
    const id = await newChat(app, "what is tea");
    await finished(app);
    await say(app, "and coffee");
    await finished(app);
    await mine(app).first().getByRole("button", { name: "Edit and send again" }).click();
    await expect(messageBox(app)).toHaveValue("what is tea");
    await expect(app.getByText("You are changing an earlier message.")).toBeVisible();
    await messageBox(app).fill("what is cocoa");
    await messageBox(app).press("Enter");
    await expect(replies(app)).toContainText("You said: what is cocoa");
    await finished(app);
    await expect(mine(app)).toHaveCount(1);
    await expect(replies(app)).toHaveCount(1);
    const walk = version(app, "Version 2 of 2");
    await expect(walk.getByRole("button", { name: "Next version" })).toBeDisabled();
    await walk.getByRole("button", { name: "Previous version" }).press("Enter");
    await expect(mine(app).first()).toContainText("what is tea");
    await expect(mine(app)).toHaveCount(2);
    await expect(replies(app).last()).toContainText("You said: and coffee");
    // The keyboard stays where it was.
    await expect(version(app, "Version 1 of 2").getByRole("button", { name: "Next version" })).toBeFocused();
    await app.keyboard.press("Enter");
    await expect(mine(app)).toHaveCount(1);
    await expect(mine(app).first()).toContainText("what is cocoa");
    await app.reload();
    await expect(version(app, "Version 2 of 2")).toBeVisible();
    expect(await stored(shared, id)).toEqual(["user: what is cocoa", "assistant: You said: what is cocoa"]);
  });

  test("begins with Up, and is given up with Escape", async ({ app }) => {
    await newChat(app, "the last one");
    await finished(app);
    await messageBox(app).press("ArrowUp");
    await expect(messageBox(app)).toHaveValue("the last one");
    await messageBox(app).press("Shift+Enter");
    await messageBox(app).pressSequentially("two lines");
    await messageBox(app).press("Escape");
    await expect(messageBox(app)).toHaveValue("");
    await messageBox(app).press("ArrowUp");
    await expect(messageBox(app)).toHaveValue("the last one");
    await messageBox(app).fill("the very last one");
    await messageBox(app).press("Enter");
    await expect(replies(app)).toContainText("You said: the very last one");
    await expect(mine(app)).toHaveCount(1);
    await expect(version(app, "Version 2 of 2")).toBeVisible();
  });

  test("of a reply is asked for, also of another model", async ({ app }) => {
    const id = await newChat(app, "say it again");
    await finished(app);
    await replies(app).getByRole("button", { name: "Answer again" }).click();
    await expect(version(app, "Version 2 of 2")).toBeVisible();
    await finished(app);
    await expect(mine(app)).toHaveCount(1);
    await expect(replies(app)).toHaveCount(1);
    await replies(app).getByRole("button", { name: "More about this reply" }).click();
    const menu = app.getByRole("menu");
    await expect(menu).toContainText("Answer again with");
    await menu.getByRole("menuitemradio", { name: /stub/ }).click();
    await expect(version(app, "Version 3 of 3")).toBeVisible();
    await finished(app);
    expect(await stored(shared, id)).toEqual(["user: say it again", "assistant: You said: say it again"]);
  });

  test("is a chat of its own when that is wished", async ({ app }) => {
    const id = await newChat(app, "first of all");
    await finished(app);
    await say(app, "and then");
    await finished(app);
    await replies(app).first().hover();
    await replies(app).first().getByRole("button", { name: "More about this reply" }).click();
    await app.getByRole("menuitem", { name: "Branch to a new chat" }).click();
    await expect(app).not.toHaveURL(new RegExp(id));
    await expect(mine(app)).toHaveCount(1);
    await say(app, "elsewhere");
    await finished(app);
    await expect(mine(app)).toHaveCount(2);
    expect(await stored(shared, id)).toHaveLength(4);
  });

  test("takes the place of a reply that failed", async ({ app }) => {
    const id = await newChat(app, "fail at first");
    await replies(app).getByRole("button", { name: "Try again" }).click();
    await expect(version(app, "Version 2 of 2")).toBeVisible();
    await expect(replies(app).getByRole("button", { name: "Try again" })).toHaveCount(1);
    await expect(mine(app)).toHaveCount(1);
    expect(await stored(shared, id)).toEqual(["user: fail at first"]);
    // A chat whose first reply failed has a name all the same.
    await expect(app.getByRole("heading", { level: 1, name: "fail at first" })).toBeVisible();
  });
});

test.describe("an incognito chat", () => {
  test("is not in the list, survives a look elsewhere, and is gone when it is left", async ({ app, watch }) => {
    watch.expect(/404/);
    await go(app, "/chat");
    await app.getByRole("button", { name: "Start an incognito chat" }).click();
    await expect(app.getByRole("heading", { level: 2, name: "Incognito chat" })).toBeVisible();
    await say(app, "between us");
    await expect(app).toHaveURL(/#\/chat\/[0-9a-f-]{36}$/);
    const id = app.url().split("/").at(-1) ?? "";
    await finished(app);
    await expect(app.getByRole("heading", { level: 1, name: "Incognito chat" })).toBeVisible();
    await expect(app.getByText("Nothing is learned from this chat")).toBeVisible();
    expect(await faults(app)).toEqual([]);
    const list = app.getByRole("navigation", { name: "Chats" });
    await expect(list.getByRole("link", { name: "between us" })).toHaveCount(0);
    await app.reload();
    await expect(mine(app).first()).toContainText("between us");
    await app.getByRole("link", { name: "Settings" }).click();
    await expect(app).toHaveURL(/settings/);
    await app.getByRole("link", { name: "Chat", exact: true }).first().click();
    await expect(app).toHaveURL(new RegExp(`${id}$`));
    await expect(mine(app).first()).toContainText("between us");
    await app.getByRole("button", { name: "New chat", exact: true }).click();
    await expect(app.getByText("The incognito chat is deleted")).toBeVisible();
    await expect.poll(async () => (await shared.raw("GET", `/api/sessions/${id}/messages`)).status).toBe(404);
  });

  test("that the engine ends says that it is gone", async ({ app, watch }) => {
    watch.expect(/404/);
    await go(app, "/chat/incognito");
    await say(app, "not for long");
    await expect(app).toHaveURL(/#\/chat\/[0-9a-f-]{36}$/);
    await finished(app);
    await shared.api("DELETE", `/api/sessions/${app.url().split("/").at(-1)}`);
    await expect(app.getByText("This chat is gone")).toBeVisible();
  });
});

test.describe("the model of a chat", () => {
  test("is its own until the default is wanted again", async ({ app }) => {
    const id = await newChat(app, "whose turn is it");
    await finished(app);
    const model = async () => (await shared.api("GET", "/api/sessions")).find((s: { id: string }) => s.id === id).model;
    await app.getByRole("button", { name: /^Model:/ }).click();
    await expect(app.getByRole("menuitemradio", { name: /^Use the default/ })).toHaveAttribute("aria-checked", "true");
    await app.getByRole("menuitemradio", { name: /^stub/ }).click();
    await expect.poll(model).toBe("lm_studio/stub");
    await expect(app.getByRole("button", { name: "Model: stub, for this chat" })).toBeVisible();
    await app.getByRole("button", { name: /^Model:/ }).click();
    await app.getByRole("menuitemradio", { name: /^Use the default/ }).click();
    await expect.poll(model).toBe(null);
  });
});

test.describe("files", () => {
  test("that are on their way hold the message back, and it goes when they are there", async ({ app }) => {
    let release = () => {};
    const held = new Promise<void>((r) => {
      release = r;
    });
    await app.route("**/api/files", async (route) => {
      await held;
      await route.continue();
    });
    await app
      .locator("input[type=file]")
      .setInputFiles({ name: "slow.txt", mimeType: "text/plain", buffer: Buffer.from("tea") });
    await messageBox(app).fill("what is in it?");
    await messageBox(app).press("Enter");
    await expect(app.getByText("Sends as soon as the file is there.")).toBeVisible();
    await expect(mine(app)).toHaveCount(0);
    release();
    await finished(app);
    await expect(mine(app).getByRole("link", { name: /^slow.*\.txt$/ })).toHaveCount(1);
    await expect(messageBox(app)).toHaveValue("");
  });

  test("that are gone say so", async ({ app, watch }) => {
    watch.expect(/404/);
    await app
      .locator("input[type=file]")
      .setInputFiles({ name: "short-lived.txt", mimeType: "text/plain", buffer: Buffer.from("tea") });
    await messageBox(app).fill("keep it");
    await messageBox(app).press("Enter");
    await finished(app);
    const link = mine(app).getByRole("link", { name: /^short-lived.*\.txt$/ });
    const name = (await link.innerText()).trim();
    await shared.api("DELETE", `/api/files/${encodeURIComponent(name)}`);
    await app.reload();
    await expect(mine(app).first()).toContainText("No longer available");
    await expect(link).toHaveCount(0);
  });
});

test("a reply that a crash cut off is carried on", async ({ page, watch }) => {
  watch.expect(/ERR_CONNECTION_REFUSED|WebSocket connection|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/);
  const own = new OwnEngine(stubConfig());
  try {
    let engine = await own.start();
    watch.alsoFrom(engine);
    await engine.api("POST", "/api/onboarding", { user_name: "Ada", assistant_name: "Sentient", timezone: "UTC" });
    await open(page, engine);
    const id = await newChat(page, "slow but sure");
    await expect(replies(page)).toContainText("word9");
    await own.end("SIGKILL");
    engine = await own.start(Number(new URL(engine.base).port));
    await expect(messages(page)).toContainText("Sentient ended before this reply was finished.");
    await page.getByRole("button", { name: "Carry on" }).click();
    await expect(messages(page)).toContainText("Carried on");
    await finished(page);
    await expect(replies(page)).toHaveCount(2);
    await expect(mine(page)).toHaveCount(1);
    await expect(page.getByRole("button", { name: "Carry on" })).toHaveCount(0);
    const rows = await stored(engine, id);
    expect(rows.filter((r) => r.startsWith("user: "))).toEqual(["user: slow but sure"]);
    expect(rows.at(-1)).toMatch(/^assistant: ./);
  } finally {
    await own.remove();
  }
});
