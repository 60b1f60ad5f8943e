/** Puts the person's theme and accent on the page. "system" follows the computer, also while the page is open. */
export const ACCENTS = ["sentient", "blue", "violet", "rose", "amber", "green", "graphite"] as const;
export type Accent = (typeof ACCENTS)[number];

const STORED = "sentient.look";

export interface Look {
  theme: string;
  accent: string;
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");
let look: Look = { theme: "system", accent: "sentient" };

function paint(): void {
  const root = document.documentElement;
  const theme = look.theme === "dark" || look.theme === "light" ? look.theme : dark.matches ? "dark" : "light";
  root.dataset.theme = theme;
  root.dataset.accent = (ACCENTS as readonly string[]).includes(look.accent) ? look.accent : "sentient";
}

/** Applies a look, and keeps it so that the next start paints right before the engine has answered. */
export function setLook(next: Partial<Look>): void {
  look = { ...look, ...next };
  paint();
  try {
    localStorage.setItem(STORED, JSON.stringify(look));
  } catch {
    // A page without storage paints with the system's theme first.
  }
}

export function startTheme(): void {
  try {
    const kept = JSON.parse(localStorage.getItem(STORED) ?? "null") as Look | null;
    if (kept && typeof kept.theme === "string" && typeof kept.accent === "string") look = kept;
  } catch {
    // Nothing kept, or nothing readable.
  }
  dark.addEventListener("change", paint);
  paint();
}
