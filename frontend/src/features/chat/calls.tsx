import { Check, ChevronRight, CircleDashed, X } from "lucide-react";
import { memo, type ReactNode, useId, useState } from "react";
import { type ToolInfo, useTools } from "@/api/queries/tools";
import type { Call, Shown } from "@/api/queries/turns";
import { cx } from "@/lib/cx";
import { CopyButton } from "@/lib/markdown/code-block";
import { Spinner } from "@/ui/surface";
import { t } from "@/words";
import css from "./calls.module.css";
import chat from "./chat.module.css";

/** "web_fetch" as people would say it. */
function plainName(name: string): string {
  const words = name.replace(/^mcp_/, "").replaceAll("_", " ").trim() || name;
  return words.charAt(0).toLocaleUpperCase() + words.slice(1);
}

function Mark({ call }: { call: Call }): ReactNode {
  switch (call.state) {
    case "running":
      return <Spinner size={14} />;
    case "done":
      return <Check size={14} aria-hidden />;
    case "failed":
      return <X size={14} aria-hidden className={css.bad} />;
    default:
      return <CircleDashed size={14} aria-hidden />;
  }
}

function timeOf(ms: number): string {
  return ms < 1000
    ? t("calls.tookMs", { ms: Math.max(1, Math.round(ms)) })
    : t("calls.took", { seconds: Math.round(ms / 100) / 10 });
}

/** Text from outside, as it is: no link, no picture, nothing that reads as markup. */
function Raw({ label, it }: { label: string; it: Shown }): ReactNode {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={css.raw} tabIndex={0} aria-label={label}>
        <pre>{it.text}</pre>
      </section>
      {it.total > it.text.length ? (
        <p className={css.note}>{t("calls.cut", { shown: it.text.length, total: it.total })}</p>
      ) : null}
    </>
  );
}

function Details({ call, name }: { call: Call; name: string }): ReactNode {
  const empty = !call.args || /^\s*(\{\s*\})?\s*$/.test(call.args.text);
  return (
    <div className={css.details}>
      <h5>{t("calls.arguments")}</h5>
      {empty || !call.args ? (
        <p className={css.note}>{t("calls.noArguments")}</p>
      ) : (
        <Raw label={t("calls.arguments")} it={call.args} />
      )}
      {call.image ? <img className={css.picture} src={call.image} alt={t("calls.picture")} /> : null}
      {call.output ? (
        <>
          <h5>{t("calls.output")}</h5>
          <Raw label={t("calls.output")} it={{ text: call.output, total: call.output.length }} />
        </>
      ) : null}
      {call.result ? (
        <>
          <div className={css.head}>
            <h5>{t("calls.result")}</h5>
            {call.result.text ? <CopyButton text={call.result.text} label={t("calls.copy", { name })} /> : null}
          </div>
          {call.result.text ? (
            <Raw label={t("calls.result")} it={call.result} />
          ) : (
            <p className={css.note}>{t("calls.noResult")}</p>
          )}
        </>
      ) : null}
      {call.check ? (
        <p className={cx(css.check, !call.check.ok && css.bad)}>
          {call.check.ok
            ? t("calls.checkedOk", { action: call.check.action })
            : t("calls.checkedBad", { detail: call.check.message || call.check.detail })}
        </p>
      ) : null}
    </div>
  );
}

const CallLine = memo(function CallLine({ call }: { call: Call }): ReactNode {
  const [open, setOpen] = useState(false);
  const id = useId();
  const name = plainName(call.name);
  return (
    <li className={css.call}>
      <button
        type="button"
        className={css.line}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Mark call={call} />
        <span className={css.name}>{name}</span>
        <span className={cx(css.state, call.state === "failed" && css.bad)}>
          {call.status ?? t(`calls.state.${call.state}`)}
        </span>
        {call.durationMs === null ? null : <span className="tabular">{timeOf(call.durationMs)}</span>}
        <ChevronRight size={14} aria-hidden className={css.turn} />
      </button>
      {open ? (
        <div id={id}>
          <Details call={call} name={name} />
        </div>
      ) : null}
    </li>
  );
});

/** What the calls come to, in a line. */
function summary(calls: readonly Call[], tools: ReadonlyMap<string, ToolInfo>): string {
  const at = calls.findIndex((c) => c.state === "running");
  const now = calls[at];
  if (now) {
    const name = now.status || plainName(now.name);
    return calls.length > 1
      ? t("calls.runningOf", { name, at: at + 1, of: calls.length })
      : t("calls.running", { name: name.replace(/…$/, "") });
  }
  const count = calls.length;
  const [only] = calls;
  if (count === 1 && only && only.state !== "done")
    return t(only.state === "failed" ? "calls.failedOne" : "calls.unendedOne", { name: plainName(only.name) });
  const risks = calls.map((c) => tools.get(c.name)?.risk);
  const what = risks.some((r) => r === undefined)
    ? t("calls.used", { count })
    : risks.every((r) => r === "read")
      ? t("calls.looked", { count })
      : t("calls.did", { count });
  const bad = calls.filter((c) => c.state !== "done").length;
  return bad ? `${what}, ${t("calls.failed", { count: bad })}` : what;
}

function same(a: { calls: readonly Call[] }, b: { calls: readonly Call[] }): boolean {
  return a.calls.length === b.calls.length && a.calls.every((c, i) => c === b.calls[i]);
}

/** The calls that follow each other in a reply: one calm line, the calls one press away, all of each one press more. */
export const Calls = memo(function Calls({ calls }: { calls: readonly Call[] }): ReactNode {
  const [open, setOpen] = useState(false);
  const tools = useTools();
  const id = useId();
  const running = calls.some((c) => c.state === "running");
  return (
    <div className={css.calls}>
      <button
        type="button"
        className={cx(chat.reveal, css.summary)}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {running ? <Spinner size={14} /> : <ChevronRight size={14} aria-hidden />}
        <span>{summary(calls, tools)}</span>
      </button>
      {open ? (
        <ul id={id} className={css.list} aria-label={t("calls.list")}>
          {calls.map((c) => (
            <CallLine key={c.callId} call={c} />
          ))}
        </ul>
      ) : null}
    </div>
  );
}, same);
