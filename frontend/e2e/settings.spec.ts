import { shared } from "./engine.ts";
import { expect, go, open, test } from "./support.ts";

const config = () => shared.api("GET", "/api/config");

test("the theme changes at once, is kept, and reaches every window", async ({ app, context }) => {
  await shared.api("PATCH", "/api/config", { ui: { theme: "light" } });
  const html = app.locator("html");
  await expect(html).toHaveAttribute("data-theme", "light");
  const other = await context.newPage();
  await other.goto(shared.base);
  await expect(other.locator("html")).toHaveAttribute("data-theme", "light");
  await go(app, "/settings/look");
  await app.getByRole("radio", { name: "Dark" }).click();
  await expect(html).toHaveAttribute("data-theme", "dark");
  await expect.poll(async () => (await config()).ui.theme).toBe("dark");
  await expect(other.locator("html")).toHaveAttribute("data-theme", "dark");
  await app.getByRole("radio", { name: "Violet" }).click();
  await expect(html).toHaveAttribute("data-accent", "violet");
  await expect.poll(async () => (await config()).ui.accent).toBe("violet");
  await app.reload();
  await expect(html).toHaveAttribute("data-theme", "dark");
  await shared.api("PATCH", "/api/config", { ui: { theme: "light", accent: "sentient" } });
  await expect(html).toHaveAttribute("data-theme", "light");
});

test("a value that is refused is told beside its control, and stays to be mended", async ({ app, watch }) => {
  watch.expect(/422/);
  await go(app, "/settings/assistant");
  const zone = app.getByRole("textbox", { name: "Time zone" });
  await expect(zone).toHaveValue("UTC");
  await zone.fill("Mars/Base");
  await zone.press("Enter");
  await expect(zone).toHaveAttribute("aria-invalid", "true");
  await expect(zone).toHaveAccessibleDescription(/Use auto, or a time zone such as/);
  await expect(zone).toHaveValue("Mars/Base");
  expect((await config()).assistant.timezone).toBe("UTC");
  await zone.fill("Asia/Kolkata");
  await zone.press("Enter");
  await expect(zone).not.toHaveAttribute("aria-invalid", "true");
  await expect.poll(async () => (await config()).assistant.timezone).toBe("Asia/Kolkata");
  await shared.api("PATCH", "/api/config", { assistant: { timezone: "UTC" } });
  await expect(zone).toHaveValue("UTC");
});

test("what is being typed survives everything that is fetched meanwhile", async ({ app }) => {
  await go(app, "/settings/assistant");
  const place = app.getByRole("textbox", { name: "Location" });
  await expect(place).toBeVisible();
  await place.fill("Lisb");
  const fetched = app.waitForResponse((r) => r.url().endsWith("/api/config") && r.request().method() === "GET");
  await shared.api("PATCH", "/api/config", { assistant: { language: "de" } });
  await fetched;
  const again = app.waitForResponse((r) => r.url().endsWith("/api/config") && r.request().method() === "GET");
  await shared.api("PATCH", "/api/config", { assistant: { location: "Porto" } });
  await again;
  await expect(place).toHaveValue("Lisb");
  await expect(place).toBeFocused();
  await place.press("Escape");
  await expect(place).toHaveValue("Porto");
  await place.fill("Lisbon");
  await place.press("Enter");
  await expect.poll(async () => (await config()).assistant.location).toBe("Lisbon");
  await shared.api("PATCH", "/api/config", { assistant: { language: "en", location: "" } });
});

test("a switch is saved by itself, and a number only within its bounds", async ({ app }) => {
  await go(app, "/settings/chat");
  const thinking = app.getByRole("switch", { name: "Show thinking" });
  await expect(thinking).toBeVisible();
  const before = (await config()).chat.show_thinking;
  await thinking.click();
  await expect.poll(async () => (await config()).chat.show_thinking).toBe(!before);
  await thinking.click();
  await expect.poll(async () => (await config()).chat.show_thinking).toBe(before);
  const window = app.getByRole("textbox", { name: "History window" });
  await window.fill("1");
  await window.press("Enter");
  await expect(window).toHaveAccessibleDescription(/Write 2 or more\./);
  await window.press("Escape");
  await expect(window).not.toHaveAttribute("aria-invalid", "true");
});

test("the models in use can be tried, and the built-in one says how it stands", async ({ app }) => {
  await go(app, "/settings/models");
  await expect(app.getByText("LM Studio").filter({ hasText: "Running" })).toBeVisible();
  await app.getByRole("button", { name: "Test", exact: true }).first().click();
  await expect(app.getByRole("status").filter({ hasText: /It answered in \d/ })).toBeVisible();
  const { state, model } = await shared.api("GET", "/api/models/builtin");
  if (model) await expect(app.getByText(model.label).first()).toBeVisible();
  if (state === "missing") await expect(app.getByRole("button", { name: "Download" }).first()).toBeVisible();
  else await expect(app.getByText("it is often wrong and it cannot use tools", { exact: false })).toBeVisible();
});

test("notifications come in by themselves, are read, and are deleted", async ({ app }) => {
  await shared.api("DELETE", "/api/notifications");
  await shared.api("POST", "/api/notifications", {
    title: "Backup finished",
    message: "All **12 files** are safe.",
  });
  await expect(app.getByRole("link", { name: "Notifications, 1 unread" })).toBeVisible();
  await app.getByRole("link", { name: "Notifications, 1 unread" }).click();
  const room = app.getByRole("main").getByRole("region", { name: "Notifications", exact: true });
  await expect(room.getByRole("heading", { name: /Backup finished.*unread/ })).toBeVisible();
  await expect(room.locator("strong")).toHaveText("12 files");
  await shared.api("POST", "/api/notifications", { title: "Second thing", message: "Just so." });
  await expect(room.getByRole("listitem")).toHaveCount(2);
  await room.getByRole("button", { name: "Mark “Backup finished” as read" }).click();
  await expect(app.getByRole("link", { name: "Notifications, 1 unread" })).toBeVisible();
  await expect(room.getByRole("heading", { name: "Backup finished", exact: true })).toBeVisible();
  await room.getByRole("button", { name: "Mark all as read" }).click();
  await expect(app.getByRole("link", { name: "Notifications", exact: true })).toBeVisible();
  await room.getByRole("button", { name: "Delete “Second thing”" }).click();
  await expect(room.getByRole("listitem")).toHaveCount(1);
  await room.getByRole("button", { name: "Delete all" }).click();
  await app.getByRole("alertdialog").getByRole("button", { name: "Delete all" }).click();
  await expect(app.getByText("All quiet")).toBeVisible();
  expect((await shared.api("GET", "/api/notifications")).notifications).toEqual([]);
});

test("a link to the page works once, and without one nobody sees it", async ({ browser, page, watch }) => {
  watch.expect(/401/);
  const link = await shared.link();
  const stranger = await browser.newContext();
  const locked = await stranger.newPage();
  await locked.goto(shared.base);
  await expect(locked.getByRole("heading", { name: "This page opens from a link" })).toBeVisible();
  await page.goto(link);
  await expect(page.getByRole("main")).toBeVisible();
  const used = await locked.goto(link);
  expect(used?.status()).toBeGreaterThanOrEqual(400);
  await locked.goto(shared.base);
  await expect(locked.getByRole("heading", { name: "This page opens from a link" })).toBeVisible();
  await stranger.close();
  await open(page, shared);
});
