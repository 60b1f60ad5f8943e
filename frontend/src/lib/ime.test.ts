import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ImeGuard, imeOwns, type KeyLike, watchIme } from "./ime";

function key(k: string, timeStamp: number, more: Partial<KeyLike> = {}): KeyLike {
  return { key: k, keyCode: k === "Enter" ? 13 : 65, isComposing: false, timeStamp, ...more };
}

describe("the guard of the input method", () => {
  let g: ImeGuard;
  beforeEach(() => {
    g = new ImeGuard();
  });

  it("leaves plain keys to the page", () => {
    expect(g.owns(key("Enter", 5))).toBe(false);
    expect(g.owns(key("Escape", 6))).toBe(false);
    expect(g.owns(key("a", 7))).toBe(false);
  });

  it.each([
    ["says that it composes", { isComposing: true }],
    ["has the code 229", { keyCode: 229 }],
  ])("keeps a key that %s", (_name, more) => expect(g.owns(key("Enter", 10, more))).toBe(true));

  it("keeps every key between start and end of a composition", () => {
    g.start();
    for (const k of ["Enter", "Escape", "ArrowUp", "a"]) expect(g.owns(key(k, 10))).toBe(true);
    g.end(1000);
    expect(g.owns(key("Enter", 5000))).toBe(false);
  });

  it("keeps the one Enter by which WebKit tells the end, and no second", () => {
    g.start();
    g.end(1000);
    expect(g.owns(key("Enter", 1000))).toBe(true);
    expect(g.owns(key("Enter", 1010))).toBe(false);
  });

  it("gives the next Enter to the person where the end was told by the key before it", () => {
    g.start();
    expect(g.owns(key("Enter", 990, { isComposing: true }))).toBe(true);
    g.end(991);
    expect(g.owns(key("Enter", 1030))).toBe(false);
  });

  it("gives Enter to the person a moment after a composition", () => {
    g.start();
    g.end(1000);
    expect(g.owns(key("Enter", 1060))).toBe(false);
  });

  it("keeps Escape that gave a word up, and not a letter that follows", () => {
    g.start();
    g.end(1000);
    expect(g.owns(key("a", 1001))).toBe(false);
    expect(g.owns(key("Escape", 1002))).toBe(true);
  });
});

describe("the guard of the page", () => {
  let off: () => void;
  let area: HTMLTextAreaElement;
  beforeEach(() => {
    off = watchIme();
    area = document.body.appendChild(document.createElement("textarea"));
  });
  afterEach(() => {
    off();
    area.remove();
  });

  const press = (init: KeyboardEventInit) => {
    const e = new KeyboardEvent("keydown", { bubbles: true, ...init });
    area.dispatchEvent(e);
    return e;
  };

  it("marks the keys of a composition before any handler sees them", () => {
    let seen: boolean | undefined;
    area.addEventListener("keydown", (e) => {
      seen = imeOwns(e);
    });
    press({ key: "Enter", isComposing: true });
    expect(seen).toBe(true);
    press({ key: "Enter" });
    expect(seen).toBe(false);
  });

  it("gives the same answer each time it is asked about one key", () => {
    area.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
    const e = press({ key: "Enter" });
    area.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true }));
    expect([imeOwns(e), imeOwns(e)]).toEqual([true, true]);
  });

  it("watches no more once it is told to stop", () => {
    off();
    expect(imeOwns(press({ key: "Enter", isComposing: true }))).toBe(false);
  });
});
