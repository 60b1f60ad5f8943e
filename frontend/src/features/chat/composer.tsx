import { ArrowUp, Paperclip, Square, X } from "lucide-react";
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { ApiError } from "@/api/client";
import { useUpload } from "@/api/queries/files";
import type { Usage } from "@/api/queries/turns";
import { cx } from "@/lib/cx";
import { readDraft, writeDraft } from "@/lib/drafts";
import { newId } from "@/lib/ids";
import { imeOwns } from "@/lib/ime";
import { Button, IconButton } from "@/ui/button";
import { Spinner } from "@/ui/surface";
import { toast } from "@/ui/toast";
import { Tooltip } from "@/ui/tooltip";
import { t } from "@/words";
import css from "./chat.module.css";

export interface ComposerHandle {
  focus: () => void;
  put: (text: string) => void;
}

interface Attached {
  id: string;
  file: string;
  /** The stored name, once the file is there. */
  name: string | null;
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

function useAttachments() {
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const upload = useUpload();
  const add = (list: Iterable<File>) => {
    for (const file of list) {
      const id = newId();
      setFiles((f) => [...f, { id, file: file.name, name: null }]);
      // By its promise: callbacks given to `mutate` are called for the newest file only.
      upload.mutateAsync(file).then(
        (stored) => setFiles((f) => f.map((x) => (x.id === id ? { ...x, name: stored.name } : x))),
        (e: unknown) => {
          setFiles((f) => f.filter((x) => x.id !== id));
          toast(t("chat.uploadFailed", { name: file.name }), { text: (e as ApiError).detail, tone: "error" });
        },
      );
    }
  };
  const remove = (id: string) => setFiles((f) => f.filter((x) => x.id !== id));
  const clear = () => setFiles([]);
  return { files, add, remove, clear, waiting: files.some((f) => f.name === null) };
}

export function Composer(props: {
  chatKey: string;
  ref?: Ref<ComposerHandle>;
  running: boolean;
  usage: Usage | null;
  lastText: string | null;
  onSend: (text: string, attachments: string[]) => void;
  onStop: (() => void) | null;
}): ReactNode {
  const { chatKey, running, lastText, onSend, onStop } = props;
  const [text, setText] = useState(() => readDraft(chatKey));
  const [busyHint, setBusyHint] = useState(false);
  const [dropping, setDropping] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const attached = useAttachments();

  const write = (next: string) => {
    setText(next);
    writeDraft(chatKey, next);
    setBusyHint(false);
  };

  useImperativeHandle(props.ref, () => ({
    focus: () => area.current?.focus(),
    put: (next) => {
      write(next);
      requestAnimationFrame(() => {
        area.current?.focus();
        area.current?.setSelectionRange(next.length, next.length);
      });
    },
  }));

  // biome-ignore lint/correctness/useExhaustiveDependencies: its height follows its text
  useLayoutEffect(() => {
    const el = area.current;
    if (!el) return;
    el.style.height = "auto";
    el.style.height = `${el.scrollHeight}px`;
  }, [text]);

  const sendable = (text.trim() !== "" || attached.files.length > 0) && !attached.waiting;

  const send = () => {
    if (!sendable) return;
    if (running) {
      setBusyHint(true);
      return;
    }
    onSend(
      text.trim(),
      attached.files.flatMap((f) => (f.name ? [f.name] : [])),
    );
    write("");
    attached.clear();
  };

  const onKeyDown = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    if (imeOwns(e.nativeEvent)) return;
    if (e.key === "Enter" && !e.shiftKey && !e.altKey) {
      e.preventDefault();
      send();
    } else if (e.key === "ArrowUp" && text === "" && lastText) {
      e.preventDefault();
      write(lastText);
    } else if (e.key === "Escape" && running && onStop) {
      e.preventDefault();
      onStop();
    }
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
        placeholder={t("chat.placeholder")}
        onChange={(e) => write(e.target.value)}
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
          {busyHint ? t("chat.stillWriting") : ""}
        </span>
        {props.usage ? <Meter usage={props.usage} /> : null}
        {running && onStop ? (
          <Button look="secondary" small icon={Square} className={css.send} onClick={onStop}>
            {t("action.stop")}
          </Button>
        ) : (
          <IconButton
            label={t("action.send")}
            keys="Enter"
            icon={ArrowUp}
            look="primary"
            small
            className={css.send}
            disabled={!sendable || running}
            onClick={send}
          />
        )}
      </div>
    </div>
  );
}
