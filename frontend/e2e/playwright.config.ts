import { defineConfig } from "@playwright/test";
import { CHROMIUM } from "./browser.mjs";

export default defineConfig({
  testDir: ".",
  testMatch: "*.spec.ts",
  outputDir: "../test-results/page",
  // One browser and one engine: the tests take turns.
  workers: 1,
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  retries: 0,
  timeout: 60_000,
  globalTimeout: 600_000,
  expect: { timeout: 15_000 },
  globalSetup: "./global-setup.ts",
  reporter: [["line"], ["json", { outputFile: "../test-results/playwright.json" }]],
  use: {
    browserName: "chromium",
    launchOptions: CHROMIUM,
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    actionTimeout: 15_000,
    navigationTimeout: 30_000,
    locale: "en-US",
    trace: "off",
    screenshot: "only-on-failure",
  },
});
