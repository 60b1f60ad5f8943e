import { createEvent, fireEvent, screen, waitFor } from "@testing-library/react";
import type { ComponentProps } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { writeDraft } from "@/lib/drafts";
import { watchIme } from "@/lib/ime";
import { show } from "@/test/show";
import { fakeEngine, json, later } from "@/test/wire";
import { Composer } from "./composer";

type Props = ComponentProps<typeof Composer>;

const onSend = vi.fn<Props["onSend"]>();
let off: () => void;

beforeEach(() => {
  onSend.mockReset();
  sessionStorage.clear();
  off = watchIme();
});
afterEach(() => {
  off();
  vi.unstubAllGlobals();
});

async function open(props: Partial<Props> = {}) {
  const { user } = show(
    <Composer chatKey="c" running={false} usage={null} lastText={null} onSend={onSend} onStop={null} {...props} />,
  );
  const area = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
  return { user, area };
}

const sendButton = () => screen.getByRole<HTMLButtonElement>("button", { name: "Send" });

describe("writing a message", () => {
  it("is sent by Enter, without the space around it, and leaves the box empty", async () => {
    const { user, area } = await open();
    await user.type(area, "  Hello there {Enter}");
    expect(onSend).toHaveBeenCalledExactlyOnceWith("Hello there", []);
    expect(area.value).toBe("");
  });

  it("is sent by the button", async () => {
    const { user, area } = await open();
    expect(sendButton().disabled).toBe(true);
    await user.type(area, "Hi");
    await user.click(sendButton());
    expect(onSend).toHaveBeenCalledExactlyOnceWith("Hi", []);
  });

  it("breaks the line with Shift+Enter", async () => {
    const { user, area } = await open();
    await user.type(area, "One{Shift>}{Enter}{/Shift}Two");
    expect(onSend).not.toHaveBeenCalled();
    expect(area.value).toBe("One\nTwo");
    await user.type(area, "{Enter}");
    expect(onSend).toHaveBeenCalledExactlyOnceWith("One\nTwo", []);
  });

  it("does not send nothing", async () => {
    const { user, area } = await open();
    await user.type(area, "   {Enter}");
    expect(onSend).not.toHaveBeenCalled();
    expect(area.value).toBe("   ");
  });

  it("does not send by the Enter that ends a word of an input method", async () => {
    const { user, area } = await open();
    await user.type(area, "にほん");
    fireEvent.compositionStart(area);
    fireEvent.keyDown(area, { key: "Enter", isComposing: true });
    fireEvent.keyDown(area, { key: "Process", keyCode: 229 });
    const end = createEvent.compositionEnd(area);
    fireEvent(area, end);
    fireEvent.keyDown(area, { key: "Enter", keyCode: 229 });
    expect(onSend).not.toHaveBeenCalled();
    expect(area.value).toBe("にほん");
    await user.type(area, "{Enter}");
    expect(onSend).toHaveBeenCalledExactlyOnceWith("にほん", []);
  });

  it("does not send by the Enter that comes right after a composition, as in WebKit", async () => {
    const { user, area } = await open();
    await user.type(area, "日本");
    fireEvent.compositionStart(area);
    const end = createEvent.compositionEnd(area);
    const enter = createEvent.keyDown(area, { key: "Enter" });
    const next = createEvent.keyDown(area, { key: "Enter" });
    const at = Date.now() + 10_000;
    Object.defineProperty(end, "timeStamp", { value: at });
    Object.defineProperty(enter, "timeStamp", { value: at + 1 });
    Object.defineProperty(next, "timeStamp", { value: at + 400 });
    fireEvent(area, end);
    fireEvent(area, enter);
    expect(onSend).not.toHaveBeenCalled();
    fireEvent(area, next);
    expect(onSend).toHaveBeenCalledExactlyOnceWith("日本", []);
  });

  it("takes the last message up again with ArrowUp in an empty box only", async () => {
    const { user, area } = await open({ lastText: "What I said" });
    await user.type(area, "x{ArrowUp}");
    expect(area.value).toBe("x");
    await user.clear(area);
    await user.type(area, "{ArrowUp}");
    expect(area.value).toBe("What I said");
    expect(onSend).not.toHaveBeenCalled();
  });

  it("keeps what was being written, chat by chat", async () => {
    writeDraft("c", "Half a thought");
    writeDraft("d", "Another");
    const { user, area } = await open();
    expect(area.value).toBe("Half a thought");
    await user.type(area, " more");
    expect(sessionStorage.getItem("sentient.draft.c")).toBe("Half a thought more");
    await user.type(area, "{Enter}");
    expect(sessionStorage.getItem("sentient.draft.c")).toBeNull();
    expect(sessionStorage.getItem("sentient.draft.d")).toBe("Another");
  });
});

