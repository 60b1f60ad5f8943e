const SCHEMES = new Set(["http:", "https:", "mailto:"]);

export interface SafeLink {
  href: string;
  /** What is shown beside the words, so that nobody is led somewhere by its name alone. "" for a mail address. */
  host: string;
}

/** The address a link may lead to, or null: only the web and mail, nothing relative, no name and password in it. */
export function safeLink(href: string): SafeLink | null {
  let u: URL;
  try {
    u = new URL(href.trim());
  } catch {
    return null;
  }
  if (!SCHEMES.has(u.protocol) || u.username || u.password) return null;
  if (u.protocol === "mailto:") return { href: u.toString(), host: "" };
  // The browser's own spelling of the host: a name in look-alike letters shows as xn--….
  return { href: u.toString(), host: u.host };
}

/** Whether the words of a link already say where it leads. */
export function showsHost(words: string, host: string): boolean {
  const text = words
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, "");
  return text === host || text.startsWith(`${host}/`) || text.startsWith(`${host}?`);
}
