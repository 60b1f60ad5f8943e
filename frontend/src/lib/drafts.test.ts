import { afterEach, describe, expect, it, vi } from "vitest";
import { readDraft, writeDraft } from "./drafts";

afterEach(() => {
  vi.restoreAllMocks();
  sessionStorage.clear();
});

describe("drafts", () => {
  it("are kept chat by chat until they are empty", () => {
    writeDraft("a", "Hello");
    writeDraft("b", "World");
    expect([readDraft("a"), readDraft("b"), readDraft("c")]).toEqual(["Hello", "World", ""]);
    writeDraft("a", "");
    expect(readDraft("a")).toBe("");
    expect(sessionStorage).toHaveLength(1);
  });

  it("stop nobody from writing where there is no storage", () => {
    vi.spyOn(Storage.prototype, "getItem").mockImplementation(() => {
      throw new DOMException("no", "SecurityError");
    });
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new DOMException("full", "QuotaExceededError");
    });
    expect(() => writeDraft("a", "Hello")).not.toThrow();
    expect(readDraft("a")).toBe("");
  });
});
