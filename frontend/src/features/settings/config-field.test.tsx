import { screen, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { queryClient } from "@/api/queries/client";
import { configKeys, useConfig } from "@/api/queries/config";
import { show } from "@/test/show";
import { type Engine, fakeEngine, json, later } from "@/test/wire";
import { ConfigField, read } from "./config-field";
import type { FieldSpec } from "./schema";

const spec = (more: Partial<FieldSpec>): FieldSpec => ({
  path: ["chat", "x"],
  label: "Setting",
  description: "What it does.",
  kind: "text",
  options: [],
  integer: false,
  min: undefined,
  max: undefined,
  nullable: false,
  ...more,
});

let engine: Engine;
let config: { chat: Record<string, unknown> };

beforeEach(() => {
  config = { chat: { x: "old" } };
  engine = fakeEngine({
    "GET /api/config": () => config,
    "GET /api/bootstrap": () => ({}),
    "PATCH /api/config": ({ body }) => {
      config = { chat: { ...config.chat, ...(body as typeof config).chat } };
      return { saved: true, config };
    },
  });
});
afterEach(() => vi.unstubAllGlobals());

function One({ of }: { of: FieldSpec }): ReactNode {
  const q = useConfig();
  return q.data ? <ConfigField spec={of} config={q.data} /> : null;
}

const field = () => screen.findByRole<HTMLInputElement>("textbox", { name: "Setting" });
const saved = () => engine.of("PATCH /api/config").map((a) => a.body);

describe("a setting that is typed", () => {
  it("shows what is stored and is described", async () => {
    show(<One of={spec({})} />);
    const el = await field();
    expect(el.value).toBe("old");
    expect(document.getElementById(el.getAttribute("aria-describedby") ?? "")?.textContent).toBe("What it does.");
  });

  it("is saved by Enter, as a part of the settings", async () => {
    const { user } = show(<One of={spec({})} />);
    await user.clear(await field());
    await user.type(await field(), "new{Enter}");
    await waitFor(() => expect(saved()).toEqual([{ chat: { x: "new" } }]));
    expect((await field()).value).toBe("new");
  });

  it("is saved when it is left, and not where nothing changed", async () => {
    const { user } = show(<One of={spec({})} />);
    await user.type(await field(), "er");
    await user.tab();
    await waitFor(() => expect(saved()).toEqual([{ chat: { x: "older" } }]));
    await user.click(await field());
    await user.tab();
    expect(saved()).toHaveLength(1);
  });

  it("takes Escape for a change of mind", async () => {
    const { user } = show(<One of={spec({})} />);
    await user.type(await field(), "er{Escape}");
    expect((await field()).value).toBe("old");
    await user.tab();
    expect(saved()).toEqual([]);
  });

  it("keeps what is being typed while the settings are fetched again", async () => {
    const { user } = show(<One of={spec({})} />);
    await user.type(await field(), "er");
    config = { chat: { x: "elsewhere" } };
    await queryClient.refetchQueries({ queryKey: configKeys.value });
    expect((await field()).value).toBe("older");
    await user.type(await field(), "{Escape}");
    expect((await field()).value).toBe("elsewhere");
  });

  it("keeps what is typed while an earlier value is being saved", async () => {
    const answer = later<unknown>();
    engine.set("PATCH /api/config", () => answer.promise);
    const { user } = show(<One of={spec({})} />);
    await user.type(await field(), "er{Enter}");
    await user.type(await field(), " still");
    answer.resolve({ saved: true, config: { chat: { x: "older" } } });
    await waitFor(() => expect(queryClient.getQueryData(configKeys.value)).toEqual({ chat: { x: "older" } }));
    await waitFor(() => expect(queryClient.isMutating()).toBe(0));
    expect((await field()).value).toBe("older still");
  });

  it("that is refused stays, with the reason beside it", async () => {
    engine.set("PATCH /api/config", () =>
      json(422, { detail: [{ loc: ["chat", "x"], msg: "Use a shorter one.", type: "long" }], code: "invalid" }),
    );
    const { user } = show(<One of={spec({})} />);
    await user.type(await field(), "er{Enter}");
    await screen.findByText("Use a shorter one.");
    const el = await field();
    expect(el.value).toBe("older");
    expect(el.getAttribute("aria-invalid")).toBe("true");
    const described = (el.getAttribute("aria-describedby") ?? "").split(" ").map((id) => document.getElementById(id));
    expect(described.map((d) => d?.textContent)).toContain("Use a shorter one.");
    await user.type(el, "{Escape}");
    await waitFor(() => expect(screen.queryByText("Use a shorter one.")).toBeNull());
  });

  it("that could not be saved for another reason says so in a note, and keeps the text", async () => {
    engine.set("PATCH /api/config", () => json(503, { detail: "The disk is full.", code: "full" }));
    const { user } = show(<One of={spec({})} />);
    await user.type(await field(), "er{Enter}");
    expect(await screen.findAllByText("This was not saved")).not.toEqual([]);
    expect(screen.getAllByText("The disk is full.")).not.toEqual([]);
    expect((await field()).value).toBe("older");
  });

  it("is not sent when it is no number, and says what is wanted", async () => {
    config = { chat: { x: 20 } };
    const { user } = show(<One of={spec({ kind: "number", integer: true, min: 4 })} />);
    await user.clear(await field());
    await user.type(await field(), "2{Enter}");
    expect((await screen.findByText("Write 4 or more.")).getAttribute("role")).toBe("alert");
    expect(saved()).toEqual([]);
    await user.type(await field(), "0{Enter}");
    expect(saved()).toEqual([]);
    await waitFor(() => expect(screen.queryByText("Write 4 or more.")).toBeNull());
  });
});

describe("a setting that is chosen", () => {
  it("shows at once what was asked for, and puts it back when that is refused", async () => {
    const answer = later<unknown>();
    config = { chat: { x: false } };
    engine.set("PATCH /api/config", () => answer.promise);
    const { user } = show(<One of={spec({ kind: "switch" })} />);
    const el = await screen.findByRole("switch", { name: "Setting" });
    await user.click(el);
    expect(el.getAttribute("aria-checked")).toBe("true");
    answer.resolve(json(503, { detail: "The disk is full.", code: "full" }));
    await waitFor(() => expect(el.getAttribute("aria-checked")).toBe("false"));
    expect(await screen.findAllByText("This was not saved")).not.toEqual([]);
    expect(saved()).toEqual([{ chat: { x: true } }]);
  });

  it("among a few shows them all", async () => {
    config = { chat: { x: "low" } };
    const { user } = show(<One of={spec({ kind: "choice", options: ["low", "very_high"] })} />);
    expect((await screen.findByRole("radio", { name: "Low" })).getAttribute("aria-checked")).toBe("true");
    await user.click(screen.getByRole("radio", { name: "Very high" }));
    await waitFor(() => expect(saved()).toEqual([{ chat: { x: "very_high" } }]));
  });
});

describe("what a text stands for", () => {
  const number = (more: Partial<FieldSpec> = {}) => spec({ kind: "number", ...more });
  it.each<[FieldSpec, string, unknown]>([
    [spec({}), " a ", { value: " a " }],
    [spec({ nullable: true }), "  ", { value: null }],
    [spec({}), "", { value: "" }],
    [spec({ kind: "lines" }), "a\n\n b \n", { value: ["a", "b"] }],
    [number(), "0,5", { value: 0.5 }],
    [number(), " 1.5 ", { value: 1.5 }],
    [number(), "", { problem: "Write a number." }],
    [number(), "many", { problem: "Write a number." }],
    [number(), "Infinity", { problem: "Write a number." }],
    [number({ nullable: true }), "", { value: null }],
    [number({ integer: true }), "1.5", { problem: "Write a whole number." }],
    [number({ integer: true }), "1,5", { problem: "Write a whole number." }],
    [number({ integer: true }), "1,000", { problem: "Write a whole number." }],
    [number({ min: 4 }), "3", { problem: "Write 4 or more." }],
    [number({ max: 9 }), "10", { problem: "Write 9 or less." }],
    [number({ min: 0 }), "0", { value: 0 }],
  ])("%o: %j", (s, text, want) => expect(read(s, text)).toEqual(want));
});
