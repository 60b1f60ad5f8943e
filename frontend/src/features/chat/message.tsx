import { Ellipsis, GitFork, Pencil, RotateCcw, Send } from "lucide-react";
import { memo, type ReactNode } from "react";
import type { ChatItem, Cut, EventItem, ReplyItem, UserItem } from "@/api/queries/chat";
import { isOpen } from "@/api/turn";
import { useModelOptions } from "@/features/components/model-options";
import { cx } from "@/lib/cx";
import { CopyButton } from "@/lib/markdown/code-block";
import { Button, IconButton } from "@/ui/button";
import { Menu, MenuChoice, MenuItem, MenuSeparator } from "@/ui/menu";
import { Banner } from "@/ui/surface";
import { When } from "@/ui/time";
import { t } from "@/words";
import { Attachment } from "./attachment";
import { Branches, type Way } from "./branches";
import css from "./chat.module.css";
import { GistLine } from "./gist";
import { Parts } from "./parts";

export interface MessageHandlers {
  onEdit: (item: UserItem) => void;
  /** Answers a message anew. Without a reply to replace: what was sent last. */
  onAgain: (messageId: string | null, user: UserItem | null, model?: string) => void;
  /** Asks the model to go on. */
  onContinue: () => void;
  /** Carries on what the end of an engine cut off. */
  onCarryOn: () => void;
  /** Sends a message that was never sent. */
  onSendAgain: (user: UserItem) => void;
  onShow: (turnId: string, way: Way) => void;
  takeFocus: (turnId: string) => Way | null;
  /** Makes a chat of its own, down to a message; null where none can be made. */
  onFork: ((messageId: string) => void) | null;
}

/** What happened beside the messages, by the name of its row. */
const EVENTS: Record<string, "chat.trusted" | "chat.interrupted" | "chat.notSent" | "chat.resumed"> = {
  trusted: "chat.trusted",
  interrupted: "chat.interrupted",
  not_sent: "chat.notSent",
  resumed: "chat.resumed",
};

interface Place {
  last: boolean;
  /** A reply is being written: nothing of the chat can be changed. */
  busy: boolean;
  handlers: MessageHandlers;
}

