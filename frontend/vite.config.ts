import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Where the development server finds an engine (or the stub): its address without a trailing slash. */
const engine = process.env.SENTIENT_ENGINE ?? "http://127.0.0.1:8787";

/** KaTeX's style sheet names each font three times; every engine the page runs in reads the first. */
const oneFontFormat: Plugin = {
  name: "one-font-format",
  enforce: "pre",
  transform(code, id) {
    if (!id.includes("katex") || !id.includes(".css")) return null;
    return code.replace(/,url\([^)]*\.(?:woff|ttf)\) ?format\("(?:woff|truetype)"\)/g, "");
  },
};

export default defineConfig({
  // Relative: the same files are served by the gateway and by the window's asset server.
  base: "./",
  plugins: [react(), oneFontFormat],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    target: ["chrome111", "safari16.4"],
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": engine, "/ws": { target: engine, ws: true } } },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test/setup.ts"],
    css: false,
    restoreMocks: true,
  },
});
