// @vitest-environment node
import { describe, expect, it } from "vitest";
import { parseBlocks, Splitter } from "./blocks";
import { isInlineMath, type MathToken } from "./math";

const DOCUMENTS: Record<string, string> = {
  prose: "# Title\n\nFirst words with *stress* and `code`.\n\nSecond\nparagraph.\n\nSetext\n===\n\nEnd",
  lists: "- a\n- b\n\n  more of b\n\n- c\n\nafter\n\n1. x\n2. y\n   - z\n\n* other\n* list\n\n---\n\nend",
  code: "Text\n\n```go\nfunc main() {\n\n\n}\n```\nmore\n\n    indented\n\n    more\n\nend\n\n~~~\nopen",
  tables: "a | b\n- | -\n1 | 2\n3 | 4\n\nafter\n\n| x |\n|---|\n| $y$ |\n",
  quotes: "> a\nlazy\n> b\n\n> c\n\ntext <b>raw</b>\n\n<div>\nhtml\n</div>\n\nend",
  math: "Price $5 to $10, **$1.50**, $HOME/$USER, $x^2$, $$\\frac12$$, \\(a\\)\n\n$$\na+b\n$$\n\nand \\[c\\]\n\nend",
  late: "See [one] and [two].\n\nMore.\n\n[one]: https://a.example\n\nText\n\n[two]: https://b.example\n",
  empty: "\n\n\n",
};

function shape(text: string, blocks = parseBlocks(text)) {
  return blocks.map((b) => ({
    raw: b.raw.trimEnd(),
    token: JSON.stringify(b.token, (k, v) => (k === "raw" ? String(v).trimEnd() : v)),
  }));
}

describe("the splitter", () => {
  for (const [name, text] of Object.entries(DOCUMENTS)) {
    it(`gives the same blocks letter by letter as at once: ${name}`, () => {
      const s = new Splitter();
      let blocks: ReturnType<Splitter["update"]> = [];
      for (let i = 1; i <= text.length; i++) blocks = s.update(text.slice(0, i));
      expect(shape(text, blocks)).toEqual(shape(text));
    });
  }

  it("leaves settled blocks alone, to the very object", () => {
    const s = new Splitter();
    const first = s.update("One.\n\nTwo.\n\nThr");
    const then = s.update("One.\n\nTwo.\n\nThree and more");
    expect(then[0]).toBe(first[0]);
    expect(then[1]).toBe(first[1]);
    expect(then[2]).not.toBe(first[2]);
  });

  it("parses a long reply in proportion to its open block, not to its length", () => {
    const paragraph = `${"word ".repeat(20)}\n\n`;
    const text = paragraph.repeat(100);
    const s = new Splitter();
    for (let i = 10; i <= text.length; i += 10) s.update(text.slice(0, i));
    // Each of the ten-letter pieces parses at most one paragraph and the blank line before it.
    expect(s.parsed).toBeLessThan((text.length / 10) * (paragraph.length * 2 + 20));
  });

  it("starts again when the text is another one", () => {
    const s = new Splitter();
    s.update("One.\n\nTwo.");
    expect(s.update("Other").map((b) => b.raw)).toEqual(["Other"]);
  });

  it("reads CRLF as line ends", () => {
    expect(shape("a\r\n\r\nb")).toEqual(shape("a\n\nb"));
  });
});

function formulas(text: string): string[] {
  const found: string[] = [];
  const walk = (v: unknown): void => {
    if (typeof v !== "object" || v === null) return;
    const t = v as Partial<MathToken>;
    if (t.type === "inlineMath" || t.type === "blockMath") found.push(String(t.tex));
    for (const x of Array.isArray(v) ? v : Object.values(v)) walk(x);
  };
  walk(parseBlocks(text).map((b) => b.token));
  return [...new Set(found)];
}

describe("the dollar rule", () => {
  const plain = [
    "$5 to $10",
    "It costs $5 or $6, not 7$.",
    "**$1.50**, $HOME/$USER",
    "$20/month and $30/month",
    "I have $5 and you have 10$ left",
    "echo $PATH:$HOME and $x",
    "US$5 and CA$6",
    "\\$x\\$ stays",
    "`$x^2$` is code",
    "between $ 5 and 6 $ it is",
    "$1,000-$2,000",
    "a $ b $ c",
    "From $5M to $10M$",
  ];
  for (const text of plain) {
    it(`leaves "${text}" plain`, () => expect(formulas(text)).toEqual([]));
  }

  const drawn: [string, string[]][] = [
    ["$x^2$", ["x^2"]],
    ["So $a$ and $b$.", ["a", "b"]],
    ["$5 to $10, then $x$", ["x"]],
    ["$$\\frac12$$", ["\\frac12"]],
    ["\\(a\\) and \\[b\\]", ["a", "b"]],
    ["$$\na+b\n$$", ["a+b"]],
    ["$2x + 1 = 5$", ["2x + 1 = 5"]],
    ["$E=mc^2$, for $5", ["E=mc^2"]],
    ["**bold $y_1$**", ["y_1"]],
    ["| a |\n|---|\n| $z$ |", ["z"]],
  ];
  for (const [text, want] of drawn) {
    it(`draws the formulas of ${JSON.stringify(text)}`, () => expect(formulas(text)).toEqual(want));
  }

  it("keeps prices plain and draws formulas in one line, whatever piece arrives", () => {
    const text = "$5 to $10, **$1.50**, $HOME/$USER, $x^2$, $$\\frac12$$, \\(a\\)";
    for (let i = 1; i < text.length; i++) {
      for (const f of formulas(text.slice(0, i))) expect(["x^2", "\\frac12", "a"]).toContain(f);
    }
    expect(formulas(text)).toEqual(["x^2", "\\frac12", "a"]);
  });

  it("wants the dollars to touch", () => {
    expect(isInlineMath("x ", "")).toBe(false);
    expect(isInlineMath("x", "y")).toBe(false);
    expect(isInlineMath("x", ".")).toBe(true);
  });
});
