import { Paperclip, Pencil, RotateCcw } from "lucide-react";
import { memo, type ReactNode } from "react";
import type { ChatItem, Cut } from "@/api/queries/chat";
import { fileURL } from "@/api/queries/files";
import type { Turn } from "@/api/queries/turns";
import { cx } from "@/lib/cx";
import { CopyButton } from "@/lib/markdown/code-block";
import { Button, IconButton } from "@/ui/button";
import { Banner } from "@/ui/surface";
import { When } from "@/ui/time";
import { t } from "@/words";
import css from "./chat.module.css";
import { Segments } from "./segments";

export interface MessageHandlers {
  onEdit: (text: string) => void;
  onRetry: () => void;
  onContinue: () => void;
}

type Of<K extends ChatItem["kind"]> = Extract<ChatItem, { kind: K }>;

/** What happened beside the messages, by the name of its row. */
const EVENTS: Record<string, "chat.trusted" | "chat.interrupted" | "chat.notSent"> = {
  trusted: "chat.trusted",
  interrupted: "chat.interrupted",
  not_sent: "chat.notSent",
};

const PICTURE = /\.(png|jpe?g|gif|webp|avif)$/i;

function Attachment({ name }: { name: string }): ReactNode {
  const short = name.split("/").at(-1) ?? name;
  return (
    <a
      href={fileURL(name)}
      target="_blank"
      rel="noopener noreferrer"
      className={PICTURE.test(name) ? undefined : cx(css.chip, css.plainChip)}
    >
      {PICTURE.test(name) ? (
        <img className={css.thumb} src={fileURL(name)} alt={short} loading="lazy" />
      ) : (
        <>
          <Paperclip size={14} aria-hidden />
          <span>{short}</span>
        </>
      )}
    </a>
  );
}

function UserMessage({ item, onEdit }: { item: Of<"user">; onEdit: (text: string) => void }): ReactNode {
  return (
    <div className={css.user}>
      <h3 className="sr-only">{t("chat.you")}</h3>
      {item.attachments.length > 0 ? (
        <div className={css.chips}>
          {item.attachments.map((a) => (
            <Attachment key={a} name={a} />
          ))}
        </div>
      ) : null}
      {item.text ? <div className={css.bubble}>{item.text}</div> : null}
      <div className={cx(css.foot, !item.sending && css.quiet)}>
        {item.sending ? t("chat.sending") : null}
        {item.at ? <When at={item.at} /> : null}
        {item.text && !item.sending ? (
          <>
            <CopyButton text={item.text} label={t("chat.copyMessage")} />
            <IconButton small label={t("chat.edit")} icon={Pencil} onClick={() => onEdit(item.text)} />
          </>
        ) : null}
      </div>
    </div>
  );
}

function Waiting(): ReactNode {
  return (
    <div className={css.pulse} aria-hidden>
      <i />
      <i />
      <i />
    </div>
  );
}

/** How a reply ended, when it did not end well, and the next step. */
function Ending(props: { turn: Turn | null; ended: Cut | null; last: boolean; handlers: MessageHandlers }): ReactNode {
  const { turn, ended, last, handlers } = props;
  if (turn?.state === "failed") {
    return (
      <Banner
        tone="bad"
        actions={
          <Button small icon={RotateCcw} onClick={handlers.onRetry}>
            {t("action.retry")}
          </Button>
        }
      >
        {turn.error || t("chat.failed")}
      </Banner>
    );
  }
  if (!ended) return null;
  // Only the newest reply can be gone on with.
  if (!last) return <Banner>{t(`chat.${ended}`)}</Banner>;
  return (
    <Banner
      actions={
        <>
          <Button small onClick={handlers.onContinue}>
            {t("chat.continue")}
          </Button>
          <Button small look="ghost" icon={RotateCcw} onClick={handlers.onRetry}>
            {t("action.retry")}
          </Button>
        </>
      }
    >
      {t(`chat.${ended}`)}
    </Banner>
  );
}

function Reply(props: {
  item: Of<"reply">;
  last: boolean;
  showThinking: boolean;
  handlers: MessageHandlers;
}): ReactNode {
  const { item, showThinking, handlers } = props;
  const running = item.turn?.state === "running";
  const text = item.segments.flatMap((s) => (s.kind === "text" ? [s.text] : [])).join("\n\n");
  const last = item.segments.at(-1);
  const waiting =
    running &&
    (!last || (last.kind === "tool" && last.state !== "running") || (last.kind === "thinking" && !showThinking));
  return (
    <div className={css.reply} data-running={running || undefined}>
      <h3 className="sr-only">{t("chat.reply")}</h3>
      {item.turn?.notice ? <Banner>{item.turn.notice}</Banner> : null}
      <Segments segments={item.segments} live={running} showThinking={showThinking} />
      {waiting ? <Waiting /> : null}
      <Ending turn={item.turn} ended={item.ended} last={props.last} handlers={handlers} />
      {running || text ? (
        // There while the reply is written too, so that nothing moves when it ends.
        <div className={cx(css.foot, css.quiet)}>
          {running ? null : <CopyButton text={text} label={t("chat.copyReply")} />}
          {item.at ? <When at={item.at} /> : null}
        </div>
      ) : null}
    </div>
  );
}

export const Message = memo(function Message(props: {
  item: ChatItem;
  last: boolean;
  showThinking: boolean;
  handlers: MessageHandlers;
}): ReactNode {
  const { item, handlers } = props;
  const inside = () => {
    switch (item.kind) {
      case "user":
        return <UserMessage item={item} onEdit={handlers.onEdit} />;
      case "reply":
        return <Reply item={item} last={props.last} showThinking={props.showThinking} handlers={handlers} />;
      case "other":
        return (
          <div className={css.other}>
            <h3 className={css.who}>{item.name}</h3>
            <div className={css.bubble}>{item.text}</div>
          </div>
        );
      case "event":
        return (
          <p className={css.event}>
            {t(EVENTS[item.name] ?? "chat.event")} <When at={item.at} />
          </p>
        );
    }
  };
  return <article className={cx(css.item, props.last && css.last)}>{inside()}</article>;
});
