import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { katexNow, loadKatex } from "./katex";
import css from "./markdown.module.css";

/** A formula; shown as it was written until the drawer is here, and when it cannot be drawn. */
export function Formula({ tex, raw, display }: { tex: string; raw: string; display: boolean }): ReactNode {
  const place = useRef<HTMLSpanElement>(null);
  const [katex, setKatex] = useState(() => katexNow());
  const [failed, setFailed] = useState<string | null>(null);

  useEffect(() => {
    if (katex) return;
    let off = false;
    void loadKatex().then((k) => {
      if (!off) setKatex(() => k);
    });
    return () => {
      off = true;
    };
  }, [katex]);

  useLayoutEffect(() => {
    const el = place.current;
    if (!katex || !el) return;
    try {
      // Drawn as nodes rather than as HTML text, so that a strict content policy lets its styles through.
      katex.render(tex, el, { displayMode: display, throwOnError: true, trust: false, maxExpand: 200, maxSize: 20 });
    } catch {
      setFailed(tex);
    }
  }, [katex, tex, display]);

  const className = display ? css.mathBlock : undefined;
  if (!katex || failed === tex) return <span className={`${css.math} ${className ?? ""}`}>{raw.trim()}</span>;
  return <span ref={place} className={className} />;
}
