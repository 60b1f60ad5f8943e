import type { Page } from "@playwright/test";
import { shared } from "./engine.ts";
import { expect, finished, go, messageBox, mine, newChat, replies, stored, test } from "./support.ts";

const list = (page: Page) => page.getByRole("navigation", { name: "Chats" });

test("chats are found by their names and by what was said in them", async ({ app }) => {
  await newChat(app, "Plan the harvest supper");
  await finished(app);
  await newChat(app, "A word about zeppelins");
  await finished(app);
  const search = app.getByRole("searchbox", { name: "Search chats" });
  await search.fill("harvest");
  await expect(
    list(app)
      .getByRole("link", { name: /harvest supper/ })
      .first(),
  ).toBeVisible();
  await expect(list(app).getByRole("link", { name: "A word about zeppelins", exact: true })).toHaveCount(0);
  await search.fill("zeppelins");
  const hits = app.getByRole("region", { name: "In messages" });
  await expect(hits.locator("mark").first()).toHaveText("zeppelins");
  await hits.getByRole("link").first().click();
  await expect(mine(app).first()).toContainText("A word about zeppelins");
  await search.fill("qqqqzz");
  await expect(list(app)).toContainText("No chat or message has these words.");
  await search.press("Escape");
  await expect(search).toHaveValue("");
  await expect(list(app).getByRole("link", { name: "A word about zeppelins", exact: true })).toBeVisible();
});

test("a chat is renamed, here and in every other window", async ({ app, context }) => {
  const id = await newChat(app, "Nameless beginning");
  await finished(app);
  const other = await context.newPage();
  await other.goto(`${shared.base}/#/chat/${id}`);
  await expect(other.getByRole("heading", { level: 1, name: "Nameless beginning" })).toBeVisible();
  await app.getByRole("button", { name: "More about Nameless beginning" }).click();
  await app.getByRole("menuitem", { name: "Rename" }).click();
  const field = app.getByRole("textbox", { name: "Name of the chat" });
  await expect(field).toBeFocused();
  await field.fill("Bread and wine");
  await field.press("Enter");
  for (const page of [app, other]) {
    await expect(list(page).getByRole("link", { name: "Bread and wine" })).toBeVisible();
    await expect(page).toHaveTitle("Bread and wine · Sentient");
  }
  // Escape takes back what was typed.
  await list(app).getByRole("link", { name: "Bread and wine" }).press("F2");
  await field.fill("never mind");
  await field.press("Escape");
  await expect(list(app).getByRole("link", { name: "Bread and wine" })).toBeFocused();
  await expect(list(app).getByRole("link", { name: "never mind" })).toHaveCount(0);
});

