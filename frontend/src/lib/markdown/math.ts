import type { TokenizerAndRendererExtension, Tokens } from "marked";

export interface MathToken extends Tokens.Generic {
  type: "inlineMath" | "blockMath";
  raw: string;
  tex: string;
  display: boolean;
}

/** `$…$` on one line, without a dollar inside but for `\$`. */
const DOLLAR = /^\$((?:\\[^\n]|[^\\$\n])+)\$/;
const DOUBLE = /^\$\$((?:\\[^\n]|[^\\$]|\$(?!\$))+?)\$\$/;
const PAREN = /^\\\(([\s\S]+?)\\\)/;
const BRACKET = /^\\\[([\s\S]+?)\\\]/;
const BLOCK_DOUBLE = /^ {0,3}\$\$[ \t]*\n?((?:(?!\n[ \t]*\n)[\s\S])+?)\n?[ \t]*\$\$[ \t]*(?:\n|$)/;
const BLOCK_BRACKET = /^ {0,3}\\\[[ \t]*\n?((?:(?!\n[ \t]*\n)[\s\S])+?)\n?[ \t]*\\\][ \t]*(?:\n|$)/;

/** Signs that a text which begins with a figure is a formula and not an amount. */
const FORMULA = /[\\^_={}]|[\w)]\s*[-−+*/<>]\s*[\w(\\]|^\d+(?:\.\d+)?[ac-jln-z]$/;

/**
 * Whether the text between two single dollars is a formula. Prices, shell variables and dollars in prose are the usual
 * case; a formula touches both dollars, and what follows the second is not the next word or figure.
 */
export function isInlineMath(tex: string, next: string): boolean {
  if (/^\s|\s$/.test(tex)) return false;
  if (/[\p{L}\p{N}_]/u.test(next)) return false;
  // "$5 and 10$", "$20/month, or 30$": an amount first.
  if (/^[\d.,]/.test(tex)) return !/\s\p{L}{2,}/u.test(tex) && (FORMULA.test(tex) || /^\d+(?:\.\d+)?$/.test(tex));
  // "$HOME/$": a variable's name first, and a path or nothing after it.
  if (/^[A-Z_][A-Z0-9_]{2,}(?:[/:.-]|$)/.test(tex)) return false;
  return true;
}

function inlineDollar(src: string): MathToken | undefined {
  const double = DOUBLE.exec(src);
  if (double?.[1]?.trim()) return { type: "inlineMath", raw: double[0], tex: double[1].trim(), display: true };
  const m = DOLLAR.exec(src);
  if (!m?.[1] || !isInlineMath(m[1], src.charAt(m[0].length))) return undefined;
  return { type: "inlineMath", raw: m[0], tex: m[1], display: false };
}

export const inlineMath: TokenizerAndRendererExtension = {
  name: "inlineMath",
  level: "inline",
  start(src) {
    const at = src.search(/\$|\\\(|\\\[/);
    return at < 0 ? undefined : at;
  },
  tokenizer(src, tokens) {
    if (src.startsWith("\\(")) {
      const m = PAREN.exec(src);
      return m?.[1]
        ? ({ type: "inlineMath", raw: m[0], tex: m[1].trim(), display: false } satisfies MathToken)
        : undefined;
    }
    if (src.startsWith("\\[")) {
      const m = BRACKET.exec(src);
      return m?.[1]
        ? ({ type: "inlineMath", raw: m[0], tex: m[1].trim(), display: true } satisfies MathToken)
        : undefined;
    }
    if (!src.startsWith("$")) return undefined;
    // A dollar inside a word ("US$5", "a$b$") opens nothing.
    const before = tokens.at(-1)?.raw.at(-1) ?? "";
    if (/[\p{L}\p{N}$\\]/u.test(before)) return undefined;
    return inlineDollar(src);
  },
};

export const blockMath: TokenizerAndRendererExtension = {
  name: "blockMath",
  level: "block",
  start(src) {
    const at = src.search(/(?:^|\n) {0,3}(?:\$\$|\\\[)/);
    return at < 0 ? undefined : at;
  },
  tokenizer(src) {
    const m = BLOCK_DOUBLE.exec(src) ?? BLOCK_BRACKET.exec(src);
    if (!m?.[1]?.trim()) return undefined;
    return { type: "blockMath", raw: m[0], tex: m[1].trim(), display: true } satisfies MathToken;
  },
};
