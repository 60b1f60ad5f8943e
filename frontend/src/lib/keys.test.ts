import { afterEach, describe, expect, it, vi } from "vitest";
import { isTyping, keysOf, matches } from "./keys";

const press = (key: string, init: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key, ...init });

describe("a shortcut", () => {
  it.each<[string, string, KeyboardEventInit, boolean]>([
    ["Mod+K", "k", { ctrlKey: true }, true],
    ["Mod+K", "K", { ctrlKey: true }, true],
    ["Mod+K", "k", {}, false],
    ["Mod+K", "k", { metaKey: true }, false],
    ["Mod+K", "k", { ctrlKey: true, metaKey: true }, false],
    ["Mod+K", "k", { ctrlKey: true, shiftKey: true }, false],
    ["Mod+K", "k", { ctrlKey: true, altKey: true }, false],
    ["Mod+K", "j", { ctrlKey: true }, false],
    ["Mod+Shift+O", "O", { ctrlKey: true, shiftKey: true }, true],
    ["Mod+Shift+O", "o", { ctrlKey: true }, false],
    ["?", "?", { shiftKey: true }, true],
    ["?", "?", {}, true],
    ["?", "?", { ctrlKey: true }, false],
    ["Mod+.", ".", { ctrlKey: true }, true],
    ["Mod+1", "1", { ctrlKey: true }, true],
    ["Shift+Enter", "Enter", { shiftKey: true }, true],
    ["Enter", "Enter", { shiftKey: true }, false],
    ["Alt+X", "x", { altKey: true }, true],
  ])("%s and the key %s with %o: %s", (shortcut, key, init, want) =>
    expect(matches(shortcut, press(key, init))).toBe(want),
  );

  it("is printed as on this keyboard", () => {
    expect(keysOf("Mod+Shift+O")).toEqual(["Ctrl", "Shift", "O"]);
    expect(keysOf("ArrowUp")).toEqual(["↑"]);
    expect(keysOf("Escape")).toEqual(["Esc"]);
  });

  describe("on a Mac", () => {
    afterEach(() => {
      vi.restoreAllMocks();
      vi.resetModules();
    });

    it("is Cmd, with the Mac's signs", async () => {
      vi.spyOn(navigator, "platform", "get").mockReturnValue("MacIntel");
      vi.resetModules();
      const mac = await import("./keys");
      expect(mac.keysOf("Mod+Shift+O")).toEqual(["⌘", "⇧", "O"]);
      expect(mac.matches("Mod+K", press("k", { metaKey: true }))).toBe(true);
      expect(mac.matches("Mod+K", press("k", { ctrlKey: true }))).toBe(false);
    });
  });
});

describe("writing", () => {
  it.each([
    ["input", true],
    ["textarea", true],
    ["select", true],
    ["button", false],
    ["div", false],
  ])("in a %s: %s", (tag, want) => expect(isTyping(document.createElement(tag))).toBe(want));

  it("is nothing that happens outside of elements", () => {
    expect(isTyping(null)).toBe(false);
    expect(isTyping(window)).toBe(false);
  });
});
