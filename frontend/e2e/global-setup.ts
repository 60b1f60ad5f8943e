import { shared } from "./engine.ts";

/** The engine that most tests share is past its first run, and gives no titles by itself. */
export default async function globalSetup(): Promise<void> {
  await shared.api("POST", "/api/onboarding", {
    user_name: "Ada",
    assistant_name: "Sentient",
    timezone: "UTC",
  });
  await shared.api("PATCH", "/api/config", { chat: { auto_title: false }, ui: { theme: "light" } });
}
