import type { LucideIcon } from "lucide-react";
import { useEffect, useSyncExternalStore } from "react";
import { isTyping, matches } from "@/lib/keys";

/** Something a person can do. Buttons, menus, shortcuts and the palette all use the same object. */
export interface Action {
  id: string;
  title: string;
  icon: LucideIcon;
  /** Under which heading the palette and the list of shortcuts show it. */
  group: "chat" | "go" | "app";
  shortcut?: string;
  enabled?: boolean;
  run: () => void;
}

const sources = new Map<symbol, readonly Action[]>();
const listeners = new Set<() => void>();
let all: readonly Action[] = [];

function changed(): void {
  const byId = new Map<string, Action>();
  // A later source stands in front: what is deeper in the page wins.
  for (const list of sources.values()) for (const a of list) byId.set(a.id, a);
  all = [...byId.values()];
  for (const fn of listeners) fn();
}

/** Offers actions while the component is there. Give a memoised list. */
export function useProvideActions(actions: readonly Action[]): void {
  useEffect(() => {
    const source = Symbol("actions");
    sources.set(source, actions);
    changed();
    return () => {
      sources.delete(source);
      changed();
    };
  }, [actions]);
}

function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

export function useActions(): readonly Action[] {
  return useSyncExternalStore(subscribe, () => all);
}

export function usable(a: Action): boolean {
  return a.enabled !== false;
}

/** Runs the action whose shortcut was pressed. Single keys stay quiet while the person writes. */
export function handleShortcut(e: KeyboardEvent): boolean {
  if (e.defaultPrevented) return false;
  for (const a of all) {
    if (!a.shortcut || !usable(a) || !matches(a.shortcut, e)) continue;
    if (!a.shortcut.includes("Mod") && !a.shortcut.includes("Alt") && isTyping(e.target)) continue;
    e.preventDefault();
    a.run();
    return true;
  }
  return false;
}
