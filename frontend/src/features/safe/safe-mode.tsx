import { LifeBuoy } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { ApiError } from "@/api/client";
import { useRestore } from "@/api/queries/bootstrap";
import type { SafeMode as State } from "@/api/shapes";
import { byteSize } from "@/lib/dates";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/dialog";
import { Banner, Card } from "@/ui/surface";
import { When } from "@/ui/time";
import { t } from "@/words";
import settings from "../settings/settings.module.css";
import css from "../setup/setup.module.css";

/** Sentient runs without its database: why, and the copies there are to go back to. Nothing is written meanwhile. */
export default function SafeMode({ state, onRetry }: { state: State; onRetry: () => void }): ReactNode {
  const restore = useRestore();
  const [asking, setAsking] = useState<string | null>(null);
  const error = restore.error as ApiError | null;
  return (
    <main className={css.page}>
      <div className={css.column}>
        <div className={css.brand}>
          <LifeBuoy size={34} aria-hidden />
        </div>
        <div className={css.step}>
          <h1>{t("safe.title")}</h1>
          <p className={css.lead}>{state.sentence}</p>
          {state.snapshots.length > 0 ? (
            <section className={settings.section} aria-labelledby="copies">
              <h2 id="copies">{t("safe.copies")}</h2>
              <Card padded={false} className={settings.group ?? ""}>
                {state.snapshots.map((s) => (
                  <div key={s.name} className={settings.line}>
                    <span className={settings.lineText}>
                      <span className={settings.lineTitle}>
                        <When at={s.at} />
                      </span>
                      <span className={settings.note}>{byteSize(s.size)}</span>
                    </span>
                    <Button small busy={restore.isPending && asking === s.name} onClick={() => setAsking(s.name)}>
                      {t("safe.restore")}
                    </Button>
                  </div>
                ))}
              </Card>
            </section>
          ) : (
            <p>{t("safe.noCopies")}</p>
          )}
          {error ? (
            <Banner tone="bad" live>
              {error.detail || t("safe.failed")}
            </Banner>
          ) : null}
          <div className={css.actions}>
            <span />
            <Button look="primary" onClick={onRetry}>
              {t("safe.again")}
            </Button>
          </div>
        </div>
      </div>
      <Confirm
        open={asking !== null}
        title={t("safe.restoreTitle")}
        description={t("safe.restoreText")}
        action={t("safe.restore")}
        busy={restore.isPending}
        onClose={() => setAsking(null)}
        onConfirm={() => asking && restore.mutate(asking, { onSettled: () => setAsking(null) })}
      />
    </main>
  );
}
