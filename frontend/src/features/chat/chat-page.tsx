import { useNavigate, useParams } from "@tanstack/react-router";
import { Pencil, Square, VenetianMask } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { ApiError } from "@/api/client";
import { useBootstrap } from "@/api/queries/bootstrap";
import { useFork, useRegenerate, useResume, useShowBranch } from "@/api/queries/branches";
import { type Chat, type UserItem, useChat, useNewChat } from "@/api/queries/chat";
import { useConfig } from "@/api/queries/config";
import { markIncognito, setOpenIncognito, useMarkedIncognito, useOpenIncognito } from "@/api/queries/incognito";
import { useSession } from "@/api/queries/sessions";
import { onBorn, onPhase, turns } from "@/api/queries/turns";
import { type Action, useProvideActions } from "@/app/actions";
import { announce } from "@/lib/announce";
import { cx } from "@/lib/cx";
import { readDraft, writeDraft } from "@/lib/drafts";
import { Button } from "@/ui/button";
import { Banner, ErrorState, Loading, Skeleton } from "@/ui/surface";
import { toast } from "@/ui/toast";
import { t } from "@/words";
import type { Way } from "./branches";
import css from "./chat.module.css";
import { Composer, type ComposerHandle, type Editing } from "./composer";
import { Helpers } from "./helpers";
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

function Welcome({ incognito, onPick }: { incognito: boolean; onPick: (text: string) => void }): ReactNode {
  const name = useBootstrap().data?.assistant.user_name;
  const navigate = useNavigate();
  if (incognito) {
    return (
      <div className={css.welcome}>
        <div className={css.mask}>
          <VenetianMask size={26} aria-hidden />
        </div>
        <h2>{t("incognito.title")}</h2>
        <p>{t("incognito.note")}</p>
        <Button small look="ghost" onClick={() => void navigate({ to: "/chat" })}>
          {t("incognito.ordinary")}
        </Button>
      </div>
    );
  }
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
      <Button small look="ghost" icon={VenetianMask} onClick={() => void navigate({ to: "/chat/incognito" })}>
        {t("incognito.start")}
      </Button>
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

interface ViewProps {
  chatKey: string;
  sessionId: string | null;
  chat: Chat;
  incognito: boolean;
}

function failed(title: string) {
  return { onError: (e: unknown) => toast(title, { text: (e as ApiError).detail, tone: "error" }) };
}

/** What can be done with the messages of a chat. The handlers stay the same, so that messages are not drawn anew. */
function useHandlers(props: ViewProps, send: Send, edit: (item: UserItem) => void): MessageHandlers {
  const { sessionId, incognito } = props;
  const regenerate = useRegenerate();
  const resume = useResume();
  const show = useShowBranch();
  const fork = useFork();
  const navigate = useNavigate();
  const focus = useRef<{ turnId: string; way: Way } | null>(null);
  const now = useRef({ send, edit, regenerate, resume, show, fork });
  now.current = { send, edit, regenerate, resume, show, fork };
  return useMemo<MessageHandlers>(() => {
    const id = sessionId ?? "";
    return {
      onEdit: (item) => now.current.edit(item),
      onAgain: (messageId, user, model) => {
        if (id && messageId)
          now.current.regenerate.mutate({ id, messageId, user, model }, failed(t("chat.againFailed")));
        else if (user) now.current.send(user.text, user.attachments);
      },
      onContinue: () => now.current.send(t("chat.continueText")),
      onCarryOn: () => now.current.resume.mutate(id, failed(t("chat.carryOnFailed"))),
      onSendAgain: (user) => now.current.send(user.text, user.attachments),
      onShow: (turnId, way) => {
        focus.current = { turnId, way };
        now.current.show.mutate({ id, turn_id: turnId }, failed(t("chat.versionFailed")));
      },
      takeFocus: (turnId) => {
        const f = focus.current;
        if (f?.turnId !== turnId) return null;
        focus.current = null;
        return f.way;
      },
      // To branch off would be to leave, and what is left here is deleted.
      onFork: incognito
        ? null
        : (messageId) =>
            now.current.fork.mutate(
              { id, message_id: messageId },
              {
                ...failed(t("chat.forkFailed")),
                onSuccess: (made) => void navigate({ to: "/chat/$id", params: { id: made } }),
              },
            ),
    };
  }, [sessionId, incognito, navigate]);
}

type Send = (text: string, attachments?: readonly string[], replaces?: string | null) => void;

function Failed({ chat }: { chat: Chat }): ReactNode {
  const navigate = useNavigate();
  const gone = chat.error?.status === 404;
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
        {gone ? t("chat.goneText") : chat.error?.detail || t("state.errorText")}
      </ErrorState>
    </div>
  );
}

/** What the palette and the shortcuts can do here; null: not now. */
function useChatActions(stop: (() => void) | null, editLast: (() => void) | null): void {
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
        enabled: editLast !== null,
        run: () => editLast?.(),
      },
    ],
    [stop, editLast],
  );
  useProvideActions(actions);
}

