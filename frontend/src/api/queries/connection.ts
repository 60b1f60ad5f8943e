import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { call, type LiveStatus, live } from "../client";
import type { LiveEvent, Notification, Session } from "../shapes";
import { bootstrapKey } from "./bootstrap";
import { configKeys } from "./config";
import { closeIncognito } from "./incognito";
import { modelKeys } from "./models";
import { notificationKeys } from "./notifications";
import { dropSession, patchSession, sessionKeys } from "./sessions";
import { followSubagent } from "./subagents";
import { turns } from "./turns";

const subscribeStatus = (fn: () => void) => live.onStatus(fn);

export function useConnection(): LiveStatus {
  return useSyncExternalStore(subscribeStatus, () => live.status);
}

export function retryConnection(): void {
  live.retryNow();
}

/** Keeps the cache true: each live event changes or invalidates what it is about. Gives the way to stop. */
export function followEvents(qc: QueryClient, onNotification: (n: Notification) => void): () => void {
  const offEvents = live.on((e) => {
    turns.event(e);
    follow(qc, e, onNotification);
  });
  const offOpen = live.onOpen(() => {
    turns.resend();
    tellPresence();
  });
  window.addEventListener("focus", tellPresence);
  window.addEventListener("blur", tellPresence);
  document.addEventListener("visibilitychange", onVisible);
  window.addEventListener("online", retryConnection);
  live.start();
  return () => {
    offEvents();
    offOpen();
    window.removeEventListener("focus", tellPresence);
    window.removeEventListener("blur", tellPresence);
    document.removeEventListener("visibilitychange", onVisible);
    window.removeEventListener("online", retryConnection);
    live.stop();
  };
}

function onVisible(): void {
  if (!document.hidden) retryConnection();
  tellPresence();
}

function tellPresence(): void {
  live.send({ type: "presence", active: !document.hidden && document.hasFocus() });
}

function follow(qc: QueryClient, e: LiveEvent, onNotification: (n: Notification) => void): void {
  switch (e.type) {
    case "gap":
      turns.gap();
      void qc.invalidateQueries();
      return;
    case "session":
      void qc.invalidateQueries({ queryKey: sessionKeys.list });
      return;
    case "done":
      void qc.invalidateQueries({ queryKey: sessionKeys.list }).then(() => {
        if (e.error) nameAfterFailure(qc, e.session_id);
      });
      return;
    case "session.updated": {
      const { session_id, title, memory_scope, branch, ...change } = e.data;
      if (branch) {
        turns.settle(session_id);
        void qc.invalidateQueries({ queryKey: sessionKeys.messages(session_id) });
      }
      patchSession(qc, session_id, {
        ...change,
        ...(title ? { title } : {}),
        ...(memory_scope ? { memory_scope } : {}),
      });
      return;
    }
    case "subagent.updated":
      followSubagent(qc, e.data);
      return;
    case "session.deleted":
      dropSession(qc, e.data.session_id);
      closeIncognito(e.data.session_id);
      return;
    case "notification.new":
      onNotification(e.data);
      void refreshNotifications(qc);
      return;
    case "notification.updated":
    case "notification.read":
    case "notification.deleted":
      void refreshNotifications(qc);
      return;
    case "config.updated":
      void qc.invalidateQueries({ queryKey: configKeys.value });
      void qc.invalidateQueries({ queryKey: bootstrapKey });
      void qc.invalidateQueries({ queryKey: modelKeys.all });
      return;
    default:
      return;
  }
}

/** A chat is named after its first reply. One whose first reply failed gets the words it began with. */
function nameAfterFailure(qc: QueryClient, id: string): void {
  const session = qc.getQueryData<Session[]>(sessionKeys.list)?.find((s) => s.id === id);
  const first =
    turns
      .view(id)
      .turns.find((x) => x.user)
      ?.user?.text.trim()
      .replace(/\s+/g, " ") ?? "";
  if (session?.title !== "" || first === "") return;
  const words = [...first];
  const title =
    words.length > TITLE_LETTERS
      ? `${words
          .slice(0, TITLE_LETTERS - 1)
          .join("")
          .trimEnd()}…`
      : first;
  // It is only a name: a chat without one is still there.
  call("sessions.update", { id, title }).catch(() => undefined);
}

const TITLE_LETTERS = 60;

async function refreshNotifications(qc: QueryClient): Promise<void> {
  await qc.invalidateQueries({ queryKey: notificationKeys.all });
  await qc.invalidateQueries({ queryKey: bootstrapKey });
}
