import { fireEvent, render } from "@testing-library/react";
import { Star } from "lucide-react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Action, handleShortcut, useActions, useProvideActions } from "./actions";

const action = (id: string, more: Partial<Action> = {}): Action => ({
  id,
  title: id,
  icon: Star,
  group: "app",
  run: vi.fn(),
  ...more,
});

function Offer({ actions }: { actions: readonly Action[] }): ReactNode {
  useProvideActions(actions);
  return null;
}

function Names(): ReactNode {
  return <output>{useActions().map((a) => `${a.title} `)}</output>;
}

const listen = (e: KeyboardEvent) => void handleShortcut(e);
beforeEach(() => window.addEventListener("keydown", listen));
afterEach(() => window.removeEventListener("keydown", listen));

/** Gives true when the key was taken. */
const press = (init: KeyboardEventInit, on: Element = document.body) => !fireEvent.keyDown(on, init);

describe("actions", () => {
  it("are there while what offers them is, and the deeper of two stands", () => {
    const outer = [action("a"), action("b", { title: "outer" })];
    const inner = [action("b", { title: "inner" })];
    const { container, rerender } = render(
      <>
        <Offer actions={outer} />
        <Offer key="inner" actions={inner} />
        <Names />
      </>,
    );
    expect(container.textContent).toBe("a inner ");
    rerender(
      <>
        <Offer actions={outer} />
        {null}
        <Names />
      </>,
    );
    expect(container.textContent).toBe("a outer ");
  });

  it("run by their shortcut, once, and the browser does nothing of its own", () => {
    const a = action("a", { shortcut: "Mod+K" });
    const { unmount } = render(<Offer actions={[a]} />);
    expect(press({ key: "k", ctrlKey: true })).toBe(true);
    expect(a.run).toHaveBeenCalledOnce();
    expect(press({ key: "k" })).toBe(false);
    unmount();
    expect(press({ key: "k", ctrlKey: true })).toBe(false);
    expect(a.run).toHaveBeenCalledOnce();
  });

  it("that cannot be done now leave their shortcut alone", () => {
    const a = action("a", { shortcut: "Mod+.", enabled: false });
    render(<Offer actions={[a]} />);
    expect(press({ key: ".", ctrlKey: true })).toBe(false);
    expect(a.run).not.toHaveBeenCalled();
  });

  it("on a single key stay quiet while the person writes, those with Ctrl do not", () => {
    const single = action("a", { shortcut: "?" });
    const mod = action("b", { shortcut: "Mod+K" });
    const offered = [single, mod];
    const { container } = render(
      <>
        <Offer actions={offered} />
        <textarea />
      </>,
    );
    const area = container.querySelector("textarea") as Element;
    expect(press({ key: "?", shiftKey: true }, area)).toBe(false);
    expect(press({ key: "k", ctrlKey: true }, area)).toBe(true);
    expect(press({ key: "?", shiftKey: true })).toBe(true);
    expect(single.run).toHaveBeenCalledOnce();
    expect(mod.run).toHaveBeenCalledOnce();
  });

  it("do not run when something nearer took the key", () => {
    const a = action("a", { shortcut: "Mod+K" });
    const { container } = render(
      <>
        <Offer actions={[a]} />
        <button type="button" onKeyDown={(e) => e.preventDefault()} />
      </>,
    );
    press({ key: "k", ctrlKey: true }, container.querySelector("button") as Element);
    expect(a.run).not.toHaveBeenCalled();
  });
});
