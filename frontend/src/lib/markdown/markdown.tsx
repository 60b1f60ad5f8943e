import type { Token, Tokens } from "marked";
import { Fragment, memo, type ReactNode, useMemo, useRef } from "react";
import { cx } from "@/lib/cx";
import { t } from "@/words";
import { type Block, Splitter } from "./blocks";
import { CodeBlock } from "./code-block";
import { Formula } from "./formula";
import { safeLink, showsHost } from "./links";
import css from "./markdown.module.css";
import type { MathToken } from "./math";

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** The few entities that models write in prose; what is not one of them stays as it was written. */
function entities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (all, dec, hex, name) => {
    if (name) return ENTITIES[String(name).toLowerCase()] ?? all;
    const code = dec ? Number(dec) : Number.parseInt(hex, 16);
    return code > 0x1f && code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

function plain(tokens: Token[] | undefined): string {
  return (tokens ?? [])
    .map((x) => ("tokens" in x && x.tokens ? plain(x.tokens) : "text" in x ? String(x.text) : ""))
    .join("");
}

function Link({ token, href }: { token: Tokens.Link | Tokens.Image; href: string }): ReactNode {
  const words = token.type === "image" ? token.text || t("markdown.picture") : null;
  const inside = words ?? <Inline tokens={token.tokens ?? []} />;
  const link = safeLink(href);
  if (!link) return inside;
  const text = words ?? plain(token.tokens);
  const host = link.host && !showsHost(text, link.host) ? link.host : "";
  return (
    <>
      <a href={link.href} target="_blank" rel="noopener noreferrer nofollow">
        {inside}
      </a>
      {host ? <span className={css.host}>({host})</span> : null}
    </>
  );
}

function inline(token: Token): ReactNode {
  switch (token.type) {
    case "text":
      return token.tokens ? <Inline tokens={token.tokens} /> : entities(token.text);
    case "escape":
      return token.text;
    case "strong":
      return (
        <strong>
          <Inline tokens={token.tokens ?? []} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens ?? []} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens ?? []} />
        </del>
      );
    case "codespan":
      return <code className={css.code}>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
    case "image":
      // A picture from elsewhere is never loaded: it is a link that says where it leads.
      return <Link token={token as Tokens.Link | Tokens.Image} href={token.href} />;
    case "inlineMath": {
      const m = token as MathToken;
      return <Formula tex={m.tex} raw={m.raw} display={m.display} />;
    }
    case "checkbox":
      return null;
    default:
      // Raw HTML and whatever else is shown as it was written.
      return token.raw;
  }
}

function Inline({ tokens }: { tokens: readonly Token[] }): ReactNode {
  return tokens.map((x, i) => <Fragment key={i}>{inline(x)}</Fragment>);
}

function Item({ item }: { item: Tokens.ListItem }): ReactNode {
  return (
    <li className={cx(item.task && css.task)}>
      {item.task ? (
        <input type="checkbox" checked={item.checked ?? false} disabled aria-label={plain(item.tokens)} />
      ) : null}
      <Children tokens={item.tokens} loose={item.loose} />
    </li>
  );
}

function List({ token }: { token: Tokens.List }): ReactNode {
  const items = token.items.map((item, i) => <Item key={i} item={item} />);
  if (!token.ordered) return <ul>{items}</ul>;
  return <ol start={typeof token.start === "number" ? token.start : 1}>{items}</ol>;
}

function Table({ token }: { token: Tokens.Table }): ReactNode {
  const align = (i: number) => (token.align[i] ? { textAlign: token.align[i] } : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={css.scroll} aria-label={t("markdown.table")} tabIndex={0}>
      <table className={css.table}>
        <thead>
          <tr>
            {token.header.map((c, i) => (
              <th key={i} scope="col" style={align(i)}>
                <Inline tokens={c.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((r, i) => (
            <tr key={i}>
              {r.map((c, j) => (
                <td key={j} style={align(j)}>
                  <Inline tokens={c.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Below the headings of the page, so that its outline stays in order. */
const HEADINGS = ["h3", "h3", "h4", "h5", "h6", "h6"] as const;

function block(token: Token, loose = true): ReactNode {
  switch (token.type) {
    case "heading": {
      const H = HEADINGS[token.depth - 1] ?? "h6";
      return (
        <H>
          <Inline tokens={token.tokens ?? []} />
        </H>
      );
    }
    case "paragraph":
      return loose ? (
        <p>
          <Inline tokens={token.tokens ?? []} />
        </p>
      ) : (
        <Inline tokens={token.tokens ?? []} />
      );
    case "text":
      return loose ? (
        <p>
          <Inline tokens={token.tokens ?? [token]} />
        </p>
      ) : (
        <Inline tokens={token.tokens ?? [token]} />
      );
    case "code":
      return <CodeBlock code={token.text} lang={(token.lang ?? "").split(/\s/)[0] ?? ""} />;
    case "list":
      return <List token={token as Tokens.List} />;
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "blockquote":
      return (
        <blockquote>
          <Children tokens={token.tokens ?? []} loose />
        </blockquote>
      );
    case "hr":
      return <hr />;
    case "blockMath": {
      const m = token as MathToken;
      return <Formula tex={m.tex} raw={m.raw} display />;
    }
    case "space":
    case "def":
    case "checkbox":
      return null;
    default:
      return <p>{token.raw}</p>;
  }
}

function Children({ tokens, loose }: { tokens: readonly Token[]; loose: boolean }): ReactNode {
  return tokens.map((x, i) => <Fragment key={i}>{block(x, loose)}</Fragment>);
}

/** Drawn again only when its own object changes: a settled block never does. */
const BlockView = memo(function BlockView({ it }: { it: Block }): ReactNode {
  return block(it.token);
});

/**
 * Text of a model as a page: no raw HTML, nothing loaded from anywhere, links that show their host. Made for text that
 * grows: what was drawn stays, and only the last block is parsed again.
 */
export const Markdown = memo(function Markdown({ text, className }: { text: string; className?: string }): ReactNode {
  const splitter = useRef<Splitter | null>(null);
  splitter.current ??= new Splitter();
  const s = splitter.current;
  const blocks = useMemo(() => s.update(text), [s, text]);
  return (
    <div className={cx(css.prose, className)}>
      {blocks.map((b) => (
        <BlockView key={b.key} it={b} />
      ))}
    </div>
  );
});
