type Katex = typeof import("katex")["default"];

let loaded: Katex | undefined;
let loading: Promise<Katex> | undefined;

/** The formula drawer once it is here; loaded, with its style sheet, when the first formula is shown. */
export function katexNow(): Katex | undefined {
  return loaded;
}

export async function loadKatex(): Promise<Katex> {
  loading ??= Promise.all([import("katex"), import("katex/dist/katex.min.css")]).then(([m]) => {
    loaded = m.default;
    return m.default;
  });
  return loading;
}
