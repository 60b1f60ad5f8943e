// @vitest-environment node
import { describe, expect, it } from "vitest";
import { safeLink, showsHost } from "./links";

describe("an address", () => {
  it.each([
    "javascript:alert(1)",
    " JavaScript:alert(1)",
    "java\nscript:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://a.example/1",
    "sentient://open",
    "/chat",
    "#/settings",
    "//a.example",
    "a.example",
    "https://bank.example@evil.example/",
    "https://user:pw@a.example/",
    "https://",
    "",
  ])("is refused: %j", (href) => expect(safeLink(href)).toBeNull());

  it.each([
    ["https://a.example/x?y#z", "https://a.example/x?y#z", "a.example"],
    ["HTTP://A.example:8080", "http://a.example:8080/", "a.example:8080"],
    ["mailto:a@b.example", "mailto:a@b.example", ""],
  ])("is taken: %s", (href, want, host) => expect(safeLink(href)).toEqual({ href: want, host }));

  it("in look-alike letters shows what it is", () => {
    expect(safeLink("https://аpple.example/")?.host).toMatch(/^xn--/);
  });

  it("needs no host beside words that are the host", () => {
    expect(showsHost("a.example", "a.example")).toBe(true);
    expect(showsHost("https://a.example/path", "a.example")).toBe(true);
    expect(showsHost("A.EXAMPLE?q", "a.example")).toBe(true);
    expect(showsHost("a.example.evil", "a.example")).toBe(false);
    expect(showsHost("a.example", "evil.example")).toBe(false);
    expect(showsHost("your bank", "evil.example")).toBe(false);
  });
});
