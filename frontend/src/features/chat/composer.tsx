import { ArrowUp, Paperclip, Pencil, Square, X } from "lucide-react";
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { Usage } from "@/api/queries/turns";
import { cx } from "@/lib/cx";
import { readDraft, writeDraft } from "@/lib/drafts";
import { imeOwns } from "@/lib/ime";
import { Button, IconButton } from "@/ui/button";
import { Spinner } from "@/ui/surface";
import { Tooltip } from "@/ui/tooltip";
import { t } from "@/words";
import css from "./chat.module.css";
import { useAttachments } from "./use-attachments";

export interface ComposerHandle {
  focus: () => void;
  put: (text: string) => void;
}

/** An earlier message that is being changed. */
export interface Editing {
  id: string;
  text: string;
  attachments: readonly string[];
}

const RING = 2 * Math.PI * 7;

function Meter({ usage }: { usage: Usage }): ReactNode {
  if (usage.percent === null) return null;
  const share = Math.min(1, usage.percent / 100);
  const label = t("chat.meter", { percent: usage.percent });
  return (
    <Tooltip text={t("chat.meterHint", { percent: usage.percent, used: usage.used ?? 0, length: usage.length ?? 0 })}>
      <button type="button" className={cx(css.meter, usage.percent >= 85 && css.full)} aria-label={label}>
        <svg width="16" height="16" viewBox="0 0 18 18" aria-hidden="true">
          <circle cx="9" cy="9" r="7" />
          <circle cx="9" cy="9" r="7" strokeDasharray={`${RING * share} ${RING}`} transform="rotate(-90 9 9)" />
        </svg>
        <span className="tabular">{usage.percent}%</span>
      </button>
    </Tooltip>
  );
}

export interface ComposerProps {
  chatKey: string;
  ref?: Ref<ComposerHandle>;
  running: boolean;
  usage: Usage | null;
  editing: Editing | null;
  /** Up in an empty box; null when there is nothing to change. */
  onEditLast: (() => void) | null;
  onEditEnd: () => void;
  onSend: (text: string, attachments: readonly string[]) => void;
  onStop: (() => void) | null;
}

/** The text of the box: a draft that is kept, but for a while when an earlier message is changed in its place. */
function useText(chatKey: string, editing: Editing | null) {
  const [text, setText] = useState(() => readDraft(chatKey));
  const before = useRef<string | null>(null);
  const latest = useRef(text);
  latest.current = text;
  useEffect(() => {
    if (editing) {
      before.current ??= latest.current;
      setText(editing.text);
    } else if (before.current !== null) {
      setText(before.current);
      before.current = null;
    }
  }, [editing]);
  const write = (next: string) => {
    setText(next);
    if (!editing) writeDraft(chatKey, next);
  };
  return { text, write };
}

