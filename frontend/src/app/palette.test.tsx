import { fireEvent, screen, waitFor } from "@testing-library/react";
import { Star } from "lucide-react";
import { type ReactNode, useState } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchIme } from "@/lib/ime";
import { show } from "@/test/show";
import { fakeEngine } from "@/test/wire";
import { type Action, useProvideActions } from "./actions";
import Palette from "./palette";
import Shortcuts from "./shortcuts";

const run = vi.fn();
const closed = vi.fn();
const ACTIONS: Action[] = [
  { id: "chat.new", title: "New chat", icon: Star, group: "chat", shortcut: "Mod+Shift+O", run: () => run("new") },
  { id: "go.settings", title: "Open Settings", icon: Star, group: "go", shortcut: "Mod+,", run: () => run("settings") },
  { id: "chat.stop", title: "Stop the reply", icon: Star, group: "chat", enabled: false, run: () => run("stop") },
  { id: "app.palette", title: "Search and commands", icon: Star, group: "app", shortcut: "Mod+K", run: () => run("p") },
];

function Window({ part: Part }: { part: (p: { onClose: () => void }) => ReactNode }): ReactNode {
  useProvideActions(ACTIONS);
  const [open, setOpen] = useState(true);
  const onClose = () => {
    closed();
    setOpen(false);
  };
  return open ? <Part onClose={onClose} /> : null;
}

let off: () => void;
beforeEach(() => {
  run.mockReset();
  closed.mockReset();
  off = watchIme();
  fakeEngine({
    "GET /api/sessions": () => [
      { id: "s1", title: "Week plan", incognito: false },
      { id: "s2", title: "", incognito: false },
      { id: "s3", title: "Secret", incognito: true },
    ],
  });
});
afterEach(() => {
  off();
  vi.unstubAllGlobals();
});

const names = () => screen.getAllByRole("option").map((x) => x.querySelector("span")?.textContent);

async function open() {
  const shown = show(<Window part={Palette} />);
  await screen.findByRole("dialog", { name: "Commands" });
  await screen.findByRole("option", { name: "Week plan" });
  return { ...shown, input: screen.getByRole("combobox") };
}

describe("the palette", () => {
  it("offers what can be done now and every chat, and starts in its field", async () => {
    const { input } = await open();
    expect(names()).toEqual(["New chat", "Open Settings", "Week plan", "New chat"]);
    await waitFor(() => expect(document.activeElement).toBe(input));
  });

  it("runs the action that was found by typing, once it is gone", async () => {
    const { user, input } = await open();
    run.mockImplementation(() => expect(closed).toHaveBeenCalledOnce());
    await user.type(input, "sett{Enter}");
    await waitFor(() => expect(run).toHaveBeenCalledExactlyOnceWith("settings"));
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("opens a chat", async () => {
    const { user, where } = await open();
    await user.click(screen.getByRole("option", { name: "Week plan" }));
    await waitFor(() => expect(where()).toBe("/chat/s1"));
  });

  it("closes by Escape and does nothing", async () => {
    const { user, where } = await open();
    await user.keyboard("{Escape}");
    await waitFor(() => expect(closed).toHaveBeenCalledOnce());
    expect(run).not.toHaveBeenCalled();
    expect(where()).toBe("/chat");
  });

  it("says when nothing has that name", async () => {
    const { user, input } = await open();
    await user.type(input, "zzzz");
    expect(screen.getByText("Nothing by that name.")).toBeTruthy();
    await user.keyboard("{Enter}");
    expect(run).not.toHaveBeenCalled();
  });

  it("leaves the keys of an input method to it", async () => {
    const { input } = await open();
    fireEvent.keyDown(input, { key: "Enter", isComposing: true });
    fireEvent.keyDown(input, { key: "Escape", isComposing: true });
    expect(run).not.toHaveBeenCalled();
    expect(closed).not.toHaveBeenCalled();
    expect(screen.getByRole("dialog")).toBeTruthy();
  });
});

describe("the list of shortcuts", () => {
  it("names each action that has one, with its keys, and those of places", async () => {
    show(<Window part={Shortcuts} />);
    const dialog = await screen.findByRole("dialog", { name: "Keyboard shortcuts" });
    await waitFor(() => expect(dialog.textContent).toContain("New chatCtrlShiftO"));
    expect(dialog.textContent).toContain("Search and commandsCtrlK");
    expect(dialog.textContent).toContain("Start a new lineShiftEnter");
    expect(dialog.textContent).not.toContain("Stop the reply");
  });
});
