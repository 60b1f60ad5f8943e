import { type ReactNode, useState } from "react";
import { type Call, NO_GIST, newCall, type Part, shown } from "@/api/parts";
import type { ChatItem, EventItem, ReplyItem, UserItem } from "@/api/queries/chat";
import type { Turn } from "@/api/queries/turns";
import type { Check, MemorySource, Source, Subagent } from "@/api/shapes";
import { Button } from "@/ui/button";
import { Section } from "@/ui/gallery";
import { Composer, type Editing } from "./composer";
import { HelperCard } from "./helpers-panel";
import { Message, type MessageHandlers } from "./message";

// The words of this page are for who builds the window, so they are not in the catalogue.
const AT = "2026-11-30T08:00:00.000000Z";
const nothing = () => undefined;
const handlers: MessageHandlers = {
  onEdit: nothing,
  onAgain: nothing,
  onContinue: nothing,
  onCarryOn: nothing,
  onSendAgain: nothing,
  onShow: nothing,
  takeFocus: () => null,
  onFork: nothing,
};

const said = (key: string, text: string, more: Partial<UserItem> = {}): UserItem => ({
  kind: "user",
  key,
  id: key,
  turnId: "t",
  text,
  attachments: [],
  at: AT,
  state: "stored",
  interjection: false,
  branch: null,
  ...more,
});
const reply = (key: string, parts: Part[], more: Partial<ReplyItem> = {}): ReplyItem => ({
  kind: "reply",
  key,
  id: key,
  turnId: "t",
  parts,
  at: AT,
  turn: null,
  ended: null,
  final: true,
  gist: NO_GIST,
  user: null,
  ...more,
});
const words = (text: string, thinking = ""): Part => ({ kind: "message", id: text, thinking, text });
const doing = (call: Call): Part => ({ kind: "call", call });
const turn = (more: Partial<Turn>): Turn => ({
  key: "t",
  clientId: null,
  turnId: "t",
  state: "running",
  user: null,
  parts: [],
  notice: null,
  error: null,
  dropped: false,
  messageId: null,
  gist: NO_GIST,
  ...more,
});
const event = (name: string, user: UserItem | null = null): EventItem => ({
  kind: "event",
  key: name,
  id: name,
  turnId: "t",
  name,
  at: AT,
  branch: null,
  user,
});

const search = newCall("a", "web_search", {
  state: "done",
  args: shown({ query: "tide table Lisbon" }),
  result: shown({ results: [{ title: "Tides", url: "https://example.com/tides" }] }),
  durationMs: 840,
});
const build = newCall("b", "execute_code", {
  args: shown({ language: "python", code: "print(1)" }),
  status: "Running the tests",
  output: "ok 1\nok 2\n",
});
const failing = newCall("c", "mail_send", {
  state: "failed",
  args: shown({ to: "maya@example.com" }),
  result: shown({ error: "The mailbox was not found." }),
  durationMs: 2300,
});
const web: Source = {
  kind: "web",
  app: "web",
  tool: "web_fetch",
  title: "Tides of the Tagus",
  url: "https://example.com/a",
};
const memory: MemorySource = { kind: "fact", id: 1, text: "Maya sails on Sundays.", source: "manual", via: "prompt" };
const check = {
  ok: true,
  action: "email sent",
  detail: "",
  targets: [],
  missed: [],
  app: "",
  tool: "",
  how: "result",
  kind: "email",
} satisfies Check;

const ITEMS: readonly [string, readonly ChatItem[]][] = [
  [
    "What a person says",
    [
      said("u1", "A message with another version.", { branch: { index: 1, turns: ["a", "b", "c"] } }),
      said("u2", "A message on its way.", { id: null, state: "sending" }),
      said("u3", "Said into a reply, and not read yet.", { id: null, state: "queued", interjection: true }),
      said("u4", "With files.", {
        attachments: ["screens/Inbox - Mail 3f9a2c.txt", "selections/Notepad 5b7c2e.txt", "uploads/gone.txt"],
      }),
    ],
  ],
  [
    "A reply that is being written",
    [
      reply("r1", [], { turn: turn({}) }),
      reply("r2", [], {
        turn: turn({ notice: { code: "model_waiting", message: "The model is still working on this." } }),
      }),
      reply("r3", [doing(search), doing(build)], { turn: turn({}) }),
    ],
  ],
  [
    "A reply with what was done for it",
    [
      reply("r4", [words("Let me look.", "A table would help."), doing(search), words("High water is at **9:40**.")], {
        gist: {
          sources: [
            web,
            { ...web, kind: "file", title: "notes.md", file: "outputs/notes.md" },
            { ...web, kind: "email", title: "Re: the boat", from: "Maya" },
            { ...web, kind: "app", title: "Calendar", tools: ["a", "b"] },
          ],
          memories: [memory, { ...memory, id: 2, text: "The boat is red." }],
          checks: [check],
        },
      }),
      reply("r5", [doing(search), doing(failing), words("I sent the email.")], {
        gist: {
          ...NO_GIST,
          checks: [{ ...check, ok: false, message: "Sentient said it sent the email, but it came back." }],
        },
      }),
    ],
  ],
  [
    "A reply that did not end well",
    [
      reply("r6", [words("Half an answer")], { ended: "stopped" }),
      reply("r7", [words("Half an answer")], { ended: "interrupted" }),
      reply("r8", [words("It begins")], {
        turn: turn({ state: "failed", error: "The model stopped answering. Try again." }),
      }),
    ],
  ],
  ["What happened beside", [event("resumed"), event("not_sent", said("u9", "Never sent")), event("trusted")]],
];

const HELPER: Subagent = {
  subagent_id: "h",
  session_id: "s",
  parent_call_id: "c",
  goal: "Compare the three ferries to Cacilhas",
  kind: "worker",
  status: "running",
  background: false,
  summary: null,
  error: null,
  tool_calls: 4,
  started_at: AT,
  finished_at: null,
};

function Composers(): ReactNode {
  const [editing, setEditing] = useState<Editing | null>({ id: "u", text: "As it was", attachments: [] });
  const common = { usage: null, onEditLast: null, onSend: nothing, onEditEnd: () => setEditing(null) };
  return (
    <Section title="Message boxes">
      <Composer chatKey="ui-1" running={false} editing={null} onStop={null} {...common} />
      <Composer chatKey="ui-2" running editing={null} onStop={nothing} {...common} />
      <Composer chatKey="ui-3" running={false} editing={editing} onStop={null} {...common} />
      <Button small onClick={() => setEditing({ id: "u", text: "As it was", attachments: [] })}>
        Change a message
      </Button>
    </Section>
  );
}

/** The parts of a chat in every state. */
export function ChatGallery(): ReactNode {
  return (
    <>
      {ITEMS.map(([title, items]) => (
        <Section key={title} title={title}>
          {items.map((item) => (
            <div key={item.key}>
              <Message item={item} last busy={false} showThinking handlers={handlers} />
            </div>
          ))}
        </Section>
      ))}
      <Section title="Helpers">
        <ul>
          <HelperCard helper={HELPER} />
          <HelperCard
            helper={{ ...HELPER, status: "completed", finished_at: AT, summary: "The first is the cheapest." }}
          />
          <HelperCard helper={{ ...HELPER, status: "error", error: "Stopped after 24 steps without finishing." }} />
          <HelperCard helper={{ ...HELPER, kind: "reader", status: "cancelled" }} />
        </ul>
      </Section>
      <Composers />
    </>
  );
}
