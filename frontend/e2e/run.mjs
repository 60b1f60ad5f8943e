// Runs the tests of the served page. They want a running engine, as build/scripts/with-engine.sh gives one.
// Usage: node e2e/run.mjs [what Playwright's `test` takes, such as a file or --grep WORD]
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

if (!process.env.SENTIENT_BASE || !process.env.SENTIENT_TOKEN) {
  console.error("There is no engine to look at. Run this through build/scripts/e2e-page.sh.");
  process.exit(2);
}
const here = dirname(fileURLToPath(import.meta.url));
const cli = join(dirname(createRequire(import.meta.url).resolve("@playwright/test/package.json")), "cli.js");
const run = spawnSync(
  process.execPath,
  [cli, "test", "--config", join(here, "playwright.config.ts"), ...process.argv.slice(2)],
  { stdio: "inherit", env: { ...process.env, PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: "1" } },
);
process.exit(run.status ?? 1);
