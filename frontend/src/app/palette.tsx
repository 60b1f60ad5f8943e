import { Dialog } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { MessageCircle } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { useSessions } from "@/api/queries/sessions";
import { titleOf } from "@/features/chat/chat-list";
import { imeOwns } from "@/lib/ime";
import overlay from "@/ui/overlay.module.css";
import { Keys } from "@/ui/surface";
import { t } from "@/words";
import { type Action, usable, useActions } from "./actions";
import css from "./shell.module.css";

const GROUPS = ["chat", "go", "app"] as const;
/** So many chats are offered; more are found by typing. */
const CHATS = 200;

/** Everything that can be done and every chat, a few letters away. */
export default function Palette({ onClose }: { onClose: () => void }): ReactNode {
  const actions = useActions();
  const sessions = useSessions().data ?? [];
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState(true);
  const then = useRef<(() => void) | null>(null);

  const close = (run?: () => void) => {
    then.current = run ?? null;
    setOpen(false);
  };
  // What was picked runs once the palette is gone, so that focus is its to place.
  const closed = (isOpen: boolean) => {
    if (isOpen) return;
    onClose();
    then.current?.();
  };
  const guard = (e: KeyboardEvent) => {
    if (imeOwns(e.nativeEvent)) e.stopPropagation();
  };
  const shown = actions.filter((a) => usable(a) && a.id !== "app.palette");

  return (
    <Dialog.Root open={open} onOpenChange={(o) => !o && close()} onOpenChangeComplete={closed}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay.backdrop} />
        <Dialog.Popup
          className={css.palette}
          initialFocus={input}
          finalFocus={() => then.current === null}
          onKeyDownCapture={guard}
        >
          <Dialog.Title className="sr-only">{t("palette.title")}</Dialog.Title>
          <Command label={t("palette.title")} loop>
            <Command.Input ref={input} placeholder={t("palette.placeholder")} />
            <Command.List>
              <Command.Empty>{t("palette.none")}</Command.Empty>
              {GROUPS.map((group) => (
                <Group
                  key={group}
                  heading={t(`palette.group.${group}`)}
                  actions={shown.filter((a) => a.group === group)}
                  onPick={(a) => close(a.run)}
                />
              ))}
              {sessions.length > 0 ? (
                <Command.Group heading={t("chat.chats")}>
                  {sessions.slice(0, CHATS).map((s) => (
                    <Command.Item
                      key={s.id}
                      value={`${titleOf(s)} ${s.id}`}
                      onSelect={() => close(() => void navigate({ to: "/chat/$id", params: { id: s.id } }))}
                    >
                      <MessageCircle size={17} aria-hidden />
                      <span>{titleOf(s)}</span>
                    </Command.Item>
                  ))}
                </Command.Group>
              ) : null}
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Group({
  heading,
  actions,
  onPick,
}: {
  heading: string;
  actions: readonly Action[];
  onPick: (a: Action) => void;
}): ReactNode {
  if (actions.length === 0) return null;
  return (
    <Command.Group heading={heading}>
      {actions.map((a) => (
        <Command.Item key={a.id} value={`${a.title} ${a.id}`} onSelect={() => onPick(a)}>
          <a.icon size={17} aria-hidden />
          <span>{a.title}</span>
          {a.shortcut ? <Keys keys={a.shortcut} /> : null}
        </Command.Item>
      ))}
    </Command.Group>
  );
}
