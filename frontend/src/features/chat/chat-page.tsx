import { useNavigate, useParams } from "@tanstack/react-router";
import { Pencil, Square } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useBootstrap } from "@/api/queries/bootstrap";
import { type Chat, useChat, useNewChat } from "@/api/queries/chat";
import { useConfig } from "@/api/queries/config";
import { onBorn, onPhase, turns } from "@/api/queries/turns";
import { type Action, useProvideActions } from "@/app/actions";
import { announce } from "@/lib/announce";
import { readDraft, writeDraft } from "@/lib/drafts";
import { Button } from "@/ui/button";
import { Banner, ErrorState, Loading, Skeleton } from "@/ui/surface";
import { t } from "@/words";
import css from "./chat.module.css";
import { Composer, type ComposerHandle } from "./composer";
import type { MessageHandlers } from "./message";
import { Messages } from "./messages";

function Sketch(): ReactNode {
  return (
    <Loading>
      <div className={css.sketch}>
        <Skeleton width="40%" height="2.4rem" />
        <Skeleton />
        <Skeleton width="92%" />
        <Skeleton width="64%" />
      </div>
    </Loading>
  );
}

const STARTERS = ["chat.starter1", "chat.starter2", "chat.starter3"] as const;

function Welcome({ onPick }: { onPick: (text: string) => void }): ReactNode {
  const name = useBootstrap().data?.assistant.user_name;
  return (
    <div className={css.welcome}>
      <h2>{name ? t("chat.hello", { name }) : t("chat.helloNobody")}</h2>
      <p>{t("chat.welcome")}</p>
      <div className={css.starters}>
        {STARTERS.map((key) => (
          <Button key={key} small onClick={() => onPick(t(key))}>
            {t(key)}
          </Button>
        ))}
      </div>
    </div>
  );
}

/** Start, end and error of a reply, once each; its pieces are not told. */
function useAnnouncements(key: string): void {
  useEffect(() => {
    // A new chat gets its id in the same moment in which its first reply starts, before the page has followed it there.
    let current = key;
    const offBorn = onBorn((from, id) => {
      if (from === current) current = id;
    });
    const offPhase = onPhase((id, phase, turn) => {
      if (id !== current) return;
      if (phase === "failed") announce(t("chat.saidFailed", { reason: turn.error || t("chat.failed") }), "assertive");
      else
        announce(t(phase === "start" ? "chat.saidStart" : phase === "stopped" ? "chat.saidStopped" : "chat.saidEnd"));
    });
    return () => {
      offBorn();
      offPhase();
    };
  }, [key]);
}

function useShowThinking(): boolean {
  const chat = useConfig().data?.chat;
  if (typeof chat !== "object" || chat === null || !("show_thinking" in chat)) return true;
  return chat.show_thinking !== false;
}

function ChatView({ chatKey, sessionId, chat }: { chatKey: string; sessionId: string | null; chat: Chat }): ReactNode {
  const composer = useRef<ComposerHandle>(null);
  const navigate = useNavigate();
  const showThinking = useShowThinking();
  const [sent, setSent] = useState(0);
  useAnnouncements(chatKey);

  const latest = useRef(chat);
  latest.current = chat;

  const send = (text: string, attachments: string[] = []) => {
    const { key } = turns.send({ sessionId, text, attachments, afterId: latest.current.lastId });
    setSent((n) => n + 1);
    if (!sessionId) void navigate({ to: "/chat/new/$key", params: { key }, replace: true });
  };
  const sendNow = useRef(send);
  sendNow.current = send;

  const handlers = useMemo<MessageHandlers>(
    () => ({
      onEdit: (text) => composer.current?.put(text),
      onRetry: () => {
        if (latest.current.lastText) sendNow.current(latest.current.lastText);
      },
      onContinue: () => sendNow.current(t("chat.continueText")),
    }),
    [],
  );

  const canStop = chat.running?.state === "running" && sessionId !== null;
  const stop = useMemo(() => (canStop && sessionId ? () => turns.cancel(sessionId) : null), [canStop, sessionId]);
  const { lastText } = chat;

  const actions = useMemo<Action[]>(
    () => [
      {
        id: "chat.stop",
        title: t("chat.stopReply"),
        icon: Square,
        group: "chat",
        shortcut: "Mod+.",
        enabled: stop !== null,
        run: () => stop?.(),
      },
      {
        id: "chat.edit",
        title: t("chat.editLast"),
        icon: Pencil,
        group: "chat",
        enabled: lastText !== null,
        run: () => lastText && composer.current?.put(lastText),
      },
    ],
    [stop, lastText],
  );
  useProvideActions(actions);

  useEffect(() => composer.current?.focus(), []);

  if (chat.error) {
    const gone = chat.error.status === 404;
    return (
      <div className={css.chat}>
        <ErrorState
          title={gone ? t("chat.goneTitle") : t("chat.errorTitle")}
          actions={
            gone ? (
              <Button look="primary" onClick={() => void navigate({ to: "/chat" })}>
                {t("chat.new")}
              </Button>
            ) : (
              <Button look="primary" onClick={chat.reload}>
                {t("action.retry")}
              </Button>
            )
          }
        >
          {gone ? t("chat.goneText") : chat.error.detail || t("state.errorText")}
        </ErrorState>
      </div>
    );
  }

  const empty = chat.items.length === 0;
  const warning = chat.view.usage?.warning;
  return (
    <div className={css.chat}>
      {chat.loading ? (
        <div className={css.view}>
          <Sketch />
        </div>
      ) : empty ? (
        <Welcome onPick={(text) => composer.current?.put(text)} />
      ) : (
        <Messages
          items={chat.items}
          running={chat.running !== null}
          showThinking={showThinking}
          handlers={handlers}
          sent={sent}
        />
      )}
      <div className={css.dock}>
        <div className={css.dockInner}>
          {chat.unanswered ? (
            <Banner
              actions={
                <Button small onClick={handlers.onRetry}>
                  {t("action.retry")}
                </Button>
              }
            >
              {t("chat.unanswered")}
            </Banner>
          ) : null}
          {warning ? <Banner tone="warn">{warning}</Banner> : null}
          <Composer
            ref={composer}
            chatKey={chatKey}
            running={chat.running !== null}
            usage={chat.view.usage}
            lastText={chat.lastText}
            onSend={send}
            onStop={stop}
          />
        </div>
      </div>
    </div>
  );
}

function Existing({ id }: { id: string }): ReactNode {
  return <ChatView chatKey={id} sessionId={id} chat={useChat(id)} />;
}

export function ChatPage(): ReactNode {
  const { id } = useParams({ strict: false });
  return id ? <Existing key={id} id={id} /> : null;
}

export function NewChatPage(): ReactNode {
  const { key = "new" } = useParams({ strict: false });
  const chat = useNewChat(key);
  const navigate = useNavigate();
  useEffect(
    () =>
      onBorn((from, id) => {
        if (from !== key) return;
        // What was being typed meanwhile goes along.
        writeDraft(id, readDraft(key));
        writeDraft(key, "");
        void navigate({ to: "/chat/$id", params: { id }, replace: true });
      }),
    [key, navigate],
  );
  return <ChatView chatKey={key} sessionId={null} chat={chat} />;
}
