import { ChevronRight } from "lucide-react";
import { memo, type ReactNode, useId, useState } from "react";
import type { Call, Part } from "@/api/queries/turns";
import { Markdown } from "@/lib/markdown/markdown";
import { t } from "@/words";
import { Calls } from "./calls";
import css from "./chat.module.css";

/** What the model said to itself: one line, and its words a press away. */
function Thinking({ text, live }: { text: string; live: boolean }): ReactNode {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div className={css.thinking}>
      <button
        type="button"
        className={css.reveal}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <ChevronRight size={14} aria-hidden />
        {live ? t("chat.thinkingNow") : t("chat.thinking")}
      </button>
      <div id={id} hidden={!open} className={css.thinkingText}>
        {open ? text : null}
      </div>
    </div>
  );
}

type Group = { kind: "calls"; key: string; calls: Call[] } | { kind: "thinking" | "text"; key: string; text: string };

function group(parts: readonly Part[], showThinking: boolean): Group[] {
  const out: Group[] = [];
  for (const p of parts) {
    if (p.kind === "call") {
      const last = out.at(-1);
      if (last?.kind === "calls") last.calls.push(p.call);
      else out.push({ kind: "calls", key: `c:${p.call.callId}`, calls: [p.call] });
    } else if (p.kind === "message") {
      if (p.thinking && showThinking) out.push({ kind: "thinking", key: `h:${p.id}`, text: p.thinking });
      if (p.text) out.push({ kind: "text", key: `t:${p.id}`, text: p.text });
    }
  }
  return out;
}

/** A reply as it was written: thoughts, words and calls in their order. */
export const Parts = memo(function Parts(props: {
  parts: readonly Part[];
  live: boolean;
  showThinking: boolean;
}): ReactNode {
  const groups = group(props.parts, props.showThinking);
  return groups.map((g, i) => {
    if (g.kind === "text") return <Markdown key={g.key} text={g.text} />;
    if (g.kind === "calls") return <Calls key={g.key} calls={g.calls} />;
    return <Thinking key={g.key} text={g.text} live={props.live && i === groups.length - 1} />;
  });
});
