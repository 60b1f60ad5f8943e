// A page that tries what no page in the window may do, and then what it may. Each line of what it saw goes to the test
// as the name of a part that it asks for.
const away = window.LEDGER;
const hex = (s) => [...new TextEncoder().encode(s)].map((b) => b.toString(16).padStart(2, "0")).join("");
const report = (name, value) => fetch(`/report/${hex(JSON.stringify([name, value]))}`);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const outcome = (promise) => promise.then((v) => ["ok", v], (e) => ["refused", e]);

function loads() {
  const put = (tag, set) => {
    const e = document.createElement(tag);
    set(e);
    document.body.append(e);
  };
  put("img", (e) => { e.src = `${away}/image`; });
  put("script", (e) => { e.src = `${away}/script`; });
  put("link", (e) => { e.rel = "stylesheet"; e.href = `${away}/style`; });
  put("link", (e) => { e.rel = "prefetch"; e.href = `${away}/prefetch`; });
  put("iframe", (e) => { e.src = `${away}/frame`; });
  put("object", (e) => { e.data = `${away}/object`; });
  put("video", (e) => { e.src = `${away}/video`; e.autoplay = true; });
  put("div", (e) => { e.style.backgroundImage = `url(${away}/background)`; e.textContent = "x"; });
  put("style", (e) => { e.textContent = `@import url(${away}/import); @font-face { font-family: f; src: url(${away}/font) } body { font-family: f }`; });
  put("div", (e) => { e.innerHTML = `<img src="/nothing" onerror="window.handlerRan = true">`; });
  put("script", (e) => { e.textContent = "window.addedRan = true"; });
  for (const attempt of [
    () => navigator.sendBeacon(`${away}/beacon`, "x"),
    () => new WebSocket(`${away.replace("http", "ws")}/socket`),
    () => new EventSource(`${away}/events`),
    () => { const r = new XMLHttpRequest(); r.open("GET", `${away}/request`); r.send(); },
    () => { window.evalRan = eval("1 + 1"); },
  ]) {
    try { attempt(); } catch { /* refused at once */ }
  }
  return outcome(fetch(`${away}/fetch`, { mode: "no-cors" }));
}

async function leaves() {
  const link = (set) => {
    const a = document.createElement("a");
    a.textContent = "x";
    set(a);
    document.body.append(a);
    a.click();
  };
  const attempts = {
    "location": () => { location.href = `${away}/location`; },
    "replace": () => location.replace(`${away}/replace`),
    "link": () => link((a) => { a.href = `${away}/link`; }),
    "new window": () => link((a) => { a.href = `${away}/blank`; a.target = "_blank"; }),
    "open": () => window.open(`${away}/open`),
    "file": () => { location.href = "file:///etc/passwd"; },
    "data": () => { location.href = "data:text/html,<script>1</script>"; },
    "blob": () => { location.href = URL.createObjectURL(new Blob(["<p>another page</p>"], { type: "text/html" })); },
    "refresh": () => {
      const m = document.createElement("meta");
      m.httpEquiv = "refresh";
      m.content = `0;url=${away}/refresh`;
      document.head.append(m);
    },
    "form": () => {
      const f = document.createElement("form");
      f.action = `${away}/form`;
      document.body.append(f);
      f.submit();
    },
  };
  for (const [name, attempt] of Object.entries(attempts)) {
    try { attempt(); } catch { /* refused at once */ }
    await pause(150);
    await report("still here after", name);
  }
}

function stream(id, op, input) {
  const items = [];
  let ended;
  const end = new Promise((done) => { ended = done; });
  window.runtime.EventsOn(`stream:${id}`, (batch) => {
    items.push(...(batch.items ?? []));
    if (batch.done) ended(batch.error ?? null);
  });
  return { items, end, opened: window.go.bound.Streams.Open(id, op, input) };
}

async function calls() {
  const { bound, desktop } = window.go;
  await report("health", await outcome(bound.Health.Get({})));
  await report("unknown chat", await outcome(bound.Sessions.Messages({ id: "nobody" })));
  await report("wrong shape", (await outcome(bound.Sessions.Messages({ id: 5 })))[0]);
  await report("file link", await outcome(desktop.Desktop.OpenExternal("file:///etc/passwd")));
  await report("info", await outcome(desktop.Desktop.Info()));
  await report("engine", await outcome(desktop.Desktop.Engine()));
  await report("posting", await outcome(fetch("/", { method: "POST", body: "x" }).then((r) => r.status)));

  const live = stream("live of " + performance.timeOrigin, "live", {});
  await live.opened;
  for (let i = 0; i < 100 && live.items.length === 0; i++) await pause(50);
  await report("live", live.items[0]?.type ?? "nothing");

  const up = stream("up", "files.upload", { name: "note.txt" });
  await up.opened;
  await bound.Streams.Send("up", { piece: btoa("the boats ") });
  await bound.Streams.Send("up", { piece: btoa("are home") });
  await bound.Streams.Send("up", { end: true });
  const failed = await up.end;
  const stored = up.items[0];
  await report("upload", failed ?? stored?.size ?? "nothing");
  const file = await fetch(`/api/files/content/${stored?.name}`);
  await report("file", [file.status, file.headers.get("content-type"), await file.text()]);
}

const again = sessionStorage.getItem("again");
await report("begun", again ?? "first");
await calls();
if (!again) {
  await report("fetch", (await loads())[0]);
  await leaves();
  await pause(300);
  await report("ran", [window.inlineRan, window.handlerRan, window.addedRan, window.evalRan].map((v) => v ?? null));
  sessionStorage.setItem("again", "again");
  location.reload();
} else {
  await report("ended", again);
}
