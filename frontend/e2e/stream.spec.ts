import { shared } from "./engine.ts";
import {
  expect,
  FORTY,
  finished,
  go,
  Line,
  listen,
  mine,
  newChat,
  open,
  replies,
  say,
  stored,
  test,
} from "./support.ts";

const live = async (id: string): Promise<string> => (await shared.api("GET", `/api/sessions/${id}/live`)).text ?? "";

test("a page loaded again in the middle of a reply has the whole text once", async ({ app }) => {
  const id = await newChat(app, "slow reload");
  await expect(replies(app)).toContainText("word");
  await app.reload();
  await finished(app);
  await expect(replies(app)).toHaveCount(1);
  await expect(mine(app)).toHaveCount(1);
  const text = (await replies(app).innerText()).replace(/\s+/g, " ");
  expect(text).toContain(FORTY);
  expect(text.match(/word7 /g)).toHaveLength(1);
  expect(await stored(shared, id)).toHaveLength(2);
});

test("a page that comes in the middle shows what is there and can stop it, in every window", async ({
  app,
  context,
}) => {
  const id = await newChat(app, "hang in there");
  await expect(replies(app)).toContainText("Let me think");
  await app.reload();
  const other = await context.newPage();
  await other.goto(`${shared.base}/#/chat/${id}`);
  for (const page of [app, other]) {
    await expect(replies(page)).toContainText("Let me think");
    await expect(page.getByRole("button", { name: "Stop", exact: true })).toBeVisible();
  }
  await other.getByRole("button", { name: "Stop", exact: true }).click();
  for (const page of [app, other]) {
    await expect(replies(page)).toContainText("You stopped this reply.");
    await expect(replies(page)).toHaveCount(1);
    await expect(mine(page)).toHaveCount(1);
  }
});

test("a second window joins in the middle and shows the same", async ({ app, context }) => {
  const other = await context.newPage();
  await other.goto(shared.base);
  await expect(other.getByRole("main")).toBeVisible();
  const id = await newChat(app, "slow for two");
  await go(other, `/chat/${id}`);
  for (const page of [app, other]) {
    await finished(page);
    await expect(replies(page)).toHaveCount(1);
    await expect(mine(page)).toHaveCount(1);
    await expect(replies(page)).toContainText(FORTY);
  }
  // What one window says, the other shows.
  await say(other, "hello from here");
  await expect(replies(app)).toHaveCount(2);
  await expect(replies(app).nth(1)).toContainText("You said: hello from here");
  await expect(mine(app).nth(1)).toContainText("hello from here");
});

test("a line that is cut for a while is caught up with, in the middle of a reply", async ({ page }) => {
  const line = new Line();
  await line.lay(page);
  await open(page, shared);
  line.cutBefore = (m) => m.type === "text_delta" && (m.text ?? "").includes("word6 ");
  const id = await newChat(page, "slow on a bad line");
  await expect(page.getByText("Reconnecting…")).toBeVisible();
  // On a slow computer the reply may be over by now; it is caught up with all the same.
  await expect
    .poll(async () => (await live(id)).includes("word20 ") || (await stored(shared, id)).length === 2, {
      intervals: [30],
    })
    .toBe(true);
  line.cutBefore = () => false;
  line.mend();
  await expect(replies(page)).toContainText(FORTY);
  await finished(page);
  await expect(replies(page)).toHaveCount(1);
  const text = (await replies(page).innerText()).replace(/\s+/g, " ");
  expect(text.match(/word19 /g)).toHaveLength(1);
});

test("a reply that ended while the line was cut is there when it stands again", async ({ page }) => {
  const line = new Line();
  await line.lay(page);
  await open(page, shared);
  line.cutBefore = (m) => m.type === "text_delta" && (m.text ?? "").includes("word6 ");
  const id = await newChat(page, "slow behind the curtain");
  await expect(page.getByText("Reconnecting…")).toBeVisible();
  await expect.poll(async () => (await stored(shared, id)).length).toBe(2);
  line.cutBefore = () => false;
  line.mend();
  await page.getByRole("button", { name: "Try now" }).click();
  await finished(page);
  await expect(replies(page)).toHaveCount(1);
  await expect(replies(page)).toContainText(FORTY);
  await expect(page.getByText("Reconnecting…")).toHaveCount(0);
});

