// @vitest-environment node
import { describe, expect, it } from "vitest";
import { byteSize, exactDate, relativeDate } from "./dates";

const NOW = Date.parse("2026-05-20T10:00:00Z");
const UTC = { locale: "en-US", zone: "UTC" };
const ago = (ms: number) => new Date(NOW - ms).toISOString();
const MIN = 60_000;
const HOUR = 60 * MIN;
const DAY = 24 * HOUR;

describe("a date as people say it", () => {
  const rel = new Intl.RelativeTimeFormat("en-US", { numeric: "auto", style: "narrow" });

  it.each<[number, number, "second" | "minute" | "hour" | "day"]>([
    [0, 0, "second"],
    [59_000, 0, "second"],
    [MIN, -1, "minute"],
    [59 * MIN, -59, "minute"],
    [HOUR, -1, "hour"],
    [23 * HOUR, -23, "hour"],
    [25 * HOUR, -1, "day"],
    [3 * DAY, -3, "day"],
    [-2 * DAY, 2, "day"],
  ])("%d ms ago is %d %s", (ms, n, unit) => expect(relativeDate(ago(ms), NOW, UTC)).toBe(rel.format(n, unit)));

  it("is the day itself after a week", () => expect(relativeDate(ago(8 * DAY), NOW, UTC)).toBe("May 12"));

  it("counts days by the calendar, not by 24 hours", () => {
    // Monday noon, seen on Wednesday morning.
    expect(relativeDate("2026-05-18T12:00:00Z", NOW, UTC)).toBe(rel.format(-2, "day"));
    expect(relativeDate("2026-05-19T00:00:00Z", NOW, UTC)).toBe("yesterday");
  });

  it("counts days in the person's zone", () => {
    const w = { locale: "en-US", zone: "Asia/Kolkata" };
    // 18:20 UTC on the 18th is 23:50 there; 18:40 is already the 19th.
    expect(relativeDate("2026-05-18T18:20:00Z", NOW, w)).toBe(rel.format(-2, "day"));
    expect(relativeDate("2026-05-18T18:40:00Z", NOW, w)).toBe("yesterday");
  });

  it("names the year when it is another one", () => {
    expect(relativeDate("2025-12-31T12:00:00Z", NOW, UTC)).toBe("Dec 31, 2025");
    expect(relativeDate("2026-01-02T12:00:00Z", NOW, UTC)).toBe("Jan 2");
  });

  it("says nothing of what is no date", () => {
    expect(relativeDate("soon", NOW, UTC)).toBe("");
    expect(exactDate("", UTC)).toBe("");
  });
});

describe("an exact date", () => {
  const iso = "2026-05-20T20:30:00Z";

  it("is in the person's zone", () => {
    expect(exactDate(iso, UTC)).toBe("Wednesday, May 20, 2026 at 8:30 PM");
    expect(exactDate(iso, { locale: "en-US", zone: "Asia/Kolkata" })).toBe("Thursday, May 21, 2026 at 2:00 AM");
  });

  it("is in the computer's zone where none is set, or one that does not exist", () => {
    const own = exactDate(iso, { locale: "en-US" });
    expect(exactDate(iso, { locale: "en-US", zone: "auto" })).toBe(own);
    expect(exactDate(iso, { locale: "en-US", zone: "Middle/Earth" })).toBe(own);
  });
});

describe("a size", () => {
  it.each([
    [0, "0 byte"],
    [999, "999 byte"],
    [1500, "1.5 kB"],
    [12_345_678, "12 MB"],
    [4_700_000_000, "4.7 GB"],
  ])("%d bytes is %s", (bytes, want) => expect(byteSize(bytes, "en-US")).toBe(want));
});
