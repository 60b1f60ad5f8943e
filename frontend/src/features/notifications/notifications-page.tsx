import {
  AlarmClock,
  Bell,
  Check,
  CheckCheck,
  CircleAlert,
  DatabaseBackup,
  HandHelping,
  Lightbulb,
  ListChecks,
  type LucideIcon,
  Newspaper,
  Sparkles,
  Trash2,
  Wallet,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import type { ApiError } from "@/api/client";
import {
  useDeleteAllNotifications,
  useDeleteNotification,
  useNotifications,
  useReadAllNotifications,
  useReadNotification,
} from "@/api/queries/notifications";
import type { Notification } from "@/api/shapes";
import { cx } from "@/lib/cx";
import { Markdown } from "@/lib/markdown/markdown";
import { Button, IconButton } from "@/ui/button";
import { Confirm } from "@/ui/dialog";
import { Card, EmptyState, ErrorState, Loading, Skeleton } from "@/ui/surface";
import { When } from "@/ui/time";
import { toast } from "@/ui/toast";
import { t } from "@/words";
import css from "./notifications.module.css";

const ICONS: Record<string, LucideIcon> = {
  task: ListChecks,
  approval: HandHelping,
  proactive: Lightbulb,
  skill: Sparkles,
  error: CircleAlert,
  brief: Newspaper,
  reminder: AlarmClock,
  budget: Wallet,
  backup: DatabaseBackup,
};

/** Says that a change was not made, and why. */
function failed(title: string) {
  return { onError: (e: unknown) => toast(title, { text: (e as ApiError).detail, tone: "error" }) };
}

function Item({ it }: { it: Notification }): ReactNode {
  const read = useReadNotification();
  const remove = useDeleteNotification();
  const Icon = ICONS[it.kind] ?? Bell;
  return (
    <li>
      <Card padded={false} className={cx(css.item, !it.read && css.unread, it.kind === "error" && css.error)}>
        <div className={css.icon}>
          <Icon size={18} aria-hidden />
        </div>
        <div>
          <h2 className={css.title}>
            {it.title}
            {it.read ? null : <span className="sr-only"> ({t("notifications.unread")})</span>}
          </h2>
          <p className={css.meta}>
            <When at={it.created_at} />
          </p>
          {it.message ? <Markdown text={it.message} className={css.text ?? ""} /> : null}
        </div>
        <div className={css.actions}>
          {it.read ? null : (
            <IconButton
              small
              label={t("notifications.markRead", { title: it.title })}
              icon={Check}
              onClick={() => read.mutate(it.id, failed(t("notifications.readFailed")))}
            />
          )}
          <IconButton
            small
            label={t("notifications.delete", { title: it.title })}
            icon={Trash2}
            onClick={() => remove.mutate(it.id, failed(t("notifications.deleteFailed")))}
          />
        </div>
      </Card>
    </li>
  );
}

function body(q: ReturnType<typeof useNotifications>): ReactNode {
  if (q.isPending) {
    return (
      <Loading>
        <div className={css.list}>
          <Skeleton height="5rem" />
          <Skeleton height="5rem" />
        </div>
      </Loading>
    );
  }
  if (q.isError && !q.data) {
    return (
      <ErrorState
        title={t("notifications.loadFailed")}
        actions={
          <Button look="primary" onClick={() => void q.refetch()}>
            {t("action.retry")}
          </Button>
        }
      >
        {(q.error as unknown as ApiError).detail || t("state.errorText")}
      </ErrorState>
    );
  }
  const list = q.data?.notifications ?? [];
  if (list.length === 0) {
    return (
      <div className={css.empty}>
        <EmptyState icon={Bell} title={t("notifications.emptyTitle")}>
          {t("notifications.emptyText")}
        </EmptyState>
      </div>
    );
  }
  return (
    <ul className={css.list}>
      {list.map((n) => (
        <Item key={n.id} it={n} />
      ))}
    </ul>
  );
}

export default function NotificationsPage(): ReactNode {
  const q = useNotifications();
  const readAll = useReadAllNotifications();
  const removeAll = useDeleteAllNotifications();
  const [asking, setAsking] = useState(false);
  const any = (q.data?.notifications.length ?? 0) > 0;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={css.page} tabIndex={0} aria-label={t("rooms.notifications")} aria-busy={q.isFetching}>
      <div className={css.column}>
        {any ? (
          <div className={css.tools}>
            <Button
              small
              look="ghost"
              icon={CheckCheck}
              disabled={!q.data?.unread}
              busy={readAll.isPending}
              onClick={() => readAll.mutate(undefined, failed(t("notifications.readAllFailed")))}
            >
              {t("notifications.readAll")}
            </Button>
            <Button small look="ghost" icon={Trash2} onClick={() => setAsking(true)}>
              {t("notifications.deleteAll")}
            </Button>
          </div>
        ) : null}
        {body(q)}
      </div>
      <Confirm
        open={asking}
        title={t("notifications.deleteAllTitle")}
        description={t("notifications.deleteAllText")}
        action={t("notifications.deleteAll")}
        busy={removeAll.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() =>
          removeAll.mutate(undefined, {
            ...failed(t("notifications.deleteAllFailed")),
            onSettled: () => setAsking(false),
          })
        }
      />
    </section>
  );
}
