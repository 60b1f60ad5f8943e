/**
 * The wire's shapes under the names the window uses, each taken from the operation that gives it. Where Go has a
 * pointer the generated type may leave out `null`; those places are named here.
 */
import type { LiveEvent } from "./client.gen";
import type { Output } from "./transport";

export type { ClientMessage, LiveEvent } from "./client.gen";

type Nullable<T, K extends keyof T> = Omit<T, K> & { [P in K]: T[P] | null };

export type Bootstrap = Nullable<Output<"bootstrap.get">, "safe_mode">;
export type SafeMode = NonNullable<Output<"bootstrap.get">["safe_mode"]>;
export type Session = Output<"sessions.list">[number];
export type Message = Output<"sessions.messages">[number];
export type SearchHit = Output<"sessions.search">[number];
export type SessionLive = Output<"sessions.live">;
export type Notification = Output<"notifications.list">["notifications"][number];
export type Provider = Output<"models.providers">[number];
export type LocalRuntime = Output<"models.local">["ollama"];
export type ModelTestResult = Output<"models.test">;
export type PullProgress = Output<"models.pull"> & { message?: string };
export type Builtin = Nullable<Output<"models.builtin">, "model" | "offer">;
export type BuiltinModel = NonNullable<Builtin["model"]>;
export type BuiltinOffer = NonNullable<Builtin["offer"]>;

export type { Branch, Check, MemorySource, ProgressUpdate, Source, Subagent } from "./types.gen";

/** A call as it stands in an assistant row. */
export interface ToolCall {
  id: string;
  function: { name: string; arguments?: string };
}

export type EventOf<T extends LiveEvent["type"]> = Extract<LiveEvent, { type: T }>;
