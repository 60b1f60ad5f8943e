// @vitest-environment node
import { describe, expect, it } from "vitest";
import { fieldsOf, isAt, labelOf, nest, valueAt } from "./schema";

const ROOT = {
  $ref: "#/$defs/Config",
  $defs: {
    Config: { type: "object", properties: { chat: { $ref: "#/$defs/Chat" }, assistant: { type: "object" } } },
    Chat: {
      type: "object",
      properties: {
        auto_title: { type: "boolean", title: "Name chats", description: "After the first reply." },
        history_window: { type: "integer", minimum: 4, maximum: 200 },
        temperature: { type: ["number", "null"], minimum: 0, maximum: 2 },
        api_url: { anyOf: [{ type: "string" }, { type: "null" }] },
        level: { allOf: [{ $ref: "#/$defs/Level" }], description: "How much." },
        hosts: { type: "array", items: { type: "string" } },
        nested: { type: "object", properties: {} },
        free: { type: "array", items: { type: "object" } },
        either: { anyOf: [{ type: "string" }, { type: "integer" }] },
      },
    },
    Level: { type: "string", enum: ["low", "high", null] },
  },
};

describe("the fields of a section", () => {
  const fields = fieldsOf(ROOT, "chat");
  const field = (name: string) => fields.find((f) => f.path[1] === name);

  it("are those a form can draw, in the schema's order", () => {
    expect(fields.map((f) => [f.path.join("."), f.kind])).toEqual([
      ["chat.auto_title", "switch"],
      ["chat.history_window", "number"],
      ["chat.temperature", "number"],
      ["chat.api_url", "text"],
      ["chat.level", "choice"],
      ["chat.hosts", "lines"],
    ]);
  });

  it("carry the words, bounds and choices of the schema", () => {
    expect(field("auto_title")).toMatchObject({ label: "Name chats", description: "After the first reply." });
    expect(field("history_window")).toMatchObject({ integer: true, min: 4, max: 200, nullable: false });
    expect(field("temperature")).toMatchObject({ integer: false, min: 0, max: 2, nullable: true });
    expect(field("api_url")).toMatchObject({ label: "API URL", nullable: true });
    expect(field("level")).toMatchObject({ options: ["low", "high"], nullable: true, description: "How much." });
  });

  it("can be chosen and ordered by name; names the schema lacks are left out", () => {
    expect(fieldsOf(ROOT, "chat", ["hosts", "gone", "auto_title"]).map((f) => f.path[1])).toEqual([
      "hosts",
      "auto_title",
    ]);
  });

  it("are none where there is no such section, or no schema", () => {
    expect(fieldsOf(ROOT, "nowhere")).toEqual([]);
    expect(fieldsOf(ROOT, "assistant")).toEqual([]);
    expect(fieldsOf({}, "chat")).toEqual([]);
    expect(fieldsOf({ properties: { chat: { $ref: "#/$defs/missing" } } }, "chat")).toEqual([]);
  });

  it("come to an end where a schema refers to itself", () => {
    expect(fieldsOf({ properties: { chat: { $ref: "#/properties/chat" } } }, "chat")).toEqual([]);
  });
});

describe("places", () => {
  it("are read and written by path", () => {
    expect(valueAt({ a: { b: 5 } }, ["a", "b"])).toBe(5);
    expect(valueAt({ a: [1] }, ["a", "0"])).toBeUndefined();
    expect(valueAt(undefined, ["a"])).toBeUndefined();
    expect(nest(["a", "b"], false)).toEqual({ a: { b: false } });
    expect(nest([], 1)).toEqual({});
  });

  it("of a refusal are matched from their end", () => {
    expect(isAt(["body", "chat", "history_window"], ["chat", "history_window"])).toBe(true);
    expect(isAt(["chat", "history_window"], ["chat", "history_window"])).toBe(true);
    expect(isAt(["body", "ui", "history_window"], ["chat", "history_window"])).toBe(false);
    expect(isAt(["history_window"], ["chat", "history_window"])).toBe(false);
  });

  it("have a label where the schema gives none", () => {
    expect(labelOf("auto_title")).toBe("Auto title");
    expect(labelOf("base_url")).toBe("Base URL");
    expect(labelOf("curl_path")).toBe("Curl path");
  });
});
