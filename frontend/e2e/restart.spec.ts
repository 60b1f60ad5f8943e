import { OwnEngine, stubConfig } from "./engine.ts";
import {
  expect,
  finished,
  go,
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
  await say(page, "hang when it happens");
  await expect(replies(page).nth(1)).toContainText("Let me think");
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
    "user: hang when it happens",
  ]);
  // What was written up to a moment before is kept. The person did not stop it, so the page does not say so.
  expect(["assistant: Let me think", "assistant: Let me ", 'event: {"event":"interrupted"}']).toContain(kept[3]);
  await expect(messages(page)).toContainText("Sentient ended before this reply was finished.");
  await expect(messages(page)).not.toContainText("You stopped this reply.");
  await expect(messageBox(page)).toHaveValue("written meanwhile");
  // The page hears the engine's new start: what is sent now is answered, in the same chat. (A message that has no
  // reply is read together with the next one, so the model may hang again.)
  const before = await replies(page).count();
  await messageBox(page).press("Enter");
  await expect(mine(page)).toHaveCount(3);
  await expect(replies(page)).toHaveCount(before + 1);
  await expect(replies(page).last()).toContainText(/You said: written meanwhile|Let me think/);
  await expect(messages(page)).not.toContainText("Sending…");
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
  const id = await newChat(page, "hang in the middle");
  await expect(replies(page)).toContainText("Let me think");
  await own.end();
  engine = await own.start(Number(new URL(engine.base).port));
  // By itself: the page looks again and again.
  await expect(replies(page)).toContainText("You stopped this reply.");
  await expect(replies(page)).toContainText("Let me think");
  expect(await stored(engine, id)).toEqual(["user: hang in the middle", "assistant: Let me think"]);
  await go(page, "/settings/about");
  await expect(page.getByRole("heading", { name: "About" })).toBeVisible();
});
