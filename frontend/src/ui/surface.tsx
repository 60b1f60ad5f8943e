import { Progress as BaseProgress } from "@base-ui/react/progress";
import { CircleAlert, Info, Loader2, type LucideIcon, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "@/lib/cx";
import { keysOf } from "@/lib/keys";
import { t } from "@/words";
import css from "./surface.module.css";

export type Tone = "plain" | "good" | "warn" | "bad" | "accent";

function toneClass(tone: Tone): string | undefined {
  return tone === "plain" ? undefined : css[tone];
}

export function Card(props: { children: ReactNode; padded?: boolean; className?: string }): ReactNode {
  return <div className={cx(css.card, props.padded !== false && css.padded, props.className)}>{props.children}</div>;
}

const BANNER_ICONS: Partial<Record<Tone, LucideIcon>> = { warn: TriangleAlert, bad: CircleAlert };

/** A line that says how things stand. `live` tells it to screen readers when it appears. */
export function Banner(props: {
  tone?: Tone;
  icon?: LucideIcon;
  children: ReactNode;
  actions?: ReactNode;
  live?: boolean;
}): ReactNode {
  const tone = props.tone ?? "plain";
  const Icon = props.icon ?? BANNER_ICONS[tone] ?? Info;
  return (
    <div className={cx(css.banner, toneClass(tone))} role={props.live ? "status" : undefined}>
      <Icon size={16} aria-hidden />
      <div className={css.bannerText}>{props.children}</div>
      {props.actions ? <div className={css.bannerActions}>{props.actions}</div> : null}
    </div>
  );
}

export function Skeleton(props: { width?: string; height?: string }): ReactNode {
  return <span className={css.skeleton} style={{ width: props.width ?? "100%", height: props.height }} />;
}

/** Says that something loads, and draws its outline once that takes longer than a blink (150 ms). */
export function Loading({ children }: { children: ReactNode }): ReactNode {
  return (
    <div className={css.delayed} aria-busy="true">
      <span className="sr-only">{t("state.loading")}</span>
      <div aria-hidden>{children}</div>
    </div>
  );
}

export function EmptyState(props: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}): ReactNode {
  const Icon = props.icon;
  return (
    <div className={css.state}>
      <div className={css.stateIcon}>
        <Icon size={22} aria-hidden />
      </div>
      <h2 className={css.stateTitle}>{props.title}</h2>
      {props.children ? <p className={css.stateText}>{props.children}</p> : null}
      {props.actions ? <div className={css.stateActions}>{props.actions}</div> : null}
    </div>
  );
}

/** What went wrong, in a sentence, and a way on. */
export function ErrorState(props: { title: string; children?: ReactNode; actions?: ReactNode }): ReactNode {
  return (
    <div className={css.state} role="alert">
      <div className={cx(css.stateIcon, css.bad)}>
        <CircleAlert size={22} aria-hidden />
      </div>
      <h2 className={css.stateTitle}>{props.title}</h2>
      {props.children ? <p className={css.stateText}>{props.children}</p> : null}
      {props.actions ? <div className={css.stateActions}>{props.actions}</div> : null}
    </div>
  );
}

/** `value` is a share from 0 to 1, or null while it is not known. */
export function Progress(props: { label: string; value: number | null; note?: string }): ReactNode {
  const value = props.value === null ? null : Math.round(Math.min(1, Math.max(0, props.value)) * 100);
  return (
    <BaseProgress.Root value={value} className={css.progress}>
      <div className={css.progressRow}>
        <BaseProgress.Label>{props.label}</BaseProgress.Label>
        {props.note ? <span className="tabular">{props.note}</span> : null}
      </div>
      <BaseProgress.Track className={css.track}>
        <BaseProgress.Indicator className={css.indicator} />
      </BaseProgress.Track>
    </BaseProgress.Root>
  );
}

/** A shortcut ("Mod+K") as keys, spelled as this system's keyboards do. */
export function Keys({ keys }: { keys: string }): ReactNode {
  return (
    <span className={css.keys}>
      {keysOf(keys).map((k) => (
        <kbd key={k} className={css.kbd}>
          {k}
        </kbd>
      ))}
    </span>
  );
}

export function Badge(props: { tone?: Tone; children: ReactNode }): ReactNode {
  return <span className={cx(css.badge, toneClass(props.tone ?? "plain"))}>{props.children}</span>;
}

export function Spinner({ size = 16 }: { size?: number }): ReactNode {
  return <Loader2 size={size} className={css.spinner} aria-hidden />;
}
