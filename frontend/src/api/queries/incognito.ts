import { useSyncExternalStore } from "react";

/**
 * The incognito chat that this window has open, and which chats are known to be such before the list of chats says so.
 * It is open until another chat is: a look at another room does not end it.
 */
const OPEN = "sentient.incognito";
const known = new Set<string>();
const listeners = new Set<() => void>();
let open: string | null = read();

function read(): string | null {
  try {
    return sessionStorage.getItem(OPEN);
  } catch {
    return null;
  }
}

function changed(): void {
  for (const fn of [...listeners]) fn();
}

export function markIncognito(key: string): void {
  if (known.has(key)) return;
  known.add(key);
  changed();
}

export function setOpenIncognito(id: string | null): void {
  if (open === id) return;
  open = id;
  try {
    // A page loaded again is still in the chat it was in.
    if (id) sessionStorage.setItem(OPEN, id);
    else sessionStorage.removeItem(OPEN);
  } catch {
    // Without storage the engine deletes the chat when it was quiet for a while.
  }
  changed();
}

/** This incognito chat is open no longer, if it was. */
export function closeIncognito(id: string): void {
  if (open === id) setOpenIncognito(null);
}

function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

export function useOpenIncognito(): string | null {
  return useSyncExternalStore(subscribe, () => open);
}

export function useMarkedIncognito(key: string): boolean {
  return useSyncExternalStore(subscribe, () => known.has(key));
}
