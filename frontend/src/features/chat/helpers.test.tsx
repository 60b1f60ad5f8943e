import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Subagent } from "@/api/shapes";
import { show } from "@/test/show";
import { type Engine, fakeEngine, json } from "@/test/wire";
import { Helpers } from "./helpers";

let engine: Engine;
let list: Subagent[];

const helper = (id: string, more: Partial<Subagent> = {}): Subagent => ({
  subagent_id: id,
  session_id: "s",
  parent_call_id: "c",
  goal: `Goal of ${id}`,
  kind: "worker",
  status: "completed",
  background: false,
  summary: null,
  error: null,
  tool_calls: 3,
  started_at: "2026-01-01T00:00:00Z",
  finished_at: "2026-01-01T00:01:00Z",
  ...more,
});

beforeEach(() => {
  list = [helper("b", { status: "running", finished_at: null }), helper("a", { summary: "It is done." })];
  engine = fakeEngine({
    "GET /api/sessions/s/subagents": () => list,
    "GET /api/subagents/a": () => ({
      ...helper("a"),
      events: [
        { timestamp: "", message: { type: "tool_call", tool_name: "web_fetch", result: "" } },
        { timestamp: "", message: { type: "final_answer", content: "<b>Done</b>" } },
      ],
    }),
    "POST /api/subagents/b/cancel": () => helper("b", { status: "cancelled" }),
  });
});
afterEach(() => vi.unstubAllGlobals());

describe("the helpers of a chat", () => {
  it("are not mentioned where there are none", async () => {
    list = [];
    show(<Helpers sessionId="s" />);
    await waitFor(() => expect(engine.of("GET /api/sessions/s/subagents")).toHaveLength(1));
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("are listed with how they stand, and each tells what it did", async () => {
    const { user } = show(<Helpers sessionId="s" />);
    await user.click(await screen.findByRole("button", { name: "2 helpers, 1 working" }));
    const dialog = await screen.findByRole("dialog", { name: "Helpers" });
    expect(within(dialog).getByText("Working")).toBeTruthy();
    expect(within(dialog).getByText("Done")).toBeTruthy();
    await user.click(within(dialog).getByRole("button", { name: "Goal of a" }));
    const steps = await within(dialog).findByRole("list", { name: "Steps of “Goal of a”" });
    await waitFor(() =>
      expect(
        within(steps)
          .getAllByRole("listitem")
          .map((x) => x.textContent),
      ).toEqual(["Callweb_fetch", "Answer<b>Done</b>"]),
    );
    expect(within(dialog).getByText("It is done.")).toBeTruthy();
  });

  it("are stopped one by one, or say why not", async () => {
    const { user } = show(<Helpers sessionId="s" />);
    await user.click(await screen.findByRole("button", { name: "2 helpers, 1 working" }));
    engine.set("POST /api/subagents/b/cancel", () => json(503, { detail: "Sentient is closing.", code: "closing" }));
    await user.click(await screen.findByRole("button", { name: "Stop “Goal of b”" }));
    expect(await screen.findAllByText("The helper was not stopped")).not.toEqual([]);
    engine.set("POST /api/subagents/b/cancel", () => helper("b", { status: "cancelled" }));
    await user.click(screen.getByRole("button", { name: "Stop “Goal of b”" }));
    expect(await screen.findByText("Stopped")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Stop “Goal of b”" })).toBeNull();
  });
});
