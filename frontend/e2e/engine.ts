import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

function need(name: string): string {
  const v = process.env[name];
  if (!v) throw new Error(`${name} is not set: run these tests through build/scripts/e2e-page.sh.`);
  return v;
}

/** A running engine, seen by a program of the person's own: through its token. */
export class Engine {
  readonly base: string;
  readonly token: string;

  constructor(base: string, token: string) {
    this.base = base;
    this.token = token;
  }

  async raw(method: string, path: string, body?: unknown): Promise<Response> {
    const init: RequestInit = { method, headers: { authorization: `Bearer ${this.token}` } };
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { ...init.headers, "content-type": "application/json" };
    }
    return fetch(this.base + path, init);
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look at what came with expectations, not with types
  async api(method: string, path: string, body?: unknown): Promise<any> {
    const r = await this.raw(method, path, body);
    const text = await r.text();
    if (!r.ok) throw new Error(`${method} ${path}: ${r.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** A link to the page; each works once. */
  async link(): Promise<string> {
    return (await this.api("POST", "/api/gateway/link", {})).url;
  }
}

/** The engine that was started for all tests. */
export const shared = new Engine(need("SENTIENT_BASE"), need("SENTIENT_TOKEN"));

/** Where the shared engine's model answers, with "/v1" at the end. */
export function stubAddress(): string {
  const found = /api_base: (http\S+)/.exec(readFileSync(join(need("SENTIENT_HOME"), "config.yaml"), "utf8"));
  if (!found?.[1]) throw new Error("the shared engine's settings name no model");
  return found[1];
}

/** An engine of one test's own, on a data folder of its own, that can be ended and started again at the same address. */
export class OwnEngine {
  readonly #dir = mkdtempSync(join(tmpdir(), "sentient-page-"));
  #child: ChildProcess | undefined;
  #log = "";

  constructor(config: string) {
    const home = this.home();
    mkdirPrivate(home);
    writeFileSync(join(home, "config.yaml"), config, { mode: 0o600 });
  }

  home(): string {
    return join(this.#dir, "data");
  }

  async start(port = 0): Promise<Engine> {
    this.#log = "";
    const child = spawn(need("SENTIENT_BIN"), ["serve", "--port", String(port)], {
      env: {
        PATH: process.env.PATH ?? "",
        HOME: this.#dir,
        SENTIENT_HOME: this.home(),
        DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent", // no keychain: keys stay in this folder
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const base = await new Promise<string>((resolve, reject) => {
      const hear = (piece: Buffer) => {
        this.#log += piece;
        const link = /(http:\S+)\/open\?code=/.exec(this.#log);
        if (link?.[1]) resolve(link[1]);
      };
      child.stdout?.on("data", hear);
      child.stderr?.on("data", hear);
      child.once("exit", (code) => reject(new Error(`the engine ended (${code}):\n${this.#log}`)));
      child.once("error", reject);
    });
    return new Engine(base, readFileSync(join(this.home(), "gateway.token"), "utf8").trim());
  }

  /** Ends it; by SIGKILL as a crash would. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  async remove(): Promise<void> {
    await this.end();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

function mkdirPrivate(path: string): void {
  mkdirSync(path, { mode: 0o700 });
}

/** A provider that wants a key: whoever shows the right one is answered by the stub model. */
export class Provider {
  readonly key = "sk-test-right-5f0c1e9a7b";
  /** How often a wrong key or none came. */
  refused = 0;
  answered = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((req, res) => {
      if (req.headers.authorization !== `Bearer ${this.key}`) {
        this.refused++;
        res.writeHead(401, { "content-type": "application/json" });
        res.end('{"error":{"message":"Incorrect API key provided.","code":"invalid_api_key"}}');
        return;
      }
      this.answered++;
      const on = new URL(stubAddress());
      const to = {
        host: on.hostname,
        port: on.port,
        path: req.url,
        method: req.method,
        headers: { ...req.headers, host: on.host },
      };
      const out = request(to, (got) => {
        res.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(res);
      });
      out.on("error", () => res.destroy());
      req.pipe(out);
    });
  }

  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** Settings of an engine that the stub answers. */
export function stubConfig(): string {
  return `chat:
  auto_title: false
models:
  roles:
    primary: lm_studio/stub
    fast: lm_studio/stub
  providers:
    lm_studio:
      api_base: ${stubAddress()}
`;
}