export function Composer(props: ComposerProps): ReactNode {
  const { chatKey, running, editing, onSend, onStop, onEditLast, onEditEnd } = props;
  const { text, write } = useText(chatKey, editing);
  const [hint, setHint] = useState("");
  /** Enter was pressed while a file was on its way. */
  const [held, setHeld] = useState(false);
  const [dropping, setDropping] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const attached = useAttachments(() => setHeld(false));
  const { put, waiting } = attached;

  const type = (next: string) => {
    write(next);
    setHint("");
    setHeld(false);
  };

  useImperativeHandle(props.ref, () => ({
    focus: () => area.current?.focus(),
    put: (next) => {
      type(next);
      toEnd(area.current);
    },
  }));

  useEffect(() => {
    if (!editing) return;
    put(editing.attachments);
    toEnd(area.current);
    return () => put([]);
  }, [editing, put]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: its height follows its text
  useLayoutEffect(() => {
    const el = area.current;
    if (!el) return;
    el.style.height = "auto";
    el.style.height = `${el.scrollHeight}px`;
  }, [text]);

  const sendable = text.trim() !== "" || attached.files.length > 0;

  const send = () => {
    if (!sendable) return;
    if (editing && running) {
      setHint(t("chat.waitToChange"));
      return;
    }
    if (waiting) {
      setHeld(true);
      return;
    }
    onSend(text.trim(), attached.names);
    setHeld(false);
    setHint("");
    if (editing) return;
    write("");
    put([]);
  };
  const sendNow = useRef(send);
  sendNow.current = send;
  useEffect(() => {
    if (held && !waiting) sendNow.current();
  }, [held, waiting]);

  const onKeyDown = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    if (imeOwns(e.nativeEvent)) return;
    if (e.key === "Enter" && !e.shiftKey && !e.altKey) send();
    else if (e.key === "ArrowUp" && text === "" && !editing && onEditLast) onEditLast();
    else if (e.key === "Escape" && held) setHeld(false);
    else if (e.key === "Escape" && editing) onEditEnd();
    else if (e.key === "Escape" && running && onStop) onStop();
    else return;
    e.preventDefault();
  };

  const onPaste = (e: ClipboardEvent) => {
    if (e.clipboardData.files.length === 0) return;
    e.preventDefault();
    attached.add(e.clipboardData.files);
  };

  const onDrop = (e: DragEvent) => {
    e.preventDefault();
    setDropping(false);
    attached.add(e.dataTransfer.files);
  };

  const said = held ? t("chat.uploading", { count: attached.files.filter((f) => !f.name).length }) : hint;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way to what the button does
    <div
      className={cx(css.composer, dropping && css.dropping)}
      onDragOver={(e) => {
        if (!e.dataTransfer.types.includes("Files")) return;
        e.preventDefault();
        setDropping(true);
      }}
      onDragLeave={() => setDropping(false)}
      onDrop={onDrop}
    >
      {editing ? (
        <div className={css.editing}>
          <Pencil size={14} aria-hidden />
          <span className={css.grow}>{t("chat.editing")}</span>
          <Button small look="ghost" onClick={onEditEnd}>
            {t("chat.stopEditing")}
          </Button>
        </div>
      ) : null}
      {attached.files.length > 0 ? (
        <ul className={css.chips} aria-label={t("chat.attachments")}>
          {attached.files.map((f) => (
            <li key={f.id} className={css.chip}>
              {f.name === null ? <Spinner size={14} /> : <Paperclip size={14} aria-hidden />}
              <span>{f.file}</span>
              <IconButton
                small
                label={t("chat.detach", { name: f.file })}
                icon={X}
                onClick={() => attached.remove(f.id)}
              />
            </li>
          ))}
        </ul>
      ) : null}
      <textarea
        ref={area}
        className={css.textarea}
        rows={1}
        value={text}
        aria-label={t("chat.composer")}
        placeholder={running && !editing ? t("chat.steerPlaceholder") : t("chat.placeholder")}
        onChange={(e) => type(e.target.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div className={css.tools}>
        <IconButton label={t("chat.attach")} icon={Paperclip} small onClick={() => picker.current?.click()} />
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(e) => {
            attached.add(e.target.files ?? []);
            e.target.value = "";
          }}
        />
        <span className={cx(css.hintLine, css.grow)} role="status">
          {said}
        </span>
        {props.usage ? <Meter usage={props.usage} /> : null}
        {running && onStop ? (
          <Button look="secondary" small icon={Square} className={css.send} onClick={onStop}>
            {t("action.stop")}
          </Button>
        ) : null}
        {!running || sendable || !onStop ? (
          <IconButton
            label={t("action.send")}
            keys="Enter"
            icon={ArrowUp}
            look="primary"
            small
            className={css.send}
            disabled={!sendable}
            onClick={send}
          />
        ) : null}
      </div>
    </div>
  );
}

function toEnd(el: HTMLTextAreaElement | null): void {
  requestAnimationFrame(() => {
    el?.focus();
    el?.setSelectionRange(el.value.length, el.value.length);
  });
}
