/** How Chromium is started: the system's own, quiet, and asking nobody anything. */
export const CHROMIUM = {
  executablePath: process.env.SENTIENT_CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
};
