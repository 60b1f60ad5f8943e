/** Shortcuts are written "Mod+Shift+K": Mod is Cmd on a Mac and Ctrl elsewhere. */
export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

const MAC: Record<string, string> = { Mod: "⌘", Shift: "⇧", Alt: "⌥", Enter: "↩", Escape: "esc", ArrowUp: "↑" };
const OTHER: Record<string, string> = { Mod: "Ctrl", Enter: "Enter", Escape: "Esc", ArrowUp: "↑" };

/** The keys of a shortcut as they are printed on the keyboard. */
export function keysOf(shortcut: string): string[] {
  const names = isMac ? MAC : OTHER;
  return shortcut.split("+").map((k) => names[k] ?? k);
}

/** Whether a key press is the shortcut, with exactly its modifiers. */
export function matches(shortcut: string, e: KeyboardEvent): boolean {
  const parts = shortcut.split("+");
  const key = parts.at(-1) ?? "";
  const mod = isMac ? e.metaKey : e.ctrlKey;
  const other = isMac ? e.ctrlKey : e.metaKey;
  if (mod !== parts.includes("Mod") || other || e.altKey !== parts.includes("Alt")) return false;
  // "?" is typed with Shift on most keyboards: for a sign that is not a letter the sign alone counts.
  const letter = /^[a-z]$/i.test(key);
  if ((letter || key.length > 1) && e.shiftKey !== parts.includes("Shift")) return false;
  return e.key.toLowerCase() === key.toLowerCase();
}

/** Whether the person is writing: single-key shortcuts then stay out of the way. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
