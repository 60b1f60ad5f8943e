import { Bell, Inbox, MessageSquare, Moon, Pencil, Sun, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button, type ButtonLook, IconButton } from "./button";
import { Confirm, Dialog, DialogActions } from "./dialog";
import { Field, Switch, TextArea, TextField } from "./field";
import { Mark } from "./mark";
import { Menu, MenuChoice, MenuItem, MenuSeparator } from "./menu";
import { Segmented, Select } from "./select";
import { Badge, Banner, Card, EmptyState, ErrorState, Keys, Loading, Progress, Skeleton, Spinner } from "./surface";
import { When } from "./time";
import { toast } from "./toast";

// The words of this page are for who builds the window, so they are not in the catalogue.
const looks: readonly ButtonLook[] = ["primary", "secondary", "ghost", "danger"];
const tones = ["plain", "good", "warn", "bad", "accent"] as const;
const options = [
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
];

/** Every component of the design system in every state, to look at and to photograph. Development builds only. */
export default function Gallery(): ReactNode {
  return (
    <main id="main" style={{ overflow: "auto", height: "100%", padding: "1.5rem", display: "grid", gap: "1.5rem" }}>
      <h1>
        <Mark size={32} /> Components
      </h1>
      <Buttons />
      <Fields />
      <Surfaces />
      <States />
      <Overlays />
    </main>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <Card>
        <div style={{ display: "flex", flexWrap: "wrap", gap: "0.75rem", alignItems: "center" }}>{children}</div>
      </Card>
    </section>
  );
}

function Buttons(): ReactNode {
  return (
    <Section title="Buttons">
      {looks.map((look) => (
        <span key={look} style={{ display: "inline-flex", gap: "0.5rem" }}>
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
        </span>
      ))}
      <IconButton label="Rename" icon={Pencil} keys="Mod+R" />
      <IconButton label="Delete" icon={Trash2} small disabled />
      <Keys keys="Mod+K" />
      <Spinner />
    </Section>
  );
}

function Fields(): ReactNode {
  const [on, setOn] = useState(true);
  const [theme, setTheme] = useState("light");
  return (
    <Section title="Controls">
      <TextField label="Name" placeholder="Maya" />
      <TextField label="Port" hint="Between 1 and 65535." problem="Use a number up to 65535." defaultValue="70000" />
      <TextField label="Read only" defaultValue="7777" disabled />
      <Field label="About you">
        <TextArea rows={3} defaultValue="Two lines&#10;of text" />
      </Field>
      <div style={{ flexBasis: "100%" }}>
        <Field label="Titles" hint="Let a model name new chats." row>
          <Switch checked={on} onChange={setOn} label="Titles" />
        </Field>
      </div>
      <Switch checked={false} onChange={setOn} disabled label="Cannot be changed" />
      <Select value={theme} options={options} onChange={setTheme} label="Theme" />
      <Select value={theme} options={options} onChange={setTheme} label="Theme, disabled" disabled />
      <Segmented value={theme} options={options} onChange={setTheme} label="Theme, all in sight" />
    </Section>
  );
}

function Surfaces(): ReactNode {
  return (
    <Section title="Surfaces">
      {tones.map((tone) => (
        <Badge key={tone} tone={tone}>
          {tone}
        </Badge>
      ))}
      {tones.map((tone) => (
        <div key={tone} style={{ flexBasis: "100%" }}>
          <Banner tone={tone} actions={<Button small>Do it</Button>}>
            A line that says how things stand.
          </Banner>
        </div>
      ))}
      <div style={{ flexBasis: "20rem" }}>
        <Progress label="Downloading" value={0.4} note="1.0 of 2.5 GB" />
        <Progress label="Starting" value={null} />
      </div>
      <When at="2026-11-30T08:00:00.000000Z" />
    </Section>
  );
}

function States(): ReactNode {
  return (
    <Section title="States">
      <div style={{ flex: "1 1 18rem" }}>
        <Loading>
          <Skeleton height="1rem" />
          <Skeleton width="60%" height="1rem" />
        </Loading>
      </div>
      <EmptyState icon={Inbox} title="Nothing here yet" actions={<Button look="primary">Begin</Button>}>
        What this place is for, in a sentence.
      </EmptyState>
      <ErrorState title="It could not be loaded" actions={<Button>Try again</Button>}>
        What happened, and what to do.
      </ErrorState>
    </Section>
  );
}

function Overlays(): ReactNode {
  const [open, setOpen] = useState<"dialog" | "confirm" | null>(null);
  const [model, setModel] = useState("a");
  const close = () => setOpen(null);
  return (
    <Section title="Overlays">
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
