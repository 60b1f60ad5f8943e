import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "@/ui/button";
import { t } from "@/words";
import { grammarOf, highlight, highlighted, type Piece } from "./highlight";
import css from "./markdown.module.css";

const COPIED_MS = 1600;
/** While code still streams in, it is coloured when it pauses, not at every letter. */
const SETTLE_MS = 120;

function useColours(code: string, lang: string): Piece[][] | undefined {
  const [done, setDone] = useState<{ code: string; lines: Piece[][] } | undefined>();
  const kept = highlighted(code, lang);
  useEffect(() => {
    if (kept || !grammarOf(lang)) return;
    let off = false;
    const timer = window.setTimeout(() => {
      void highlight(code, lang).then((lines) => {
        if (!off && lines) setDone({ code, lines });
      });
    }, SETTLE_MS);
    return () => {
      off = true;
      window.clearTimeout(timer);
    };
  }, [code, lang, kept]);
  if (kept) return kept;
  // Coloured lines stay coloured while more of them arrive.
  return done && code.startsWith(done.code) ? [...done.lines.slice(0, -1), ...rest(code, done)] : undefined;
}

function rest(code: string, done: { lines: Piece[][] }): Piece[][] {
  return code
    .split("\n")
    .slice(Math.max(0, done.lines.length - 1))
    .map((text) => [{ text, color: undefined }]);
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function CopyButton({ text, label }: { text: string; label?: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = window.setTimeout(() => setCopied(false), COPIED_MS);
    return () => window.clearTimeout(timer);
  }, [copied]);
  return (
    <Button
      look="ghost"
      small
      icon={copied ? Check : Copy}
      onClick={async () => setCopied(await copy(text))}
      // What it says when it has copied is its name for that moment, too.
      aria-label={copied ? undefined : label}
    >
      <span aria-live="polite">{copied ? t("action.copied") : t("action.copy")}</span>
    </Button>
  );
}

export function CodeBlock({ code, lang }: { code: string; lang: string }): ReactNode {
  const lines = useColours(code, lang);
  return (
    <figure className={css.block}>
      <figcaption className={css.blockHead}>
        <span>{lang || t("markdown.code")}</span>
        <CopyButton text={code} label={t("markdown.copyCode")} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={css.pre} tabIndex={0}>
        <code>
          {lines
            ? lines.map((line, i) => (
                <span key={i}>
                  {line.map((p, j) => (
                    <span key={j} style={p.color ? { color: p.color } : undefined}>
                      {p.text}
                    </span>
                  ))}
                  {i < lines.length - 1 ? "\n" : ""}
                </span>
              ))
            : code}
        </code>
      </pre>
    </figure>
  );
}
