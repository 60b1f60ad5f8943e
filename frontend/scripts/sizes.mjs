// Prints what the page loads first, compressed, and fails when that is more than the limit.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const LIMIT_KB = 250;
const dist = fileURLToPath(new URL("../dist", import.meta.url));
const html = readFileSync(join(dist, "index.html"), "utf8");

const first = new Set();
/** A module and everything it imports at once; what is imported later is not counted. */
function take(file) {
  if (first.has(file)) return;
  first.add(file);
  const code = readFileSync(join(dist, file), "utf8");
  for (const m of code.matchAll(/(?:^|[;\s}])(?:import|export)\s*(?:[^"'()]*?from\s*)?["'](\.[^"']+\.js)["']/g)) {
    take(join(dirname(file), m[1]));
  }
}
for (const m of html.matchAll(/(?:src|href)="\.\/([^"]+\.js)"/g)) take(m[1]);

let total = 0;
for (const file of first) {
  const kb = gzipSync(readFileSync(join(dist, file))).length / 1024;
  total += kb;
  console.log(`${kb.toFixed(1).padStart(8)} kB  ${file}`);
}
console.log(`${total.toFixed(1).padStart(8)} kB  first JavaScript load, compressed (limit ${LIMIT_KB})`);
if (total > LIMIT_KB) process.exit(1);
