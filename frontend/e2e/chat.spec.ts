import { shared } from "./engine.ts";
import {
  countPieces,
  expect,
  FORTY,
  finished,
  messageBox,
  messages,
  mine,
  newChat,
  replies,
  say,
  stored,
  test,
} from "./support.ts";

test("a message is sent, its reply streams in, and both are kept", async ({ app }) => {
  const pieces = await countPieces(app);
  const id = await newChat(app, "slow please");
  await finished(app);
  // It grew before the person's eyes.
  expect(await pieces()).toBeGreaterThan(3);
  await expect(replies(app)).toContainText(FORTY);
  await expect(mine(app)).toHaveCount(1);
  expect(await stored(shared, id)).toEqual(["user: slow please", `assistant: ${FORTY} `]);

  await say(app, "and once more");
  await expect(replies(app)).toHaveCount(2);
  await expect(replies(app).nth(1)).toContainText("You said: and once more");
  await finished(app);
});

test("a page of Markdown is drawn: table, list, formula, code that can be copied", async ({ app, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: shared.base });
  await newChat(app, "show me a weekend in Lisbon");
  await finished(app);
  const reply = replies(app);
  await expect(reply.getByRole("heading", { name: "A weekend in Lisbon" })).toBeVisible();
  await expect(reply.getByRole("columnheader", { name: "Morning" })).toBeVisible();
  await expect(reply.getByRole("cell", { name: "Tile museum" })).toBeVisible();
  await expect(reply.getByRole("listitem")).toHaveCount(2);
  await expect(reply.locator("math")).toHaveCount(1);
  const link = reply.getByRole("link", { name: "city guide" });
  await expect(link).toHaveAttribute("rel", /noopener/);
  await expect(reply).toContainText("(example.com)");
  await reply.getByRole("button", { name: "Copy code" }).click();
  await expect(reply.getByText("Copied")).toBeVisible();
  const copied = await app.evaluate(() => navigator.clipboard.readText());
  expect(copied.startsWith("def distance(speed_kmh: float, hours: float) -> float:\n    return")).toBe(true);
  // The colours come by themselves.
  await expect(reply.locator("pre span[style*=color]").first()).toBeVisible();
});

test("two prices in one line stay prices", async ({ app }) => {
  await newChat(app, "It is $5 today and $10 tomorrow.");
  await finished(app);
  await expect(replies(app)).toContainText("You said: It is $5 today and $10 tomorrow.");
  await expect(replies(app).locator("math")).toHaveCount(0);
});

test("a reply brings no HTML into the page and loads nothing", async ({ app, watch }) => {
  const html = '<img src="https://example.com/a.png" onerror="window.ran=1"><script>window.ran=1</script><b>bold</b>';
  await newChat(app, `${html} ![a picture](https://example.com/b.png) [go](javascript:window.ran=1)`);
  await finished(app);
  const reply = replies(app);
  await expect(reply).toContainText("<b>bold</b>");
  await expect(reply.locator("img, script, b")).toHaveCount(0);
  // The picture is a link that says where it leads; the script is no link at all.
  await expect(reply.getByRole("link")).toHaveCount(1);
  await expect(reply.getByRole("link", { name: "a picture" })).toHaveAttribute("href", "https://example.com/b.png");
  expect(await app.evaluate(() => "ran" in window)).toBe(false);
  expect(watch.foreign).toEqual([]);
});

test("Stop keeps what was written and says that it was stopped", async ({ app }) => {
  const id = await newChat(app, "hang on");
  await expect(replies(app)).toContainText("Let me think");
  await app.getByRole("button", { name: "Stop", exact: true }).click();
  await expect(replies(app)).toContainText("You stopped this reply.");
  await expect(replies(app)).toContainText("Let me think");
  await expect(app.getByRole("button", { name: "Send", exact: true })).toBeVisible();
  await expect.poll(() => stored(shared, id)).toEqual(["user: hang on", "assistant: Let me think"]);
  await app.reload();
  await expect(replies(app)).toContainText("You stopped this reply.");
  await app.getByRole("button", { name: "Go on" }).click();
  await expect(replies(app).last()).toContainText("You said: Please go on from where you stopped.");
});

test("Escape stops too", async ({ app }) => {
  await newChat(app, "hang again");
  await expect(replies(app)).toContainText("Let me think");
  await messageBox(app).press("Escape");
  await expect(replies(app)).toContainText("You stopped this reply.");
});

test("a model that fails is told in a sentence, with a way on", async ({ app }) => {
  await newChat(app, "fail now");
  const reply = replies(app);
  await expect(reply.getByRole("button", { name: "Try again" })).toBeVisible();
  const said = await reply.innerText();
  expect(said).toMatch(/[A-Z][^.]{10,}\./);
  expect(said).not.toMatch(/503|lm_studio|http:|Error:/);
  await reply.getByRole("button", { name: "Try again" }).click();
  // It fails again; nothing of the first try is left over.
  await expect(reply.getByRole("button", { name: "Try again" })).toHaveCount(1);
  await expect(mine(app).first()).toContainText("fail now");
});

test("an answer that is cut off is not shown as a whole one", async ({ app }) => {
  await newChat(app, "cut it short");
  await expect(messages(app)).toContainText("This is cut");
  await expect(app.getByRole("button", { name: "Try again" }).first()).toBeVisible();
  await expect(app.getByRole("button", { name: "Send", exact: true })).toBeVisible();
});

test("a file goes with a message", async ({ app }) => {
  await app.getByRole("button", { name: "Attach files" }).waitFor();
  await app
    .locator("input[type=file]")
    .setInputFiles({ name: "list.txt", mimeType: "text/plain", buffer: Buffer.from("eggs, tea") });
  const files = app.getByRole("list", { name: "Attached files" });
  await expect(files.getByRole("button", { name: "Remove list.txt" })).toBeVisible();
  await messageBox(app).fill("What is on my list?");
  // A message waits for its files.
  await expect(app.getByRole("button", { name: "Send", exact: true })).toBeEnabled();
  await messageBox(app).press("Enter");
  await finished(app);
  await expect(mine(app).getByRole("link", { name: /^list.*\.txt$/ })).toHaveCount(1);
  await expect(files).toHaveCount(0);
});
