import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

afterEach(cleanup);

class Observer {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
/** What a page needs of a browser and jsdom lacks. */
function browser(): void {
  // jsdom lays nothing out, so these never fire; the parts that use them must still stand.
  globalThis.ResizeObserver ??= Observer as unknown as typeof ResizeObserver;
  globalThis.IntersectionObserver ??= Observer as unknown as typeof IntersectionObserver;
  Element.prototype.scrollIntoView ??= () => undefined;
  Element.prototype.getAnimations ??= () => [];
  window.matchMedia ??= ((media: string) => ({
    matches: false,
    media,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  })) as unknown as typeof window.matchMedia;

  // No style sheet is loaded, so what an element computes to follows from its tag and its own attributes; asking jsdom for
  // it anew at every step of a query by role takes most of a test's time.
  const computed = window.getComputedStyle.bind(window);
  const byTag = new Map<string, CSSStyleDeclaration>();
  window.getComputedStyle = (el, pseudo) => {
    if (pseudo || el.hasAttribute("style") || el.hasAttribute("hidden")) return computed(el, pseudo);
    const kept = byTag.get(el.tagName) ?? computed(document.createElement(el.tagName));
    byTag.set(el.tagName, kept);
    return kept;
  };
}

// Tests of plain functions run without a page.
if (typeof window !== "undefined") browser();
