import { Bell, Inbox, MessageSquare, Monitor, Moon, Pencil, Sun, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Markdown } from "@/lib/markdown/markdown";
import { ACCENTS, setLook } from "@/lib/theme";
import { Button, type ButtonLook, IconButton } from "./button";
import { Confirm, Dialog, DialogActions, Drawer } from "./dialog";
import { Field, Switch, TextArea, TextField } from "./field";
import css from "./gallery.module.css";
import { Menu, MenuChoice, MenuItem, MenuSeparator } from "./menu";
import { Segmented, Select, Swatches } from "./select";
import { Badge, Banner, Card, EmptyState, ErrorState, Keys, Loading, Progress, Skeleton, Spinner } from "./surface";
import { When } from "./time";
import { toast } from "./toast";
import { Tooltip } from "./tooltip";

// The words of this page are for who builds the window, so they are not in the catalogue.
const looks: readonly ButtonLook[] = ["primary", "secondary", "ghost", "danger"];
const tones = ["plain", "good", "warn", "bad", "accent"] as const;
const themes = [
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
  { value: "system", label: "System", icon: Monitor },
];
const colors = [
  ...["bg", "surface", "raised", "sunken", "line", "ink", "ink-2", "ink-3"],
  ...["accent", "accent-soft", "danger", "danger-soft", "warn-soft", "good-soft"],
];
const prose = `# Heading

Words with **stress**, *tone*, \`code\` and a [link](https://example.org). From $5 to $10.

- a list
  - inside a list

> A quotation.

| Left | Right |
|:-----|------:|
| a    |     1 |

\`\`\`ts
const answer: number = 42;
\`\`\`

$$e^{i\\pi} + 1 = 0$$`;

/** Every component of the design system in every state, to look at and to photograph. Development builds only. */
export function Gallery({ children }: { children?: ReactNode }): ReactNode {
  return (
    <div className={css.page}>
      <div className={css.column}>
        <div className={css.row}>
          {themes.map(({ value, label, icon }) => (
            <Button key={value} icon={icon} onClick={() => setLook({ theme: value })}>
              {label}
            </Button>
          ))}
        </div>
        <Colors />
        <Buttons />
        <Fields />
        <Surfaces />
        <States />
        <Overlays />
        <Section title="Markdown">
          <Card>
            <Markdown text={prose} />
          </Card>
        </Section>
        {children}
      </div>
    </div>
  );
}

export function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section className={css.section} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Colors(): ReactNode {
  return (
    <Section title="Colors">
      <div className={css.colors}>
        {colors.map((c) => (
          <div key={c} className={css.color}>
            <span style={{ background: `var(--${c})` }} />
            {c}
          </div>
        ))}
      </div>
    </Section>
  );
}

function Buttons(): ReactNode {
  return (
    <Section title="Buttons">
      {looks.map((look) => (
        <div key={look} className={css.row}>
          <Button look={look}>{look}</Button>
          <Button look={look} icon={Pencil} small>
            small
          </Button>
          <Button look={look} busy>
            busy
          </Button>
          <Button look={look} disabled>
            disabled
          </Button>
          <IconButton look={look} label={`Rename, ${look}`} icon={Pencil} keys="F2" />
          <IconButton look={look} label={`Delete, ${look}`} icon={Trash2} small disabled />
        </div>
      ))}
    </Section>
  );
}

function Fields(): ReactNode {
  const [on, setOn] = useState(true);
  const [theme, setTheme] = useState("light");
  const [accent, setAccent] = useState<string>(ACCENTS[0]);
  return (
    <Section title="Controls">
      <div className={css.grid}>
        <TextField label="Name" placeholder="Maya" />
        <TextField label="Port" hint="Between 1 and 65535." problem="Use a number up to 65535." defaultValue="70000" />
        <TextField label="Read only" defaultValue="7777" disabled />
        <Field label="About you">
          <TextArea rows={3} defaultValue="Two lines&#10;of text" />
        </Field>
      </div>
      <Card>
        <Field label="Titles" hint="Let a model name new chats." row>
          <Switch checked={on} onChange={setOn} label="Titles" />
        </Field>
      </Card>
      <div className={css.row}>
        <Switch checked={false} onChange={setOn} disabled label="Cannot be changed" />
        <Select value={theme} options={themes} onChange={setTheme} label="Theme" />
        <Select value={theme} options={themes} onChange={setTheme} label="Theme, disabled" disabled />
        <Segmented value={theme} options={themes} onChange={setTheme} label="Theme, all in sight" />
        <Swatches
          value={accent}
          options={ACCENTS.map((a) => ({ value: a, label: a }))}
          onChange={(a) => {
            setAccent(a);
            setLook({ accent: a });
          }}
          label="Accent"
        />
      </div>
    </Section>
  );
}

