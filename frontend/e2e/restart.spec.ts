import { OwnEngine, stubConfig } from "./engine.ts";
import { expect, FORTY, finished, go, messageBox, mine, newChat, open, replies, say, stored, test } from "./support.ts";

let own: OwnEngine;

test.beforeEach(() => {
  own = new OwnEngine(stubConfig());
});
test.afterEach(() => own.remove());

test("an engine that crashes and comes back: said, and nothing is lost", async ({ page, watch }) => {
  // While it is gone, the browser says so itself.
  watch.expect(/ERR_CONNECTION_REFUSED|WebSocket connection|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/);
  let engine = await own.start();
  watch.alsoFrom(engine);
  await engine.api("POST", "/api/onboarding", {
    user_name: "Ada",
    assistant_name: "Sentient",
    timezone: "UTC",
  });
  await open(page, engine);
  const id = await newChat(page, "before the crash");
  await finished(page);
  await say(page, "slow when it happens");
  await expect(replies(page).nth(1)).toContainText("word3");
  await own.end("SIGKILL");
  await expect(page.getByText("Reconnecting… What you see may be a little old.")).toBeVisible();
  // What is there can be read, and what is written is kept.
  await expect(replies(page).first()).toContainText("You said: before the crash");
  await messageBox(page).fill("written meanwhile");

  engine = await own.start(Number(new URL(engine.base).port));
  await page.getByRole("button", { name: "Try now" }).click();
  await expect(page.getByText("Reconnecting…")).toHaveCount(0);
  await expect(mine(page)).toHaveCount(2);
  await expect(page.getByRole("button", { name: "Stop", exact: true })).toHaveCount(0);
  const kept = await stored(engine, id);
  expect(kept.slice(0, 3)).toEqual([
    "user: before the crash",
    "assistant: You said: before the crash",
    "user: slow when it happens",
  ]);
  // The person did not stop it, so it does not say so.
  await expect(replies(page).nth(1)).toContainText("Sentient ended before this reply was finished.");
  await expect(messageBox(page)).toHaveValue("written meanwhile");
  await messageBox(page).press("Enter");
  await expect(replies(page).last()).toContainText("You said: written meanwhile");
  await expect(mine(page)).toHaveCount(3);
});

test("an engine that is ended in the middle of a reply and started again, with the page left alone", async ({
  page,
  watch,
}) => {
  watch.expect(/ERR_CONNECTION_REFUSED|WebSocket connection|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/);
  let engine = await own.start();
  watch.alsoFrom(engine);
  await engine.api("POST", "/api/onboarding", {
    user_name: "Ada",
    assistant_name: "Sentient",
    timezone: "UTC",
  });
  await open(page, engine);
  const id = await newChat(page, "slow in the middle");
  await expect(replies(page)).toContainText("word3");
  await own.end();
  engine = await own.start(Number(new URL(engine.base).port));
  // By itself: the page looks again and again.
  await expect(replies(page)).toContainText("You stopped this reply.");
  const [, reply] = await stored(engine, id);
  expect(reply).toMatch(/^assistant: word0 word1 /);
  expect(`assistant: ${FORTY} `.startsWith(reply ?? "")).toBe(true);
  await expect(replies(page)).toContainText((reply ?? "").replace("assistant: ", "").trim());
  await go(page, "/settings/about");
  await expect(page.getByRole("heading", { name: "About" })).toBeVisible();
});
