import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { Markdown } from "./markdown";

const draw = (text: string) => render(<Markdown text={text} />).container;

describe("a model's text", () => {
  it("shows raw HTML as it was written and makes nothing of it", () => {
    const c = draw(
      'Look <img src=x onerror="alert(1)"> here\n\n<script>alert(1)</script>\n\n<iframe src="x"></iframe>',
    );
    expect(c.querySelector("img, script, iframe")).toBeNull();
    expect(c).toHaveProperty("textContent", expect.stringContaining('<img src=x onerror="alert(1)">'));
    expect(c.textContent).toContain("<script>alert(1)</script>");
  });

  it("loads no picture: it is a link that says where it leads", () => {
    const c = draw("![a chart](https://tracker.example/p.png?id=1) ![](https://b.example/x.png)");
    expect(c.querySelector("img")).toBeNull();
    expect(screen.getByRole("link", { name: "a chart" }).getAttribute("href")).toBe(
      "https://tracker.example/p.png?id=1",
    );
    expect(screen.getByRole("link", { name: "Picture" })).toBeTruthy();
    expect(c.textContent).toContain("(tracker.example)");
  });

  it.each([
    "[click](javascript:alert(1))",
    "[click](<java script:alert(1)>)",
    "[click](data:text/html,x)",
    "[click](/api/config)",
    "![click](javascript:alert(1))",
    "[click][x]\n\n[x]: javascript:alert(1)",
  ])("keeps the words of a link it refuses: %s", (text) => {
    draw(text);
    expect(screen.queryByRole("link")).toBeNull();
    expect(document.body.textContent).toContain("click");
  });

  it("shows beside a link where it leads, unless its words say so", () => {
    const c = draw(
      "[your bank](https://evil.example/login) and https://a.example/x and [b.example](https://b.example)",
    );
    expect(c.textContent).toBe("your bank(evil.example) and https://a.example/x and b.example");
    const link = screen.getByRole("link", { name: "your bank" });
    expect(link.getAttribute("target")).toBe("_blank");
    expect(link.getAttribute("rel")).toContain("noopener");
    expect(link.getAttribute("rel")).toContain("noreferrer");
  });

  it("leaves prices alone", () => {
    const c = draw("It is $5 to $10, **$1.50** each, in $HOME/$USER.");
    expect(c.textContent).toBe("It is $5 to $10, $1.50 each, in $HOME/$USER.");
    expect(c.querySelector(".katex")).toBeNull();
  });

  it("draws a formula, and shows one that cannot be drawn as it was written", async () => {
    const c = draw("So $x^2$ and $\\nosuchcommand{$.");
    await vi.waitFor(() => expect(c.querySelector(".katex")).not.toBeNull());
    expect(c.textContent).toContain("\\nosuchcommand{");
    expect(c.querySelectorAll(".katex")).toHaveLength(1);
  });

  it("puts its headings below the page's own", () => {
    draw("# One\n\n## Two\n\n###### Six");
    expect(screen.getByRole("heading", { name: "One", level: 3 })).toBeTruthy();
    expect(screen.getByRole("heading", { name: "Two", level: 3 })).toBeTruthy();
    expect(screen.getByRole("heading", { name: "Six", level: 6 })).toBeTruthy();
    expect(screen.queryByRole("heading", { level: 1 })).toBeNull();
  });

  it("draws tables and lists with their roles", () => {
    draw("| a | b |\n|---|--:|\n| 1 | 2 |\n\n1. x\n2. y\n\n- [x] done\n- [ ] open");
    const table = screen.getByRole("table");
    expect(
      within(table)
        .getAllByRole("columnheader")
        .map((x) => x.textContent),
    ).toEqual(["a", "b"]);
    expect(
      within(table)
        .getAllByRole("cell")
        .map((x) => x.textContent),
    ).toEqual(["1", "2"]);
    const done = screen.getByRole("checkbox", { name: "done" }) as HTMLInputElement;
    expect(done.checked).toBe(true);
    expect(done.disabled).toBe(true);
    expect((screen.getByRole("checkbox", { name: "open" }) as HTMLInputElement).checked).toBe(false);
  });

  it("reads the entities that models write, but not those of code", () => {
    const c = draw("a &lt;b&gt; &amp; &quot;c&quot; &#65;&#x42; &nosuch;\n\n`&lt;`");
    expect(c.textContent).toBe('a <b> & "c" AB &nosuch;&lt;');
  });

  it("copies the code of a block and nothing else", async () => {
    const user = userEvent.setup();
    draw('```go\nfmt.Println("<b>")\n```');
    await user.click(screen.getByRole("button", { name: "Copy code" }));
    expect(await navigator.clipboard.readText()).toBe('fmt.Println("<b>")');
    expect(screen.getByRole("button", { name: "Copied" }).textContent).toBe("Copied");
  });

  it("keeps what was drawn while the text grows", () => {
    const { container, rerender } = render(<Markdown text={"One.\n\nTw"} />);
    const first = container.querySelector("p");
    rerender(<Markdown text={"One.\n\nTwo and more"} />);
    expect(container.querySelector("p")).toBe(first);
    expect(container.textContent).toBe("One.Two and more");
  });
});