test("a message whose receipt was lost is sent again and counts once", async ({ page }) => {
  const line = new Line();
  await line.lay(page);
  await open(page, shared);
  const id = await newChat(page, "first");
  await finished(page);
  line.cutAfter = (m) => m.type === "chat.send";
  await say(page, "only once, please");
  await expect.poll(async () => (await stored(shared, id)).length).toBe(4);
  line.cutAfter = () => false;
  line.mend();
  await finished(page);
  await expect(replies(page)).toHaveCount(2);
  await expect(mine(page)).toHaveCount(2);
  const sent = line.said.filter((m) => m.type === "chat.send" && m.text === "only once, please");
  expect(sent.length).toBeGreaterThan(1);
  expect(new Set(sent.map((m) => m.client_id)).size).toBe(1);
  await say(page, "the end");
  await expect(replies(page)).toHaveCount(3);
  expect((await stored(shared, id)).filter((m) => m === "user: only once, please")).toHaveLength(1);
});

test("a message that comes twice starts nothing, in any window", async ({ page, context }) => {
  const line = new Line();
  await line.lay(page);
  await open(page, shared);
  const id = await newChat(page, "say it once");
  await finished(page);
  const other = await context.newPage();
  await other.goto(`${shared.base}/#/chat/${id}`);
  await expect(replies(other)).toHaveCount(1);
  const told = Promise.all(
    [page, other].map((p) =>
      p.waitForResponse((r) => r.url().includes("/api/sessions") && r.ok(), { timeout: 15_000 }),
    ),
  );
  const first = line.said.find((m) => m.type === "chat.send");
  expect(first).toBeDefined();
  line.repeat(first ?? {});
  // Both windows have heard of it: each asks for the list anew.
  await told;
  for (const p of [page, other]) {
    await expect(p.getByRole("button", { name: "Stop", exact: true })).toHaveCount(0);
    await expect(replies(p)).toHaveCount(1);
    await expect(mine(p)).toHaveCount(1);
  }
  expect(await stored(shared, id)).toHaveLength(2);
  await say(page, "and something new");
  await expect(replies(page)).toHaveCount(2);
  await expect(replies(other)).toHaveCount(2);
});

test("a message written while the line is cut is sent when it stands again", async ({ page }) => {
  const line = new Line();
  await line.lay(page);
  await open(page, shared);
  const id = await newChat(page, "before");
  await finished(page);
  line.cut();
  await say(page, "written in the dark");
  await expect(mine(page).nth(1)).toContainText("Sending…");
  line.mend();
  await expect(replies(page).nth(1)).toContainText("You said: written in the dark");
  await expect.poll(() => stored(shared, id)).toHaveLength(4);
});

test("screen readers are told of a reply twice: its start and its end", async ({ app }) => {
  await newChat(app, "hello");
  await finished(app);
  const heard = await listen(app);
  await say(app, "slow for the ear");
  await expect.poll(heard).toEqual(["Reply started.", "Reply finished."]);
  await expect(replies(app).nth(1)).toContainText(FORTY);
  await say(app, "hang for the ear");
  await expect(replies(app).nth(2)).toContainText("Let me think");
  await app.getByRole("button", { name: "Stop", exact: true }).click();
  await expect.poll(async () => (await heard()).slice(2)).toEqual(["Reply started.", "Reply stopped."]);
});

test("the first reply of a new chat is told like any other", async ({ app }) => {
  const heard = await listen(app);
  await newChat(app, "slow beginning");
  await expect.poll(heard).toEqual(["Reply started.", "Reply finished."]);
});

test("a reply that fails is told at once, with its reason", async ({ app }) => {
  await newChat(app, "hello there");
  await finished(app);
  const heard = await listen(app);
  await say(app, "fail for the ear");
  await expect.poll(async () => (await heard()).at(-1)).toMatch(/^The reply failed\. [A-Z].+\.$/);
});
