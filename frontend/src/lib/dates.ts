/** Dates in the person's locale and zone. The engine's are ISO 8601 in UTC. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export interface DateWords {
  locale?: string;
  zone?: string;
}

function zoneOf(w: DateWords): string | undefined {
  if (!w.zone || w.zone === "auto") return undefined;
  try {
    new Intl.DateTimeFormat(w.locale, { timeZone: w.zone });
    return w.zone;
  } catch {
    return undefined;
  }
}

export function exactDate(iso: string, w: DateWords = {}): string {
  const d = new Date(iso);
  if (Number.isNaN(d.getTime())) return "";
  return new Intl.DateTimeFormat(w.locale, { dateStyle: "full", timeStyle: "short", timeZone: zoneOf(w) }).format(d);
}

/** The day in the person's zone, counted in days, and its year. */
function dayOf(d: Date, w: DateWords): { day: number; year: number } {
  const parts = new Intl.DateTimeFormat("en", {
    calendar: "gregory",
    numberingSystem: "latn",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    timeZone: zoneOf(w),
  }).formatToParts(d);
  const of = (type: string) => Number(parts.find((p) => p.type === type)?.value);
  return { day: Date.UTC(of("year"), of("month") - 1, of("day")) / (DAY * 1000), year: of("year") };
}

/** "now", "5 min. ago", "yesterday", then the day itself. */
export function relativeDate(iso: string, now: number, w: DateWords = {}): string {
  const d = new Date(iso);
  if (Number.isNaN(d.getTime())) return "";
  const s = Math.round((d.getTime() - now) / 1000);
  const rel = new Intl.RelativeTimeFormat(w.locale, { numeric: "auto", style: "narrow" });
  const abs = Math.abs(s);
  if (abs < MINUTE) return rel.format(0, "second");
  if (abs < HOUR) return rel.format(Math.trunc(s / MINUTE), "minute");
  if (abs < DAY) return rel.format(Math.trunc(s / HOUR), "hour");
  const then = dayOf(d, w);
  const today = dayOf(new Date(now), w);
  // By the calendar: 40 hours ago may be yesterday or the day before.
  const days = then.day - today.day;
  if (Math.abs(days) < 7) return rel.format(days, "day");
  const options: Intl.DateTimeFormatOptions = { day: "numeric", month: "short", timeZone: zoneOf(w) };
  if (then.year !== today.year) options.year = "numeric";
  return new Intl.DateTimeFormat(w.locale, options).format(d);
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

export function byteSize(bytes: number, locale?: string): string {
  let v = bytes;
  let u = 0;
  while (v >= 1000 && u < UNITS.length - 1) {
    v /= 1000;
    u++;
  }
  return new Intl.NumberFormat(locale, {
    style: "unit",
    unit: UNITS[u] ?? "byte",
    unitDisplay: "short",
    maximumFractionDigits: v < 10 && u > 0 ? 1 : 0,
  }).format(v);
}