test("a chat is deleted only after a question", async ({ app, watch }) => {
  watch.expect(/404/);
  const id = await newChat(app, "Soon to be gone");
  await finished(app);
  await app.getByRole("button", { name: "More about Soon to be gone" }).click();
  await app.getByRole("menuitem", { name: "Delete" }).click();
  const ask = app.getByRole("alertdialog", { name: "Delete this chat?" });
  await expect(ask).toContainText("“Soon to be gone” and all its messages");
  await expect(ask.getByRole("button", { name: "Cancel" })).toBeFocused();
  await app.keyboard.press("Escape");
  await expect(ask).toHaveCount(0);
  expect(await stored(shared, id)).toHaveLength(2);

  await list(app).getByRole("link", { name: "Soon to be gone" }).press("Delete");
  await ask.getByRole("button", { name: "Delete" }).click();
  await expect(list(app).getByRole("link", { name: "Soon to be gone" })).toHaveCount(0);
  await expect(app).toHaveURL(/#\/chat$/);
  expect((await shared.raw("GET", `/api/sessions/${id}/messages`)).status).toBe(404);
  await go(app, `/chat/${id}`);
  await expect(app.getByText("This chat is gone")).toBeVisible();
});

test("everything goes by keyboard: palette, shortcuts, a new chat, the way back", async ({ app }) => {
  await newChat(app, "Keys only");
  await finished(app);
  await app.keyboard.press("Control+k");
  const palette = app.getByRole("dialog", { name: "Commands" });
  const search = palette.getByRole("combobox");
  await expect(search).toBeFocused();
  await search.pressSequentially("notif");
  await expect(palette.getByRole("option", { name: /Go to Notifications/ })).toHaveAttribute("aria-selected", "true");
  await app.keyboard.press("Enter");
  await expect(app).toHaveURL(/#\/notifications$/);
  await expect(palette).toHaveCount(0);

  // Escape closes it and gives the focus back.
  await app.getByRole("link", { name: /^Chat$/ }).focus();
  await app.keyboard.press("Control+k");
  await expect(search).toBeFocused();
  await app.keyboard.press("Escape");
  await expect(palette).toHaveCount(0);
  await expect(app.getByRole("link", { name: /^Chat$/ })).toBeFocused();

  await app.keyboard.press("?");
  const shortcuts = app.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect(shortcuts).toContainText("Search and commands");
  await expect(shortcuts).toContainText("Change your last message");
  await app.keyboard.press("Escape");
  await expect(shortcuts).toHaveCount(0);

  await app.keyboard.press("Control+Shift+O");
  await expect(app).toHaveURL(/#\/chat$/);
  await expect(messageBox(app)).toBeFocused();
  // "?" is a letter like any other while one writes.
  await app.keyboard.type("why?");
  await expect(messageBox(app)).toHaveValue("why?");
  await expect(shortcuts).toHaveCount(0);
  await messageBox(app).fill("");

  await app.getByRole("searchbox", { name: "Search chats" }).focus();
  await app.keyboard.press("ArrowDown");
  await app.keyboard.press("Enter");
  await expect(mine(app).first()).toContainText("Keys only");
});

test("Tab reaches the message box and Send, and starts at the way past the lists", async ({ app }) => {
  await newChat(app, "Tab along");
  await finished(app);
  // As if the page had just been entered from above.
  await app.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
  });
  await app.keyboard.press("Tab");
  await expect(app.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await app.keyboard.press("Enter");
  await expect(app.getByRole("main")).toBeFocused();
  await messageBox(app).fill("by the button");
  await messageBox(app).focus();
  await app.keyboard.press("Tab");
  await expect(app.getByRole("button", { name: "Attach files" })).toBeFocused();
  const send = app.getByRole("button", { name: "Send", exact: true });
  for (let i = 0; i < 3 && !(await send.evaluate((el) => el === document.activeElement)); i++)
    await app.keyboard.press("Tab");
  await expect(send).toBeFocused();
  await app.keyboard.press("Enter");
  await expect(replies(app).nth(1)).toContainText("You said: by the button");
});

test("Up in an empty box changes the last message; Shift+Enter starts a line", async ({ app }) => {
  await newChat(app, "the last one");
  await finished(app);
  await messageBox(app).press("ArrowUp");
  await expect(messageBox(app)).toHaveValue("the last one");
  await messageBox(app).press("Shift+Enter");
  await messageBox(app).pressSequentially("two lines");
  await expect(messageBox(app)).toHaveValue("the last one\ntwo lines");
  await messageBox(app).press("Enter");
  await expect(mine(app).first()).toContainText("two lines");
  await expect(mine(app)).toHaveCount(1);
});

test("Enter that ends a word in an input method does not send it", async ({ app, context }) => {
  await newChat(app, "konnichiwa");
  await finished(app);
  await messageBox(app).focus();
  const keys = await context.newCDPSession(app);
  await keys.send("Input.imeSetComposition", { text: "にほん", selectionStart: 3, selectionEnd: 3 });
  await expect(messageBox(app)).toHaveValue("にほん");
  // What Chromium sends for a key that the input method took.
  const enter = { windowsVirtualKeyCode: 229, code: "Enter", key: "Process" };
  await keys.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...enter });
  await keys.send("Input.dispatchKeyEvent", {
    type: "rawKeyDown",
    windowsVirtualKeyCode: 13,
    code: "Enter",
    key: "Enter",
  });
  await keys.send("Input.insertText", { text: "日本" });
  await expect(messageBox(app)).toHaveValue("日本");
  await expect(mine(app)).toHaveCount(1);
  await messageBox(app).press("Enter");
  await expect(mine(app).nth(1)).toContainText("日本");
  await expect(messageBox(app)).toHaveValue("");
});

test("what was being written is still there after a look elsewhere", async ({ app }) => {
  const id = await newChat(app, "drafts");
  await finished(app);
  await messageBox(app).fill("half a thou");
  await go(app, "/settings/look");
  await expect(app.getByRole("heading", { name: "Appearance" })).toBeVisible();
  await go(app, `/chat/${id}`);
  await expect(messageBox(app)).toHaveValue("half a thou");
  await messageBox(app).fill("");
});
