/** Reads the engine's configuration schema into what a form can draw. */

export interface FieldSpec {
  path: string[];
  label: string;
  description: string;
  kind: "switch" | "text" | "number" | "choice" | "lines";
  options: string[];
  integer: boolean;
  min: number | undefined;
  max: number | undefined;
  /** An empty value is `null` rather than "". */
  nullable: boolean;
}

type Json = Record<string, unknown>;

function isObject(v: unknown): v is Json {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

function follow(root: Json, ref: string): Json {
  let at: unknown = root;
  for (const part of ref.replace(/^#\/?/, "").split("/").filter(Boolean)) {
    at = isObject(at) ? at[part.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  return isObject(at) ? at : {};
}

/** The schema that counts: references followed, a lone `allOf` opened, `null` of a choice taken out. */
function resolve(root: Json, schema: Json): { schema: Json; nullable: boolean } {
  let s = schema;
  let nullable = false;
  for (let depth = 0; depth < 8; depth++) {
    if (typeof s.$ref === "string") {
      const { $ref, ...own } = s;
      s = { ...follow(root, $ref as string), ...own };
      continue;
    }
    const all = s.allOf;
    if (Array.isArray(all) && all.length === 1 && isObject(all[0])) {
      const { allOf: _, ...own } = s;
      s = { ...all[0], ...own };
      continue;
    }
    const any = s.anyOf ?? s.oneOf;
    if (Array.isArray(any)) {
      const real = any.filter((x) => isObject(x) && x.type !== "null");
      nullable ||= real.length < any.length;
      if (real.length !== 1 || !isObject(real[0])) break;
      const { anyOf: _a, oneOf: _o, ...own } = s;
      s = { ...real[0], ...own };
      continue;
    }
    break;
  }
  if (Array.isArray(s.type)) {
    nullable ||= s.type.includes("null");
    const real = s.type.filter((x) => x !== "null");
    s = { ...s, type: real.length === 1 ? real[0] : undefined };
  }
  return { schema: s, nullable };
}

function kindOf(root: Json, s: Json): FieldSpec["kind"] | null {
  if (Array.isArray(s.enum)) return "choice";
  switch (s.type) {
    case "boolean":
      return "switch";
    case "integer":
    case "number":
      return "number";
    case "string":
      return "text";
    case "array": {
      const items = isObject(s.items) ? resolve(root, s.items).schema : {};
      return items.type === "string" ? "lines" : null;
    }
    default:
      return null;
  }
}

/** "auto_title" as a label, where the schema has no title of its own. */
export function labelOf(name: string): string {
  const words = name
    .replaceAll("_", " ")
    .replace(/\burl\b/g, "URL")
    .replace(/\bapi\b/g, "API");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function number(v: unknown): number | undefined {
  return typeof v === "number" ? v : undefined;
}

function spec(root: Json, path: string[], name: string, raw: Json): FieldSpec | null {
  const { schema: s, nullable } = resolve(root, raw);
  const kind = kindOf(root, s);
  if (!kind) return null;
  return {
    path: [...path, name],
    label: typeof s.title === "string" && s.title ? s.title : labelOf(name),
    description: typeof s.description === "string" ? s.description : "",
    kind,
    options: Array.isArray(s.enum) ? s.enum.filter((x) => x !== null).map(String) : [],
    integer: s.type === "integer",
    min: number(s.minimum),
    max: number(s.maximum),
    nullable: nullable || (Array.isArray(s.enum) && s.enum.includes(null)),
  };
}

/**
 * The fields of one section, in the schema's order. `only` keeps those named; what a form cannot draw (a nested
 * object, a free map) is left out and stays as it is.
 */
export function fieldsOf(root: Json, section: string, only?: readonly string[]): FieldSpec[] {
  const properties = resolve(root, root).schema.properties;
  const raw = isObject(properties) ? properties[section] : undefined;
  if (!isObject(raw)) return [];
  const inner = resolve(root, raw).schema.properties;
  if (!isObject(inner)) return [];
  const names = only ? only.filter((n) => n in inner) : Object.keys(inner);
  return names.flatMap((name) => {
    const value = inner[name];
    const field = isObject(value) ? spec(root, [section], name, value) : null;
    return field ? [field] : [];
  });
}

/** What a section says about itself. */
export function valueAt(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, p) => (isObject(at) ? at[p] : undefined), config);
}

/** `{a: {b: value}}` for the path a, b. */
export function nest(path: readonly string[], value: unknown): Json {
  const [first, ...rest] = path;
  if (first === undefined) return {};
  return { [first]: rest.length === 0 ? value : nest(rest, value) };
}

/** Whether a refused place ("body", "chat", "history_window") is this field. */
export function isAt(loc: readonly string[], path: readonly string[]): boolean {
  const from = loc.length - path.length;
  return from >= 0 && path.every((p, i) => loc[from + i] === p);
}
