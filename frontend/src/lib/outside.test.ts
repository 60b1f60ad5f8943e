import { afterEach, describe, expect, it, vi } from "vitest";
import { openLinksOutside } from "./outside";

type Host = Parameters<typeof openLinksOutside>[0] & { go?: unknown };

describe("links that lead outside", () => {
  const host = window as NonNullable<Host>;
  const OpenExternal = vi.fn(async () => {});
  openLinksOutside(host);

  const click = (html: string): boolean => {
    document.body.innerHTML = html;
    const e = new MouseEvent("click", { bubbles: true, cancelable: true });
    document.querySelector("a")?.firstChild?.dispatchEvent(e) ?? document.querySelector("a")?.dispatchEvent(e);
    return e.defaultPrevented;
  };

  afterEach(() => {
    OpenExternal.mockClear();
    delete host.go;
  });

  it("open in the person's browser from the window", () => {
    host.go = { desktop: { Desktop: { OpenExternal } } };
    expect(click('<a href="https://example.com/a?b=1"><b>there</b></a>')).toBe(true);
    expect(OpenExternal).toHaveBeenCalledWith("https://example.com/a?b=1");
    expect(click('<a href="mailto:maya@example.com"><b>write</b></a>')).toBe(true);
  });

  it("are left alone where they lead inside, or in a browser", () => {
    host.go = { desktop: { Desktop: { OpenExternal } } };
    expect(click('<a href="#/settings"><b>settings</b></a>')).toBe(false);
    expect(click('<a href="javascript:alert(1)"><b>no</b></a>')).toBe(false);
    delete host.go;
    expect(click('<a href="https://example.com/"><b>there</b></a>')).toBe(false);
    expect(OpenExternal).not.toHaveBeenCalled();
  });
});
