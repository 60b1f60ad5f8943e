import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import {
  type BrowserContext,
  test as base,
  expect,
  type Locator,
  type Page,
  type WebSocketRoute,
} from "@playwright/test";
import { type Engine, shared } from "./engine.ts";

export { expect };

/** What a page may not do. Looked at after each test. */
export class Watch {
  readonly foreign: string[] = [];
  readonly errors: string[] = [];
  readonly #origins = new Set([shared.base]);
  readonly #expected: RegExp[] = [];

  constructor(context: BrowserContext) {
    context.on("request", (r) => this.#asked(r.url()));
    context.on("console", (m) => {
      // A link's own small page has no picture, and the browser looks for one.
      if (m.location().url.endsWith("/favicon.ico")) return;
      if (m.type() === "error") this.errors.push(`${m.text()} (${m.location().url})`);
    });
    context.on("weberror", (e) => this.errors.push(String(e.error())));
    context.on("page", (page) => page.on("websocket", (ws) => this.#asked(ws.url())));
  }

  #asked(url: string): void {
    if (/^(data|blob):/.test(url)) return;
    const origin = new URL(url).origin.replace(/^ws/, "http");
    if (!this.#origins.has(origin)) this.foreign.push(url);
  }

  /** A page of this engine may be shown too. */
  alsoFrom(engine: Engine): void {
    this.#origins.add(engine.base);
  }

  /** The test makes these errors happen. */
  expect(...errors: RegExp[]): void {
    this.#expected.push(...errors);
  }

  check(): void {
    expect(this.foreign, "requests that left the page's origin").toEqual([]);
    const wrong = this.errors.filter((e) => !this.#expected.some((x) => x.test(e)));
    expect(wrong, "errors in the console").toEqual([]);
  }
}

interface Fixtures {
  watch: Watch;
  /** The page of the shared engine, signed in. */
  app: Page;
}

export const test = base.extend<Fixtures>({
  watch: [
    async ({ context }, use) => {
      const watch = new Watch(context);
      await context.addInitScript(() => {
        document.addEventListener("securitypolicyviolation", (e) => {
          console.error(`policy violation: ${e.violatedDirective} ${e.blockedURI}`);
        });
      });
      await use(watch);
      watch.check();
    },
    { auto: true },
  ],
  app: async ({ page, watch }, use) => {
    void watch;
    await open(page, shared);
    await use(page);
  },
});

/** Signs the page in by a fresh link and waits until the engine answers it. */
export async function open(page: Page, engine: Engine): Promise<void> {
  await page.goto(await engine.link());
  await expect(page.getByRole("main")).toBeVisible();
}

/** Goes to a room of the page. */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate((p) => {
    location.hash = p;
  }, path);
}

export const messageBox = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
export const messages = (page: Page): Locator => page.getByRole("region", { name: "Messages" });

/** The replies of the chat in sight, in order. */
export const replies = (page: Page): Locator =>
  messages(page)
    .getByRole("article")
    .filter({ has: page.getByRole("heading", { name: "Reply", exact: true }) });

/** The person's own messages, in order. */
export const mine = (page: Page): Locator =>
  messages(page)
    .getByRole("article")
    .filter({ has: page.getByRole("heading", { name: "You", exact: true }) });

export async function say(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text);
  await messageBox(page).press("Enter");
}

/** A chat of its own: says the first thing and waits until the chat has its address. Gives its id. */
export async function newChat(page: Page, text: string): Promise<string> {
  await go(page, "/chat");
  await expect(page.getByRole("heading", { level: 1, name: "New chat" })).toBeVisible();
  await say(page, text);
  await expect(page).toHaveURL(/#\/chat\/[0-9a-f-]{36}$/);
  return page.url().split("/").at(-1) ?? "";
}

/** Waits until the reply that is being written is over. */
export async function finished(page: Page): Promise<void> {
  await expect(page.getByRole("button", { name: "Copy reply" }).last()).toBeVisible();
  await expect(page.getByRole("button", { name: "Stop", exact: true })).toHaveCount(0);
}

/** The stored messages of a chat, as role and text. */
export async function stored(engine: Engine, id: string): Promise<string[]> {
  const rows: { role: string; content: string }[] = await engine.api("GET", `/api/sessions/${id}/messages`);
  return rows.map((r) => `${r.role}: ${r.content}`);
}

/** All that "slow" says. */
export const FORTY = Array.from({ length: 40 }, (_, i) => `word${i}`).join(" ");

/** The live channel in the test's hands: it can be cut, and kept cut. */
export class Line {
  #down = false;
  #open = new Set<{ page: WebSocketRoute; engine: WebSocketRoute }>();
  /** What the page said over it. */
  readonly said: { type: string; client_id?: string; text?: string }[] = [];
  /** Called for each thing the engine says; true: the line is cut in its place. */
  cutBefore: (m: { type: string; text?: string }) => boolean = () => false;
  /** Called for each thing the page says, before the engine hears it; true: the engine hears it and the line is cut. */
  cutAfter: (m: { type: string }) => boolean = () => false;

  async lay(page: Page): Promise<void> {
    await page.routeWebSocket(/\/ws/, (ws) => {
      if (this.#down) {
        void ws.close({ code: 1001 });
        return;
      }
      const engine = ws.connectToServer();
      const pair = { page: ws, engine };
      this.#open.add(pair);
      ws.onMessage((raw) => {
        const m = JSON.parse(String(raw));
        this.said.push(m);
        engine.send(raw);
        if (this.cutAfter(m)) this.cut();
      });
      engine.onMessage((raw) => {
        if (!this.#down && this.cutBefore(JSON.parse(String(raw)))) this.cut();
        if (!this.#down) ws.send(raw);
      });
      engine.onClose(() => {
        this.#open.delete(pair);
        void ws.close({ code: 1001 });
      });
      ws.onClose(() => {
        this.#open.delete(pair);
        void engine.close();
      });
    });
  }

  /** Says a thing of the page to the engine once more. */
  repeat(m: object): void {
    for (const pair of this.#open) pair.engine.send(JSON.stringify(m));
  }

  cut(): void {
    this.#down = true;
    for (const pair of this.#open) {
      void pair.page.close({ code: 1001 });
      void pair.engine.close({ code: 1000 });
    }
    this.#open.clear();
  }

  mend(): void {
    this.#down = false;
  }
}

/** Starts counting the texts that the newest reply was shown with, one longer than the other. */
export async function countPieces(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const w = window as unknown as { pieces: number };
    w.pieces = 0;
    let longest = 0;
    new MutationObserver(() => {
      const text = [...document.querySelectorAll("main article")].at(-1)?.textContent ?? "";
      if (!text.includes("word0 ") || text.length <= longest) return;
      longest = text.length;
      w.pieces++;
    }).observe(document.body, { childList: true, characterData: true, subtree: true });
  });
  return () => page.evaluate(() => (window as unknown as { pieces: number }).pieces);
}

/** Starts noting what screen readers are told. */
export async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const heard: string[] = [];
    (window as unknown as { heard: string[] }).heard = heard;
    for (const region of document.querySelectorAll("[data-announcer]")) {
      new MutationObserver(() => {
        if (region.textContent) heard.push(region.textContent);
      }).observe(region, { childList: true, characterData: true, subtree: true });
    }
  });
  return () => page.evaluate(() => (window as unknown as { heard: string[] }).heard);
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The serious faults that axe finds in what is shown. */
export async function faults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    type Result = {
      violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
    };
    const axe = (window as unknown as { axe: { run: (what: object, o: object) => Promise<Result> } }).axe;
    // Left out: the guards around an open menu, which take the focus only to pass it on at once.
    const what = { exclude: [["[data-base-ui-focus-guard]"]] };
    const { violations } = await axe.run(what, { resultTypes: ["violations"] });
    return violations
      .filter((v) => v.impact === "serious" || v.impact === "critical")
      .flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 160)} ${n.failureSummary.replace(/\s+/g, " ")}`));
  });
}

/** By how much the page, or a part of it that scrolls down, must be moved sideways. Code and tables may scroll. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const over = (el: Element) => el.scrollWidth - el.clientWidth;
    const most = [over(document.documentElement)];
    for (const el of document.querySelectorAll("body *")) {
      if (el.matches("pre, [aria-label=Table], textarea, input")) continue;
      if (/auto|scroll/.test(getComputedStyle(el).overflowY)) most.push(over(el));
    }
    return Math.max(...most);
  });
}