function Surfaces(): ReactNode {
  return (
    <Section title="Surfaces">
      <div className={css.row}>
        {tones.map((tone) => (
          <Badge key={tone} tone={tone}>
            {tone}
          </Badge>
        ))}
        <Keys keys="Mod+K" />
        <Spinner />
        <When at="2026-11-30T08:00:00.000000Z" />
      </div>
      {tones.map((tone) => (
        <Banner key={tone} tone={tone} actions={<Button small>Do it</Button>}>
          A line that says how things stand.
        </Banner>
      ))}
      <Progress label="Downloading" value={0.4} note="1.0 of 2.5 GB" />
      <Progress label="Starting" value={null} />
    </Section>
  );
}

function States(): ReactNode {
  return (
    <Section title="States">
      <div className={css.grid}>
        <Card>
          <Loading>
            <Skeleton height="1rem" />
            <Skeleton width="60%" height="1rem" />
          </Loading>
        </Card>
        <Card>
          <EmptyState icon={Inbox} title="Nothing here yet" actions={<Button look="primary">Begin</Button>}>
            What this place is for, in a sentence.
          </EmptyState>
        </Card>
        <Card>
          <ErrorState title="It could not be loaded" actions={<Button>Try again</Button>}>
            What happened, and what to do.
          </ErrorState>
        </Card>
      </div>
    </Section>
  );
}

function Overlays(): ReactNode {
  const [open, setOpen] = useState<"dialog" | "confirm" | "drawer" | null>(null);
  const [model, setModel] = useState("a");
  const close = () => setOpen(null);
  return (
    <Section title="Overlays">
      <div className={css.row}>
        <Button onClick={() => setOpen("drawer")}>Drawer</Button>
        <Tooltip text="More about it" keys="Mod+K">
          <Button>Tooltip</Button>
        </Tooltip>
        <Button onClick={() => setOpen("dialog")}>Dialog</Button>
        <Button onClick={() => setOpen("confirm")}>Confirm</Button>
        <Button onClick={() => toast("It is done", { text: "And a second line." })}>Toast</Button>
        <Button onClick={() => toast("It did not work", { tone: "error" })}>Error toast</Button>
        <Menu trigger={<Button icon={MessageSquare}>Menu</Button>}>
          <MenuItem label="Rename" icon={Pencil} keys="F2" onSelect={close} />
          <MenuItem label="Not now" icon={Bell} disabled onSelect={close} />
          <MenuSeparator />
          <MenuChoice
            label="Model"
            value={model}
            options={[
              { value: "a", label: "The first" },
              { value: "b", label: "The second", note: "with a note" },
            ]}
            onChange={setModel}
          />
          <MenuSeparator />
          <MenuItem label="Delete" icon={Trash2} danger onSelect={close} />
        </Menu>
      </div>
      <Drawer open={open === "drawer"} onClose={close} title="A drawer">
        <p>What stands beside the page.</p>
      </Drawer>
      <Dialog open={open === "dialog"} onClose={close} title="A dialog" description="With a description.">
        <TextField label="Title" defaultValue="A weekend in Lisbon" />
        <DialogActions>
          <Button onClick={close}>Cancel</Button>
          <Button look="primary" onClick={close}>
            Save
          </Button>
        </DialogActions>
      </Dialog>
      <Confirm
        open={open === "confirm"}
        title="Delete this chat?"
        description="It cannot be brought back."
        action="Delete"
        onConfirm={close}
        onClose={close}
      />
    </Section>
  );
}
