import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

afterEach(cleanup);

class Observer {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
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
