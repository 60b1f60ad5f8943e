import type { HighlighterCore, ThemedToken } from "shiki/core";

/** A piece of code with the CSS colour it has. */
export interface Piece {
  text: string;
  color: string | undefined;
}

const GRAMMARS = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  ini: () => import("shiki/langs/ini.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  lua: () => import("shiki/langs/lua.mjs"),
  make: () => import("shiki/langs/make.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  powershell: () => import("shiki/langs/powershell.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  r: () => import("shiki/langs/r.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  scala: () => import("shiki/langs/scala.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  xml: () => import("shiki/langs/xml.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
} as const;

type Lang = keyof typeof GRAMMARS;

const ALIASES: Record<string, Lang> = {
  "c++": "cpp",
  cs: "csharp",
  dockerfile: "docker",
  golang: "go",
  js: "javascript",
  jsonc: "json",
  jsx: "tsx",
  kt: "kotlin",
  makefile: "make",
  md: "markdown",
  ps1: "powershell",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  svg: "xml",
  ts: "typescript",
  yml: "yaml",
  zsh: "bash",
};

export function grammarOf(name: string): Lang | null {
  const n = name.trim().toLowerCase();
  if (Object.hasOwn(GRAMMARS, n)) return n as Lang;
  return ALIASES[n] ?? null;
}

/** Longer code is shown plain: colouring it would hold up the page. */
const LONGEST = 40_000;
const KEPT = 200;

let core: Promise<HighlighterCore> | undefined;

async function highlighter(): Promise<HighlighterCore> {
  core ??= (async () => {
    const [{ createCssVariablesTheme, createHighlighterCore }, { createJavaScriptRegexEngine }] = await Promise.all([
      import("shiki/core"),
      import("shiki/engine/javascript"),
    ]);
    return createHighlighterCore({
      themes: [createCssVariablesTheme({ name: "sentient", variablePrefix: "--code-", fontStyle: false })],
      langs: [],
      engine: createJavaScriptRegexEngine({ forgiving: true }),
    });
  })();
  return core;
}

const kept = new Map<string, Piece[][]>();

function keyOf(code: string, lang: string): string {
  return `${lang}\n${code}`;
}

/** Coloured code that is at hand already, so that drawing it again does not flash. */
export function highlighted(code: string, lang: string): Piece[][] | undefined {
  return kept.get(keyOf(code, lang));
}

function pieces(line: ThemedToken[]): Piece[] {
  return line.map((t) => ({ text: t.content, color: t.color }));
}

/** Colours code by lines, or gives null for a language that is not known. The grammar is loaded when first needed. */
export async function highlight(code: string, name: string): Promise<Piece[][] | null> {
  const lang = grammarOf(name);
  if (!lang || code.length > LONGEST) return null;
  const h = await highlighter();
  if (!h.getLoadedLanguages().includes(lang)) await h.loadLanguage(GRAMMARS[lang]);
  const lines = h.codeToTokensBase(code, { lang, theme: "sentient" }).map(pieces);
  if (kept.size >= KEPT) kept.delete(kept.keys().next().value ?? "");
  kept.set(keyOf(code, name), lines);
  return lines;
}
