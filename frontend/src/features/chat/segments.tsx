import { Check, ChevronRight, X } from "lucide-react";
import { memo, type ReactNode, useId, useState } from "react";
import type { Segment } from "@/api/queries/turns";
import { Markdown } from "@/lib/markdown/markdown";
import { Spinner } from "@/ui/surface";
import { t } from "@/words";
import css from "./chat.module.css";

type Tool = Extract<Segment, { kind: "tool" }>;

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

function ToolLine({ tool }: { tool: Tool }): ReactNode {
  const words = { running: "chat.toolRunning", done: "chat.toolDone", failed: "chat.toolFailed" } as const;
  return (
    <li className={css.tool}>
      {tool.state === "running" ? (
        <Spinner size={14} />
      ) : tool.state === "done" ? (
        <Check size={14} aria-hidden />
      ) : (
        <X size={14} aria-hidden />
      )}
      <span>{t(words[tool.state], { name: plainName(tool.name) })}</span>
    </li>
  );
}

/** "web_fetch" as people would say it. */
function plainName(name: string): string {
  return name.replace(/^mcp_/, "").replaceAll("_", " ");
}

/** Several calls in a row are one line while nobody asks. */
function Tools({ tools }: { tools: readonly Tool[] }): ReactNode {
  const [open, setOpen] = useState(false);
  const id = useId();
  const [only] = tools;
  if (tools.length === 1 && only) {
    return (
      <ul className={css.toolList}>
        <ToolLine tool={only} />
      </ul>
    );
  }
  const running = tools.find((x) => x.state === "running");
  return (
    <div>
      <button
        type="button"
        className={css.reveal}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <ChevronRight size={14} aria-hidden />
        {running
          ? t("chat.toolRunning", { name: plainName(running.name) })
          : t("chat.toolsDone", { count: tools.length })}
      </button>
      <ul id={id} hidden={!open} className={css.toolList}>
        {tools.map((x) => (
          <ToolLine key={x.callId} tool={x} />
        ))}
      </ul>
    </div>
  );
}

type Group = { kind: "tools"; tools: Tool[] } | Exclude<Segment, Tool>;

function group(segments: readonly Segment[]): Group[] {
  const out: Group[] = [];
  for (const s of segments) {
    const last = out.at(-1);
    if (s.kind !== "tool") out.push(s);
    else if (last?.kind === "tools") last.tools.push(s);
    else out.push({ kind: "tools", tools: [s] });
  }
  return out;
}

export const Segments = memo(function Segments(props: {
  segments: readonly Segment[];
  live: boolean;
  showThinking: boolean;
}): ReactNode {
  const groups = group(props.segments);
  return groups.map((g, i) => {
    if (g.kind === "text") return <Markdown key={i} text={g.text} />;
    if (g.kind === "tools") return <Tools key={i} tools={g.tools} />;
    if (!props.showThinking) return null;
    return <Thinking key={i} text={g.text} live={props.live && i === groups.length - 1} />;
  });
});