describe("while a reply is written", () => {
  it("keeps the next message and says why", async () => {
    const { user, area } = await open({ running: true, onStop: vi.fn() });
    await user.type(area, "Next{Enter}");
    expect(onSend).not.toHaveBeenCalled();
    expect(area.value).toBe("Next");
    expect(screen.getByText(/The reply is still being written/)).toBeTruthy();
    await user.type(area, "!");
    expect(screen.queryByText(/The reply is still being written/)).toBeNull();
  });

  it("stops it by the button and by Escape", async () => {
    const onStop = vi.fn();
    const { user, area } = await open({ running: true, onStop });
    await user.click(screen.getByRole("button", { name: "Stop" }));
    await user.type(area, "{Escape}");
    expect(onStop).toHaveBeenCalledTimes(2);
    expect(screen.queryByRole("button", { name: "Send" })).toBeNull();
  });

  it("cannot be stopped before it has begun", async () => {
    const { user, area } = await open({ running: true });
    expect(screen.queryByRole("button", { name: "Stop" })).toBeNull();
    await user.type(area, "Next");
    expect(sendButton().disabled).toBe(true);
  });
});

describe("attached files", () => {
  const file = (name: string) => new File(["x"], name, { type: "text/plain" });

  it("are sent under their stored names once all of them are there", async () => {
    const slow = later<void>();
    fakeEngine({
      "POST /api/files": async ({ body }) => {
        const { name } = (body as FormData).get("file") as File;
        if (name === "slow.txt") await slow.promise;
        return { name: `stored-${name}`, mime: "text/plain", size: 1 };
      },
    });
    const { user, area } = await open();
    await user.click(area);
    await user.paste({ files: [file("slow.txt"), file("b.txt")], types: ["Files"] } as unknown as DataTransfer);
    await user.type(area, "See these{Enter}");
    expect(onSend).not.toHaveBeenCalled();
    expect(screen.getByRole("list", { name: "Attached files" }).querySelectorAll("li")).toHaveLength(2);
    slow.resolve();
    await waitFor(() => expect(sendButton().disabled).toBe(false));
    await user.click(sendButton());
    expect(onSend).toHaveBeenCalledExactlyOnceWith("See these", ["stored-slow.txt", "stored-b.txt"]);
    expect(screen.queryByRole("list", { name: "Attached files" })).toBeNull();
  });

  it("that are refused go away with the reason, the others stay", async () => {
    fakeEngine({
      "POST /api/files": ({ body }) => {
        const { name } = (body as FormData).get("file") as File;
        if (name === "big.txt") return json(413, { detail: "The file is too large.", code: "file_large" });
        return { name, mime: "text/plain", size: 1 };
      },
    });
    const { user, area } = await open();
    await user.click(area);
    await user.paste({ files: [file("big.txt"), file("b.txt")], types: ["Files"] } as unknown as DataTransfer);
    expect(await screen.findAllByText("big.txt could not be attached")).not.toEqual([]);
    expect(screen.getAllByText("The file is too large.")).not.toEqual([]);
    await waitFor(() => expect(sendButton().disabled).toBe(false));
    await user.click(sendButton());
    expect(onSend).toHaveBeenCalledExactlyOnceWith("", ["b.txt"]);
  });

  it("can be taken off again", async () => {
    fakeEngine({ "POST /api/files": () => ({ name: "b.txt", mime: "text/plain", size: 1 }) });
    const { user, area } = await open();
    await user.click(area);
    await user.paste({ files: [file("b.txt")], types: ["Files"] } as unknown as DataTransfer);
    await user.click(await screen.findByRole("button", { name: "Remove b.txt" }));
    expect(screen.queryByRole("list", { name: "Attached files" })).toBeNull();
    expect(sendButton().disabled).toBe(true);
  });
});

describe("the meter", () => {
  it("says how full the chat is, where that is known", async () => {
    await open({ usage: { percent: 42, used: 420, length: 1000, warning: null } });
    expect(screen.getByRole("button", { name: "42% of what the model reads at once is used" })).toBeTruthy();
  });
});
