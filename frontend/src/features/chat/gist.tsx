import { Blocks, Brain, ChevronDown, CircleCheck, FileText, Globe, type LucideIcon, Mail } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { fileURL } from "@/api/queries/files";
import type { Gist } from "@/api/queries/turns";
import type { Check, MemorySource, Source } from "@/api/shapes";
import { safeLink } from "@/lib/markdown/links";
import { Banner } from "@/ui/surface";
import { t } from "@/words";
import css from "./gist.module.css";

const ICONS: Record<Source["kind"], LucideIcon> = { web: Globe, email: Mail, file: FileText, app: Blocks };

/** Where a source is opened, and what says so beside its title. */
function placeOf(s: Source): { href: string | null; note: string } {
  if (s.kind === "file" && s.file) return { href: fileURL(s.file), note: "" };
  const link = s.url ? safeLink(s.url) : null;
  if (s.kind === "web") return { href: link?.href ?? null, note: link?.host ?? "" };
  if (s.kind === "email") return { href: link?.href ?? null, note: s.from ?? "" };
  if (s.kind === "file") return { href: null, note: s.folder ?? "" };
  return { href: null, note: "" };
}

function SourceChip({ source }: { source: Source }): ReactNode {
  const Icon = ICONS[source.kind] ?? Blocks;
  const { href, note } = placeOf(source);
  const count = source.tools?.length ?? 0;
  const title =
    source.kind === "app" && count > 1
      ? t("gist.toolsOf", { title: source.title, count })
      : source.title || note || t("gist.file");
  const inside = (
    <>
      <Icon size={14} aria-hidden />
      <span className={css.title}>{title}</span>
      {note && note !== title ? <span className={css.host}>{note}</span> : null}
    </>
  );
  if (!href) {
    return (
      <span className={css.chip} title={source.snippet}>
        {inside}
      </span>
    );
  }
  return (
    <a className={css.chip} href={href} title={source.snippet} target="_blank" rel="noopener noreferrer nofollow">
      {inside}
    </a>
  );
}

function Memories({ memories }: { memories: readonly MemorySource[] }): ReactNode {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <button
        type="button"
        className={css.chip}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Brain size={14} aria-hidden />
        <span>{t("gist.memories", { count: memories.length })}</span>
        <ChevronDown size={14} aria-hidden className={css.arrow} />
      </button>
      {open ? (
        <ul id={id} className={css.memories} aria-label={t("gist.memoriesList")}>
          {memories.map((m, i) => (
            <li key={i}>{m.text}</li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

function Checks({ checks }: { checks: readonly Check[] }): ReactNode {
  const bad = checks.filter((c) => !c.ok && !c.settled);
  if (bad.length > 0) {
    return (
      <Banner tone="warn">
        <strong>{t("gist.attention")}</strong>
        {bad.map((c, i) => (
          <p key={i}>{c.message || c.detail}</p>
        ))}
      </Banner>
    );
  }
  const done = [...new Set(checks.filter((c) => c.ok).map((c) => c.action))];
  if (done.length === 0) return null;
  return (
    <p className={css.checked}>
      <CircleCheck size={14} aria-hidden />
      {t("gist.checked", { list: done.join(", ") })}
    </p>
  );
}

/** What a reply used, had in mind and really did, under it. */
export function GistLine({ gist }: { gist: Gist }): ReactNode {
  const { sources, memories, checks } = gist;
  if (sources.length + memories.length + checks.length === 0) return null;
  return (
    <div className={css.gist}>
      <Checks checks={checks} />
      {sources.length > 0 ? (
        <ul className={css.chips} aria-label={t("gist.sources")}>
          {sources.map((s, i) => (
            <li key={i}>
              <SourceChip source={s} />
            </li>
          ))}
        </ul>
      ) : null}
      {memories.length > 0 ? (
        <div className={css.chips}>
          <Memories memories={memories} />
        </div>
      ) : null}
    </div>
  );
}
