import { Marked, type Token } from "marked";
import { blockMath, inlineMath } from "./math";

const marked = new Marked({ gfm: true, breaks: false });
marked.use({ extensions: [inlineMath, blockMath] });

/** One block of a message: its source, and its tree. A settled block's object never changes. */
export interface Block {
  readonly key: number;
  readonly raw: string;
  readonly token: Token;
}

type Links = Record<string, { href: string; title?: string | null | undefined }>;

function lex(src: string, links: Links): { tokens: Token[]; links: Links } {
  const lexer = new marked.Lexer(marked.defaults);
  Object.assign(lexer.tokens.links, links);
  const tokens = [...lexer.lex(src)];
  return { tokens, links: { ...lexer.tokens.links } };
}

/** Blank lines and link addresses: they draw nothing. */
function silent(t: Token): boolean {
  return t.type === "space" || t.type === "def";
}

/** Whether an address in these tokens is new, or longer than when it was last looked at. */
function addressesDiffer(tokens: Token[], known: Links): boolean {
  return tokens.some((t) => t.type === "def" && known[t.tag]?.href !== t.href);
}

/**
 * Cuts a growing text into blocks. Only what follows the last settled block is parsed again when text is added: a
 * block is settled once another one stands after it.
 */
export class Splitter {
  #text = "";
  #settled: Block[] = [];
  #settledLength = 0;
  #links: Links = {};
  #open: Block[] = [];
  /** Characters parsed in all: what a test looks at to see that settled blocks are left alone. */
  parsed = 0;

  /** The blocks of `source`. Cheap when it is the former source with something added. */
  update(source: string): readonly Block[] {
    const text = source.includes("\r") ? source.replace(/\r\n?/g, "\n") : source;
    if (text !== this.#text) {
      if (!text.startsWith(this.#text)) this.#restart();
      this.#text = text;
      this.#parse();
    }
    return [...this.#settled, ...this.#open];
  }

  #parse(): void {
    const tail = this.#text.slice(this.#settledLength);
    this.parsed += tail.length;
    const { tokens, links } = lex(tail, this.#settledLength > 0 ? this.#links : {});
    if (this.#settledLength > 0 && addressesDiffer(tokens, this.#links)) {
      // An address came after the link that uses it: what was settled reads differently now. Rare, so all is parsed anew.
      this.#restart();
      this.#parse();
      return;
    }
    this.#links = links;
    this.#take(tokens);
  }

  #take(tokens: Token[]): void {
    let last = tokens.findLastIndex((t) => !silent(t));
    // What follows a paragraph without a blank line may yet turn out to be part of it: a table's second row.
    while (tokens[last - 1]?.type === "paragraph") last--;
    this.#open = [];
    tokens.forEach((token, i) => {
      if (i < last) this.#settledLength += token.raw.length;
      if (silent(token)) return;
      const block: Block = { key: this.#settled.length + this.#open.length, raw: token.raw, token };
      if (i < last) this.#settled.push(block);
      else this.#open.push(block);
    });
  }

  #restart(): void {
    this.#settled = [];
    this.#settledLength = 0;
    this.#open = [];
  }
}

/** All blocks of a text that no longer grows. */
export function parseBlocks(text: string): readonly Block[] {
  return new Splitter().update(text);
}
