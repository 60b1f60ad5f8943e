import { createEvent, fireEvent, screen, waitFor } from "@testing-library/react";
import { type ComponentProps, useState } from "react";
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
    <Composer
      chatKey="c"
      running={false}
      usage={null}
      editing={null}
      onEditLast={null}
      onEditEnd={() => undefined}
      onSend={onSend}
      onStop={null}
      {...props}
    />,
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

  it("changes the last message with ArrowUp in an empty box only", async () => {
    const onEditLast = vi.fn();
    const { user, area } = await open({ onEditLast });
    await user.type(area, "x{ArrowUp}");
    expect(onEditLast).not.toHaveBeenCalled();
    await user.clear(area);
    await user.type(area, "{ArrowUp}");
    expect(onEditLast).toHaveBeenCalledOnce();
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
  it("what is written goes into it", async () => {
    const { user, area } = await open({ running: true, onStop: vi.fn() });
    expect(area.placeholder).toBe("Add something to the reply");
    expect(screen.queryByRole("button", { name: "Send" })).toBeNull();
    await user.type(area, "Next");
    expect(screen.getByRole("button", { name: "Stop" })).toBeTruthy();
    await user.click(sendButton());
    expect(onSend).toHaveBeenCalledExactlyOnceWith("Next", []);
    expect(area.value).toBe("");
  });

  it("stops it by the button and by Escape, and keeps what is being written", async () => {
    const onStop = vi.fn();
    const { user, area } = await open({ running: true, onStop });
    await user.type(area, "Half");
    await user.click(screen.getByRole("button", { name: "Stop" }));
    await user.type(area, "{Escape}");
    expect(onStop).toHaveBeenCalledTimes(2);
    expect(area.value).toBe("Half");
  });

  it("cannot be stopped before it has begun", async () => {
    await open({ running: true });
    expect(screen.queryByRole("button", { name: "Stop" })).toBeNull();
  });
});

describe("an earlier message that is changed", () => {
  const editing = { id: "m", text: "As it was", attachments: ["uploads/a.txt"] };

  function Changing(props: { running?: boolean; onEnd: () => void }) {
    const [now, setNow] = useState<Props["editing"]>(null);
    const end = () => {
      setNow(null);
      props.onEnd();
    };
    return (
      <Composer
        chatKey="c"
        running={props.running ?? false}
        usage={null}
        editing={now}
        onEditLast={() => setNow(editing)}
        onEditEnd={end}
        onSend={(text, files) => {
          onSend(text, files);
          setNow(null);
        }}
        onStop={null}
      />
    );
  }

  async function change(running = false) {
    const onEnd = vi.fn();
    const { user } = show(<Changing running={running} onEnd={onEnd} />);
    const area = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
    await user.type(area, "{ArrowUp}");
    expect(area.value).toBe("As it was");
    expect(screen.getByText("You are changing an earlier message. The old one is kept.")).toBeTruthy();
    return { user, area, onEnd };
  }

  it("is sent with its files, and leaves the box as it was before", async () => {
    const { user, area } = await change();
    await user.type(area, "!{Enter}");
    expect(onSend).toHaveBeenCalledExactlyOnceWith("As it was!", ["uploads/a.txt"]);
    expect(area.value).toBe("");
    expect(screen.queryByRole("list", { name: "Attached files" })).toBeNull();
  });

  it("is given up with Escape or the button", async () => {
    const { user, area, onEnd } = await change();
    await user.type(area, "!{Escape}");
    expect(area.value).toBe("");
    await user.type(area, "{ArrowUp}");
    await user.click(screen.getByRole("button", { name: "Keep the old one" }));
    expect(area.value).toBe("");
    expect(onEnd).toHaveBeenCalledTimes(2);
    expect(onSend).not.toHaveBeenCalled();
  });

  it("waits while a reply is written, and says so", async () => {
    const { user, area } = await change(true);
    await user.type(area, "!{Enter}");
    expect(onSend).not.toHaveBeenCalled();
    expect(screen.getByText("Stop the reply first, or wait until it ends.")).toBeTruthy();
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
    expect(screen.getByText(/^Sends as soon as the file is there/)).toBeTruthy();
    slow.resolve();
    await waitFor(() => expect(onSend).toHaveBeenCalled());
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
    await user.click(sendButton());
    expect(onSend).toHaveBeenCalledExactlyOnceWith("", ["b.txt"]);
  });

  it("hold the message back no longer when one goes on writing", async () => {
    const slow = later<void>();
    fakeEngine({
      "POST /api/files": async () => {
        await slow.promise;
        return { name: "b.txt", mime: "text/plain", size: 1 };
      },
    });
    const { user, area } = await open();
    await user.click(area);
    await user.paste({ files: [file("b.txt")], types: ["Files"] } as unknown as DataTransfer);
    await user.type(area, "See{Enter} this");
    expect(screen.queryByText(/^Sends as soon as/)).toBeNull();
    slow.resolve();
    await waitFor(() => expect(screen.getByRole("list", { name: "Attached files" }).querySelector("svg")).toBeTruthy());
    expect(onSend).not.toHaveBeenCalled();
    expect(area.value).toBe("See this");
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
