import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Notification } from "@/api/shapes";
import { show } from "@/test/show";
import { type Engine, fakeEngine, json, later } from "@/test/wire";
import NotificationsPage from "./notifications-page";

let engine: Engine;
let list: Notification[];

const note = (id: string, title: string, more: Partial<Notification> = {}): Notification => ({
  id,
  title,
  kind: "info",
  message: "",
  payload: {},
  read: false,
  task_id: null,
  created_at: new Date().toISOString(),
  ...more,
});

beforeEach(() => {
  list = [note("n1", "Backed up", { message: "All is in **one** place." }), note("n2", "Old news", { read: true })];
  engine = fakeEngine({
    "GET /api/notifications": () => ({ notifications: list, unread: list.filter((n) => !n.read).length }),
    "POST /api/notifications/*/read": ({ path }) => {
      list = list.map((n) => (path.includes(`/${n.id}/`) ? { ...n, read: true } : n));
      return { ok: true };
    },
    "POST /api/notifications/read-all": () => {
      list = list.map((n) => ({ ...n, read: true }));
      return { ok: true };
    },
    "DELETE /api/notifications/*": ({ path }) => {
      list = list.filter((n) => !path.endsWith(`/${n.id}`));
      return { ok: true };
    },
    "DELETE /api/notifications": () => {
      list = [];
      return { ok: true };
    },
  });
});
afterEach(() => vi.unstubAllGlobals());

const titles = () => screen.getAllByRole("heading", { level: 2 }).map((h) => h.textContent);

const busy = () => screen.getByRole("region", { name: "Notifications" }).getAttribute("aria-busy");

describe("the notifications", () => {
  it("say that they load", async () => {
    const slow = later<unknown>();
    engine.set("GET /api/notifications", () => slow.promise);
    show(<NotificationsPage />);
    expect(await screen.findByText("Loading…")).toBeTruthy();
    expect(busy()).toBe("true");
    slow.resolve({ notifications: list, unread: 1 });
    await screen.findByText("Old news");
    expect(screen.queryByText("Loading…")).toBeNull();
    expect(busy()).toBe("false");
  });

  it("say when there are none, and offer nothing to do with them", async () => {
    list = [];
    show(<NotificationsPage />);
    expect(await screen.findByRole("heading", { name: "All quiet" })).toBeTruthy();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("say why they could not be loaded, and try again when asked", async () => {
    engine.set("GET /api/notifications", () => json(500, { detail: "The database is locked.", code: "busy" }));
    const { user } = show(<NotificationsPage />);
    expect(await screen.findByRole("heading", { name: "The notifications could not be loaded" })).toBeTruthy();
    expect(screen.getByText("The database is locked.")).toBeTruthy();
    expect(engine.of("GET /api/notifications")).toHaveLength(1);
    engine.set("GET /api/notifications", () => ({ notifications: list, unread: 1 }));
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByText("Old news")).toBeTruthy();
    expect(screen.queryByText("The database is locked.")).toBeNull();
  });

  it("say that Sentient did not answer, after they tried again by themselves", async () => {
    engine.set("GET /api/notifications", () => {
      throw new TypeError("Failed to fetch");
    });
    show(<NotificationsPage />);
    expect(await screen.findByText("Sentient did not answer. It may be starting again.")).toBeTruthy();
    expect(engine.of("GET /api/notifications")).toHaveLength(3);
  });

  it("show title, text and what is unread", async () => {
    show(<NotificationsPage />);
    await screen.findByText("Old news");
    expect(titles()).toEqual(["Backed up (unread)", "Old news"]);
    expect(screen.getByText("one").tagName).toBe("STRONG");
    expect(screen.getAllByRole("listitem")).toHaveLength(2);
  });

  it("are marked as read one by one or all at once", async () => {
    list.push(note("n3", "Third"));
    const { user } = show(<NotificationsPage />);
    await user.click(await screen.findByRole("button", { name: "Mark “Backed up” as read" }));
    await waitFor(() => expect(titles()).toEqual(["Backed up", "Old news", "Third (unread)"]));
    await user.click(screen.getByRole("button", { name: "Mark all as read" }));
    await waitFor(() => expect(titles()).toEqual(["Backed up", "Old news", "Third"]));
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Mark all as read" }).disabled).toBe(true);
    expect(screen.queryByRole("button", { name: /^Mark “/ })).toBeNull();
  });

  it("are deleted one by one", async () => {
    const { user } = show(<NotificationsPage />);
    await user.click(await screen.findByRole("button", { name: "Delete “Old news”" }));
    await waitFor(() => expect(titles()).toEqual(["Backed up (unread)"]));
  });

  it("say when they could not be changed, and why", async () => {
    const no = () => json(503, { detail: "The disk is full.", code: "full" });
    engine.set("POST /api/notifications/*/read", no);
    engine.set("DELETE /api/notifications/*", no);
    const { user } = show(<NotificationsPage />);
    await user.click(await screen.findByRole("button", { name: "Mark “Backed up” as read" }));
    expect(await screen.findAllByText("It was not marked as read")).not.toEqual([]);
    await user.click(screen.getByRole("button", { name: "Delete “Old news”" }));
    expect(await screen.findAllByText("It was not deleted")).not.toEqual([]);
    expect(screen.getAllByText("The disk is full.")).not.toEqual([]);
    expect(titles()).toEqual(["Backed up (unread)", "Old news"]);
  });

  it("are deleted all at once only after a second word", async () => {
    const { user } = show(<NotificationsPage />);
    await user.click(await screen.findByRole("button", { name: "Delete all" }));
    let dialog = await screen.findByRole("alertdialog", { name: "Delete all notifications?" });
    await user.click(within(dialog).getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
    expect(engine.of("DELETE /api/notifications")).toEqual([]);

    await user.click(screen.getByRole("button", { name: "Delete all" }));
    dialog = await screen.findByRole("alertdialog");
    await user.click(within(dialog).getByRole("button", { name: "Delete all" }));
    expect(await screen.findByRole("heading", { name: "All quiet" })).toBeTruthy();
    expect(engine.of("DELETE /api/notifications")).toHaveLength(1);
  });
});
