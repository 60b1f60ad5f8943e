/** What was being written in each chat, kept over a reload and until the window closes. */
const PREFIX = "sentient.draft.";

export function readDraft(key: string): string {
  try {
    return sessionStorage.getItem(PREFIX + key) ?? "";
  } catch {
    return "";
  }
}

export function writeDraft(key: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(PREFIX + key, text);
    else sessionStorage.removeItem(PREFIX + key);
  } catch {
    // Without storage a draft lives as long as its composer.
  }
}
