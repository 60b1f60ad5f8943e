import type { Page } from "@playwright/test";
import { type Engine, OwnEngine, Provider } from "./engine.ts";
import { expect, faults, finished, go, newChat, open, overflow, replies, test } from "./support.ts";

const provider = new Provider();
let own: OwnEngine;
let engine: Engine;

test.beforeAll(async () => {
  const address = await provider.start();
  own = new OwnEngine(`chat:\n  auto_title: false\nmodels:\n  providers:\n    openai:\n      api_base: ${address}\n`);
  engine = await own.start();
});
test.afterAll(async () => {
  await own.remove();
  provider.stop();
});

async function pick(page: Page, field: string, option: string): Promise<void> {
  await page.getByRole("combobox", { name: field }).click();
  await page.getByRole("option", { name: option }).click();
}

async function look(page: Page, where: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.evaluate((theme) => {
      document.documentElement.dataset.theme = theme;
    }, colorScheme);
    expect.soft(await faults(page), `${where}, ${colorScheme}`).toEqual([]);
  }
  for (const width of [380, 2560, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect.soft(await overflow(page), `${where}, ${width} wide`).toBeLessThanOrEqual(0);
  }
}

test("from a fresh folder to the first chat: names, a model that is tried first, a manner", async ({ page, watch }) => {
  watch.alsoFrom(engine);
  await open(page, engine);
  await expect(page.getByRole("heading", { name: "Welcome" })).toBeVisible();
  await expect(page.getByRole("textbox", { name: "What should it call you?" })).toBeFocused();
  await look(page, "names");

  // Without a name it does not go on, and says so beside the field.
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "Write a name, or a nickname." })).toBeVisible();
  await page.getByRole("textbox", { name: "What should it call you?" }).fill("Ada");
  await page.keyboard.press("Enter");

  await expect(page.getByRole("heading", { name: "What should do the thinking?" })).toBeFocused();
  await look(page, "model");
  // The built-in model says how weak it is, or that it is to be downloaded.
  await page.getByRole("radio", { name: "The built-in model" }).click();
  const builtin = await engine.api("GET", "/api/models/builtin");
  if (builtin.state === "missing") await expect(page.getByRole("button", { name: "Download" }).first()).toBeVisible();
  else await expect(page.getByText("This model is very small.", { exact: false })).toBeVisible();

  await page.getByRole("radio", { name: "A provider, with your key" }).click();
  await pick(page, "Provider", "OpenAI");
  await pick(page, "Model", "gpt-5-mini");
  const go = page.getByRole("button", { name: "Try it and continue" });
  await expect(go).toBeDisabled();
  const key = page.getByLabel("Key for OpenAI");
  await expect(key).toHaveAttribute("type", "password");
  await look(page, "model with a key");

  // A key that does not work: told in a sentence, and neither the key nor the model is kept.
  await key.fill("sk-test-wrong");
  await go.click();
  const problem = page.getByRole("status").filter({ hasText: /key/i });
  await expect(problem).toBeVisible();
  expect(await problem.innerText()).not.toMatch(/401|sk-test|http:/);
  expect(provider.refused).toBeGreaterThan(0);
  await expect.poll(async () => isSet(engine)).toBe(false);
  expect((await engine.api("GET", "/api/bootstrap")).models.primary).not.toBe("openai/gpt-5-mini");

  // The right one: tried, then kept.
  await key.fill(provider.key);
  await go.click();
  await expect(page.getByRole("heading", { name: "How should it talk?" })).toBeFocused();
  expect(provider.answered).toBeGreaterThan(0);
  expect((await engine.api("GET", "/api/bootstrap")).models.primary).toBe("openai/gpt-5-mini");
  await look(page, "manner");

  await page.getByRole("radio", { name: "Concise" }).click();
  await page.getByRole("textbox", { name: "Where are you?" }).fill("Lisbon");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Hello, Ada" })).toBeVisible();

  const { assistant } = await engine.api("GET", "/api/bootstrap");
  expect(assistant).toMatchObject({ user_name: "Ada", location: "Lisbon", onboarding_complete: true });
  await newChat(page, "good morning");
  await finished(page);
  await expect(replies(page)).toContainText("You said: good morning");
});

async function isSet(e: Engine): Promise<boolean> {
  const all: { id: string; key_set: boolean }[] = await e.api("GET", "/api/models/providers");
  return all.some((p) => p.id === "openai" && p.key_set);
}

test("a key is kept, tried and removed, and never comes back to the page", async ({ page, watch }) => {
  watch.alsoFrom(engine);
  const answers: Promise<string>[] = [];
  page.on("response", (r) => {
    if (r.url().includes("/api/")) answers.push(r.text().catch(() => ""));
  });
  page.on("websocket", (ws) => ws.on("framereceived", (f) => answers.push(Promise.resolve(String(f.payload)))));
  await open(page, engine);
  await go(page, "/settings/models");
  const row = page.getByRole("main");
  const openai = row
    .locator("div")
    .filter({ hasText: /^OpenAI/ })
    .filter({ has: page.getByRole("button") })
    .last();
  await expect(openai.getByText("Key saved")).toBeVisible();

  await openai.getByRole("button", { name: "Replace key" }).click();
  await page.getByLabel("Key for OpenAI").fill("sk-test-wrong-again");
  await page.getByRole("button", { name: "Save and test" }).click();
  await expect(page.getByRole("status").filter({ hasText: /key/i })).toBeVisible();

  await openai.getByRole("button", { name: "Replace key" }).click();
  await expect(page.getByLabel("Key for OpenAI")).toHaveValue("");
  await page.getByLabel("Key for OpenAI").fill(provider.key);
  await page.getByRole("button", { name: "Save and test" }).click();
  await expect(page.getByText(/It answered in \d+\.\d s\./)).toBeVisible();

  await openai.getByRole("button", { name: "Remove" }).click();
  const ask = page.getByRole("alertdialog", { name: "Remove the key for OpenAI?" });
  await expect(ask.getByRole("button", { name: "Cancel" })).toBeFocused();
  await ask.getByRole("button", { name: "Remove" }).click();
  await expect(ask).toHaveCount(0);
  await expect(openai.getByText("No key", { exact: true })).toBeVisible();
  expect(await isSet(engine)).toBe(false);

  const all = (await Promise.all(answers)).join("\n");
  expect(all).toContain("openai");
  expect(all).not.toContain("sk-test-");
  expect(
    await page.evaluate(() => document.documentElement.outerHTML + JSON.stringify({ ...localStorage })),
  ).not.toContain("sk-test-");
});
