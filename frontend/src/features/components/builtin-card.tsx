import { Download } from "lucide-react";
import type { ReactNode } from "react";
import { useBuiltin, useBuiltinDownload } from "@/api/queries/models";
import type { Builtin, BuiltinModel, BuiltinOffer } from "@/api/shapes";
import { byteSize } from "@/lib/dates";
import { Button } from "@/ui/button";
import { Badge, Banner, Progress, type Tone } from "@/ui/surface";
import { t } from "@/words";
import css from "../settings/settings.module.css";

const TONES = {
  missing: "plain",
  ready: "good",
  starting: "accent",
  running: "good",
  failed: "bad",
  downloading: "accent",
} as const satisfies Record<string, Tone>;

function stateOf(b: Builtin): keyof typeof TONES {
  return b.state in TONES ? (b.state as keyof typeof TONES) : "missing";
}

function Facts({ model }: { model: BuiltinModel | BuiltinOffer }): ReactNode {
  const size = byteSize(model.size_bytes);
  return (
    <span className={css.note}>
      {"memory_gb" in model && model.memory_gb ? t("models.sizeAndMemory", { size, memory: model.memory_gb }) : size}
      {", "}
      {model.license_url ? (
        <a href={model.license_url} target="_blank" rel="noopener noreferrer">
          {model.license}
        </a>
      ) : (
        model.license
      )}
    </span>
  );
}

/** The model that Sentient runs by itself: how it stands, how weak it is, and what could be had instead. */
export function BuiltinCard({ onReady }: { onReady?: () => void }): ReactNode {
  const q = useBuiltin();
  const download = useBuiltinDownload();
  const b = q.data;
  if (!b) return null;
  const p = download.progress;
  // That it stands is in the badge; that it is weak is said below.
  const well = b.state === "ready" || b.state === "running";
  const start = async (name: string) => {
    if (await download.start(name)) onReady?.();
  };
  return (
    <div className={css.stack}>
      {b.model ? (
        <div className={css.line}>
          <div className={css.lineText}>
            <span className={css.lineTitle}>
              {b.model.label}
              <Badge tone={TONES[stateOf(b)]}>{t(`models.builtinState.${stateOf(b)}`)}</Badge>
            </span>
            <Facts model={b.model} />
          </div>
        </div>
      ) : null}
      {b.message && !(b.model?.weak && well) ? (
        <Banner tone={b.state === "failed" ? "bad" : "plain"}>{b.message}</Banner>
      ) : null}
      {b.model?.weak ? <Banner tone="warn">{t("models.weak")}</Banner> : null}
      {b.offer ? (
        <div className={css.line}>
          <div className={css.lineText}>
            <span className={css.lineTitle}>
              {b.model ? t("models.better", { name: b.offer.label }) : b.offer.label}
            </span>
            <Facts model={b.offer} />
          </div>
          {download.running ? (
            <Button small onClick={download.cancel}>
              {t("action.stop")}
            </Button>
          ) : (
            <Button small icon={Download} onClick={() => void start(b.offer?.name ?? "")}>
              {t("models.download")}
            </Button>
          )}
        </div>
      ) : null}
      {download.running ? (
        <Progress
          label={p?.message || t("models.downloading")}
          value={p?.total ? (p.completed ?? 0) / p.total : null}
          {...(p?.total ? { note: `${byteSize(p.completed ?? 0)} / ${byteSize(p.total)}` } : {})}
        />
      ) : null}
      {download.error ? <Banner tone="bad">{download.error.detail || t("models.downloadFailed")}</Banner> : null}
    </div>
  );
}
