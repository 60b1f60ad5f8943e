import type { Page } from "@playwright/test";
import { shared } from "./engine.ts";
import { expect, faults, finished, go, messages, newChat, overflow, replies, say, test } from "./support.ts";

interface Screen {
  name: string;
  show: (page: Page) => Promise<void>;
}

let chat = "";

const section = (id: string, title: string): Screen => ({
  name: `settings: ${id}`,
  show: async (page) => {
    await go(page, `/settings/${id}`);
    await expect(page.getByRole("heading", { level: 2, name: title })).toBeVisible();
    await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
  },
});

const SCREENS: Screen[] = [
  {
    name: "a new chat",
    show: async (page) => {
      await go(page, "/chat");
      await expect(page.getByRole("heading", { name: "Hello, Ada" })).toBeVisible();
    },
  },
  {
    name: "a chat with a page of Markdown and a reply that failed",
    show: async (page) => {
      await go(page, `/chat/${chat}`);
      await expect(messages(page)).toBeVisible();
    },
  },
  {
    name: "notifications",
    show: async (page) => {
      await go(page, "/notifications");
      await expect(page.getByRole("heading", { name: /Backup finished.*unread/ })).toBeVisible();
    },
  },
  section("assistant", "Assistant"),
  section("models", "Models"),
  section("chat", "Chat"),
  section("look", "Appearance"),
  section("about", "About"),
];

/** What opens on top of a screen; shown over the chat and closed by Escape. */
const OVERLAYS: Screen[] = [
  {
    name: "the palette",
    show: async (page) => {
      await page.keyboard.press("Control+k");
      await expect(page.getByRole("dialog", { name: "Commands" }).getByRole("combobox")).toBeFocused();
    },
  },
  {
    name: "the shortcuts",
    show: async (page) => {
      await page.getByRole("main").focus();
      await page.keyboard.press("?");
      await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
    },
  },
  {
    name: "the choice of models",
    show: async (page) => {
      await page.getByRole("button", { name: /^Model:/ }).click();
      await expect(page.getByRole("menu")).toBeVisible();
    },
  },
  {
    name: "the question before deleting",
    show: async (page) => {
      await page.getByRole("navigation", { name: "Chats" }).locator("[aria-current=page]").press("Delete");
      await expect(page.getByRole("alertdialog")).toBeVisible();
    },
  },
];

test.beforeEach(async ({ app }) => {
  await shared.api("DELETE", "/api/notifications");
  await shared.api("POST", "/api/notifications", {
    title: "Backup finished",
    message: "All **12 files** are safe. [More](https://example.com/x)",
  });
  chat = await newChat(app, "show me a weekend in Lisbon");
  await finished(app);
  await say(app, "fail here");
  await expect(replies(app).last().getByRole("button", { name: "Try again" })).toBeVisible();
});

for (const theme of ["light", "dark"] as const) {
  test(`nothing stands in the way of anybody: every screen, ${theme}`, async ({ app }) => {
    await shared.api("PATCH", "/api/config", { ui: { theme } });
    await expect(app.locator("html")).toHaveAttribute("data-theme", theme);
    // The toasts of what came in have gone, or are looked at too.
    for (const screen of SCREENS) {
      await screen.show(app);
      expect.soft(await faults(app), screen.name).toEqual([]);
    }
    await go(app, `/chat/${chat}`);
    await expect(messages(app)).toBeVisible();
    for (const overlay of OVERLAYS) {
      await overlay.show(app);
      expect.soft(await faults(app), overlay.name).toEqual([]);
      await app.keyboard.press("Escape");
      await expect(app.locator("[role=dialog], [role=alertdialog], [role=menu]")).toHaveCount(0);
    }
    await app.setViewportSize({ width: 380, height: 740 });
    await app.getByRole("button", { name: "Open rooms and list" }).click();
    await expect(app.getByRole("dialog", { name: "Rooms" })).toBeVisible();
    expect.soft(await faults(app), "the drawer").toEqual([]);
    await shared.api("PATCH", "/api/config", { ui: { theme: "light" } });
  });
}

test("no screen is wider than its window, from a phone to a wall", async ({ app }) => {
  for (const screen of SCREENS) {
    await screen.show(app);
    for (const width of [380, 1280, 2560]) {
      await app.setViewportSize({ width, height: 800 });
      await expect.poll(() => overflow(app), `${screen.name}, ${width} wide`).toBeLessThanOrEqual(0);
    }
  }
});

test("on a narrow screen the lists are in a drawer that closes when something is picked", async ({ app }) => {
  await app.setViewportSize({ width: 380, height: 740 });
  await expect(app.getByRole("navigation", { name: "Chats" })).toHaveCount(0);
  await app.getByRole("button", { name: "Open rooms and list" }).click();
  const drawer = app.getByRole("dialog", { name: "Rooms" });
  await drawer.getByRole("link", { name: "show me a weekend in Lisbon" }).first().click();
  await expect(drawer).toHaveCount(0);
  await expect(messages(app)).toBeVisible();
});