function UserMessage({ item, busy, handlers }: Place & { item: UserItem }): ReactNode {
  const { onEdit, onShow, takeFocus } = handlers;
  const stored = item.state === "stored";
  return (
    <div className={cx(css.user, item.state === "queued" && css.queued)}>
      <h3 className="sr-only">{t("chat.you")}</h3>
      {item.attachments.length > 0 ? (
        <div className={css.chips}>
          {item.attachments.map((a) => (
            <Attachment key={a} name={a} />
          ))}
        </div>
      ) : null}
      {item.text ? <div className={css.bubble}>{item.text}</div> : null}
      <div className={css.foot}>
        {stored ? null : t(item.state === "sending" ? "chat.sending" : "chat.queued")}
        <span className={cx(css.actions, stored && css.quiet)}>
          {item.at ? <When at={item.at} /> : null}
          {item.text && stored ? <CopyButton text={item.text} label={t("chat.copyMessage")} /> : null}
          {item.id && stored && !item.interjection ? (
            <IconButton small label={t("chat.edit")} icon={Pencil} disabled={busy} onClick={() => onEdit(item)} />
          ) : null}
        </span>
        {item.branch ? <Branches branch={item.branch} busy={busy} onShow={onShow} takeFocus={takeFocus} /> : null}
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

function AgainButton({ onClick }: { onClick: () => void }): ReactNode {
  return (
    <Button small icon={RotateCcw} onClick={onClick}>
      {t("action.retry")}
    </Button>
  );
}

/** The next step after a reply that is not whole. Only the newest reply can be gone on with. */
function nextSteps(ended: Cut, again: () => void, handlers: MessageHandlers): ReactNode {
  return (
    <>
      {ended === "interrupted" ? (
        <Button small onClick={handlers.onCarryOn}>
          {t("chat.carryOn")}
        </Button>
      ) : (
        <Button small onClick={handlers.onContinue}>
          {t("chat.continue")}
        </Button>
      )}
      <Button small look="ghost" icon={RotateCcw} onClick={again}>
        {t("action.retry")}
      </Button>
    </>
  );
}

/** How a reply ended, when it did not end well, and the next step. */
function Ending({ item, last, handlers }: Place & { item: ReplyItem }): ReactNode {
  const { turn, ended } = item;
  const again = () => handlers.onAgain(item.id ?? item.user?.id ?? null, item.user);
  if (turn?.state === "failed") {
    return (
      <Banner tone="bad" actions={last ? <AgainButton onClick={again} /> : null}>
        {turn.error || t("chat.failed")}
      </Banner>
    );
  }
  if (!ended) return null;
  return <Banner actions={last ? nextSteps(ended, again, handlers) : null}>{t(`chat.${ended}`)}</Banner>;
}

/** The models a reply can be asked of; fetched when the menu opens. */
function OtherModels({ onPick }: { onPick: (model: string) => void }): ReactNode {
  const { options } = useModelOptions("");
  if (options.length === 0) return <MenuItem label={t("models.none")} disabled onSelect={() => undefined} />;
  return <MenuChoice label={t("chat.againWith")} value="" options={options} onChange={onPick} />;
}

function ReplyActions({ item, busy, handlers }: Place & { item: ReplyItem }): ReactNode {
  const { id, user } = item;
  const { onFork } = handlers;
  if (!id || !item.final) return null;
  return (
    <>
      <IconButton
        small
        label={t("chat.again")}
        icon={RotateCcw}
        disabled={busy}
        onClick={() => handlers.onAgain(id, user)}
      />
      <Menu align="start" trigger={<IconButton small label={t("chat.moreReply")} icon={Ellipsis} disabled={busy} />}>
        {onFork ? (
          <>
            <MenuItem label={t("chat.fork")} icon={GitFork} onSelect={() => onFork(id)} />
            <MenuSeparator />
          </>
        ) : null}
        <OtherModels onPick={(model) => handlers.onAgain(id, user, model)} />
      </Menu>
    </>
  );
}

function textOf(item: ReplyItem): string {
  return item.parts.flatMap((p) => (p.kind === "message" && p.text ? [p.text] : [])).join("\n\n");
}

/** Nothing shows that the model is at work: the last thing that is shown is done with. */
function isSilent(item: ReplyItem, showThinking: boolean): boolean {
  const last = item.parts.at(-1);
  if (!last) return true;
  if (last.kind === "call") return last.call.state !== "running";
  return last.kind === "message" && !last.text && !showThinking;
}

function Reply(props: Place & { item: ReplyItem; showThinking: boolean }): ReactNode {
  const { item, showThinking } = props;
  const { turn } = item;
  const running = turn !== null && isOpen(turn);
  const text = textOf(item);
  return (
    <div className={css.reply} data-running={running || undefined}>
      <h3 className="sr-only">{t("chat.reply")}</h3>
      {turn?.notice ? <Banner>{turn.notice.message}</Banner> : null}
      <Parts parts={item.parts} live={running} showThinking={showThinking} />
      {running && isSilent(item, showThinking) ? <Waiting /> : null}
      <Ending {...props} />
      {running ? null : <GistLine gist={item.gist} />}
      {running || text || item.id ? (
        // There while the reply is written too, so that nothing moves when it ends.
        <div className={css.foot}>
          <span className={cx(css.actions, css.quiet)}>
            {running || !text ? null : <CopyButton text={text} label={t("chat.copyReply")} />}
            {running ? null : <ReplyActions {...props} />}
            {item.at ? <When at={item.at} /> : null}
          </span>
        </div>
      ) : null}
    </div>
  );
}

function EventLine({ item, last, busy, handlers }: Place & { item: EventItem }): ReactNode {
  const { user, branch } = item;
  const cutOff = item.name === "interrupted" && last && !busy;
  return (
    <div className={css.event}>
      <p>
        {t(EVENTS[item.name] ?? "chat.event")} <When at={item.at} />
      </p>
      {item.name === "not_sent" && user ? (
        <Button small icon={Send} disabled={busy} onClick={() => handlers.onSendAgain(user)}>
          {t("chat.sendAgain")}
        </Button>
      ) : null}
      {cutOff ? nextSteps("interrupted", () => handlers.onAgain(item.id, user), handlers) : null}
      {branch ? <Branches branch={branch} busy={busy} onShow={handlers.onShow} takeFocus={handlers.takeFocus} /> : null}
    </div>
  );
}

export const Message = memo(function Message(props: Place & { item: ChatItem; showThinking: boolean }): ReactNode {
  const { item, showThinking, ...place } = props;
  const inside = () => {
    switch (item.kind) {
      case "user":
        return <UserMessage item={item} {...place} />;
      case "reply":
        return <Reply item={item} showThinking={showThinking} {...place} />;
      case "other":
        return (
          <div className={css.other}>
            <h3 className={css.who}>{item.name}</h3>
            <div className={css.bubble}>{item.text}</div>
          </div>
        );
      case "event":
        return <EventLine item={item} {...place} />;
    }
  };
  return <article className={cx(css.item, props.last && css.last)}>{inside()}</article>;
});