function ChatView(props: ViewProps): ReactNode {
  const { chatKey, sessionId, chat, incognito } = props;
  const composer = useRef<ComposerHandle>(null);
  const navigate = useNavigate();
  const showThinking = useShowThinking();
  const [sent, setSent] = useState(0);
  const [editing, setEditing] = useState<Editing | null>(null);
  useAnnouncements(chatKey);

  const running = chat.running !== null;
  const { lastUser } = chat;

  const send: Send = (text, attachments = [], replaces = null) => {
    // A chat that is being made is known by its key already.
    const there = sessionId ?? (chatKey.startsWith("new:") ? chatKey : null);
    const { key } = turns.send({ chat: there, text, attachments, afterId: chat.lastId, replaces, incognito });
    setSent((n) => n + 1);
    if (replaces) setEditing(null);
    if (there) return;
    if (incognito) markIncognito(key);
    void navigate({ to: "/chat/new/$key", params: { key }, replace: true });
  };
  const edit = (item: UserItem) => {
    if (item.id) setEditing({ id: item.id, text: item.text, attachments: item.attachments });
  };
  const handlers = useHandlers(props, send, edit);

  const canStop = chat.running?.state === "running" && sessionId !== null;
  const stop = useMemo(() => (canStop && sessionId ? () => turns.cancel(sessionId) : null), [canStop, sessionId]);
  const editLast = useMemo(
    () => (lastUser && !running ? () => handlers.onEdit(lastUser) : null),
    [lastUser, running, handlers],
  );

  useChatActions(stop, editLast);

  useEffect(() => composer.current?.focus(), []);

  if (chat.error) return <Failed chat={chat} />;

  const empty = chat.items.length === 0;
  const warning = chat.view.usage?.warning;
  return (
    <div className={cx(css.chat, incognito && css.incognito)}>
      {incognito && !empty ? (
        <p className={css.incognitoNote}>
          <VenetianMask size={15} aria-hidden />
          {t("incognito.note")}
        </p>
      ) : null}
      {chat.loading ? (
        <div className={css.view}>
          <Sketch />
        </div>
      ) : empty ? (
        <Welcome incognito={incognito} onPick={(text) => composer.current?.put(text)} />
      ) : (
        <Messages items={chat.items} running={running} showThinking={showThinking} handlers={handlers} sent={sent} />
      )}
      <div className={css.dock}>
        <div className={css.dockInner}>
          {chat.unanswered ? (
            <Banner
              actions={
                <Button small onClick={() => handlers.onAgain(lastUser?.id ?? null, lastUser)}>
                  {t("action.retry")}
                </Button>
              }
            >
              {t("chat.unanswered")}
            </Banner>
          ) : null}
          {warning ? <Banner tone="warn">{warning}</Banner> : null}
          <Helpers sessionId={sessionId} />
          <Composer
            ref={composer}
            chatKey={chatKey}
            running={running}
            usage={chat.view.usage}
            editing={editing}
            onEditLast={editLast}
            onEditEnd={() => setEditing(null)}
            onSend={(text, attachments) => send(text, attachments, editing?.id)}
            onStop={stop}
          />
        </div>
      </div>
    </div>
  );
}

function Existing({ id }: { id: string }): ReactNode {
  const session = useSession(id);
  const marked = useMarkedIncognito(id);
  const open = useOpenIncognito();
  const incognito = session ? session.incognito : marked || open === id;
  useEffect(() => {
    if (incognito) setOpenIncognito(id);
  }, [id, incognito]);
  return <ChatView chatKey={id} sessionId={id} chat={useChat(id)} incognito={incognito} />;
}

export function ChatPage(): ReactNode {
  const { id } = useParams({ strict: false });
  return id ? <Existing key={id} id={id} /> : null;
}

function NewChat({ chatKey, incognito }: { chatKey: string; incognito: boolean }): ReactNode {
  const chat = useNewChat(chatKey);
  const navigate = useNavigate();
  useEffect(
    () =>
      onBorn((from, id) => {
        if (from !== chatKey) return;
        if (incognito) markIncognito(id);
        // What was being typed meanwhile goes along.
        writeDraft(id, readDraft(chatKey));
        writeDraft(chatKey, "");
        void navigate({ to: "/chat/$id", params: { id }, replace: true });
      }),
    [chatKey, incognito, navigate],
  );
  return <ChatView chatKey={chatKey} sessionId={null} chat={chat} incognito={incognito} />;
}

export function NewChatPage(): ReactNode {
  const { key = "new" } = useParams({ strict: false });
  return <NewChat chatKey={key} incognito={useMarkedIncognito(key)} />;
}

export function IncognitoPage(): ReactNode {
  return <NewChat chatKey="incognito" incognito />;
}
