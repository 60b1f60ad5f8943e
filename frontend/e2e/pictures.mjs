// Takes the pictures of the docs from a running engine. Usage: node e2e/pictures.mjs FOLDER, through
// build/scripts/pictures.sh.
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { CHROMIUM } from "./browser.mjs";

const folder = process.argv[2];
const { SENTIENT_BASE: base, SENTIENT_TOKEN: token } = process.env;
if (!folder || !base || !token) {
  console.error("Run this through build/scripts/pictures.sh.");
  process.exit(2);
}

async function api(method, path, body) {
  const r = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!r.ok) throw new Error(`${method} ${path}: ${r.status} ${await r.text()}`);
  return r.json();
}

const browser = await chromium.launch(CHROMIUM);

async function signedIn(viewport) {
  const context = await browser.newContext({
    viewport,
    deviceScaleFactor: 1,
    reducedMotion: "reduce",
    locale: "en-US",
    timezoneId: "Europe/Lisbon",
  });
  const page = await context.newPage();
  await page.goto((await api("POST", "/api/gateway/link", {})).url);
  await page.getByRole("main").waitFor();
  return page;
}

async function go(page, path) {
  await page.evaluate((p) => {
    location.hash = p;
  }, path);
}

/** The picture of what is shown, once nothing loads any more and the fonts are there. */
async function picture(page, name) {
  await page.waitForFunction(() => !document.querySelector("[aria-busy=true]") && document.fonts.status === "loaded");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled", caret: "hide" });
  console.log(`${name}.png`);
}

/** Shows a chat from its beginning. */
async function top(page) {
  await page.getByRole("region", { name: "Messages" }).evaluate((el) => {
    el.scrollTop = 0;
  });
}

async function ask(page, text, title) {
  await go(page, "/chat");
  await page.getByRole("heading", { level: 2, name: /^Hello/ }).waitFor();
  const box = page.getByRole("textbox", { name: "Message", exact: true });
  await box.fill(text);
  await box.press("Enter");
  await page.getByRole("button", { name: "Copy reply" }).waitFor();
  await page.waitForURL(/#\/chat\/[0-9a-f-]{36}$/);
  const id = page.url().split("/").at(-1);
  await api("PATCH", `/api/sessions/${id}`, { title });
  return id;
}

try {
  await api("PATCH", "/api/config", { chat: { auto_title: false }, ui: { theme: "light" } });
  const page = await signedIn({ width: 1280, height: 800 });

  await page.getByRole("textbox", { name: "What should it call you?" }).fill("Ada");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("radio", { name: "The built-in model" }).click();
  await picture(page, "setup");
  // The stand-in answers under any name; this is one that people know.
  await api("PUT", "/api/models/roles", { primary: "lm_studio/qwen3-8b", fast: "lm_studio/qwen3-8b" });

  await api("POST", "/api/onboarding", {
    user_name: "Ada",
    assistant_name: "Sentient",
    location: "Lisbon",
    timezone: "Europe/Lisbon",
  });
  await page.reload();
  await ask(page, "A birthday present for my brother who likes to cook", "Present for Tom");
  await ask(page, "How long do I boil eggs?", "Boiling eggs");
  await ask(page, "Draft a note to the neighbours about Saturday", "Note to the neighbours");
  const lisbon = await ask(page, "show me a weekend in Lisbon, with what a day ticket costs", "A weekend in Lisbon");
  await go(page, `/chat/${lisbon}`);
  await page.getByRole("heading", { level: 1, name: "A weekend in Lisbon" }).waitFor();
  await page.locator("pre span[style*=color]").first().waitFor();
  await top(page);
  await picture(page, "chat-light");

  await api("PATCH", "/api/config", { ui: { theme: "dark" } });
  await page.locator("html[data-theme=dark]").waitFor();
  await picture(page, "chat-dark");

  const narrow = await signedIn({ width: 380, height: 740 });
  await go(narrow, `/chat/${lisbon}`);
  await narrow.locator("pre span[style*=color]").first().waitFor();
  await top(narrow);
  await picture(narrow, "narrow");
  await narrow.context().close();

  await api("PATCH", "/api/config", { ui: { theme: "light" } });
  await page.locator("html[data-theme=light]").waitFor();
  await go(page, "/settings/models");
  await page.getByText("In the cloud").waitFor();
  await picture(page, "settings-models");

  await page.context().close();
  await api("POST", "/api/notifications", {
    title: "The backup is done",
    message: "All **1,204 files** are safe. The next one runs on Sunday.",
  });
  const read = await api("POST", "/api/notifications", {
    title: "Water the tomatoes",
    message: "You asked to be told when it has not rained for three days.",
  });
  await api("POST", `/api/notifications/${read.id}/read`, {});
  await api("POST", "/api/notifications", {
    title: "Your train leaves at 9:40",
    message: "From **Santa Apolónia**, platform 3. It takes half an hour to get there.",
  });
  const later = await signedIn({ width: 1280, height: 800 });
  await go(later, "/notifications");
  await later.getByRole("heading", { name: /The backup is done/ }).waitFor();
  await picture(later, "notifications");
} finally {
  await browser.close();
}
