/** What the window binds beside the operations; a browser has none of it. */
interface WindowHost {
  go?: { desktop?: { Desktop?: { OpenExternal?: (url: string) => Promise<void> } } };
}

/**
 * In the window a link that leads outside opens in the person's browser: the window itself goes nowhere, and would
 * only refuse the click. A browser opens it by itself.
 */
export function openLinksOutside(host: Window & WindowHost = window): void {
  host.addEventListener("click", (e) => {
    const open = host.go?.desktop?.Desktop?.OpenExternal;
    const link = e.target instanceof Element ? e.target.closest("a[href]") : null;
    const href = link?.getAttribute("href") ?? "";
    if (!open || e.defaultPrevented || !/^(https?|mailto):/i.test(href)) return;
    e.preventDefault();
    // A refused address (the host checks it again) is not worth more than staying where one is.
    void open(href).catch(() => undefined);
  });
}
