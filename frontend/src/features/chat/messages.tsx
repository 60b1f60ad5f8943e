import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { type MouseEvent, type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { ChatItem } from "@/api/queries/chat";
import { t } from "@/words";
import css from "./chat.module.css";
import { Message, type MessageHandlers } from "./message";

/** So near the end counts as being there. */
const NEAR_PX = 56;
const PADDING = 24;

function isAtEnd(el: Element): boolean {
  return el.scrollHeight - el.scrollTop - el.clientHeight < NEAR_PX;
}

/** A first guess at heights, so that the scroll bar is about right before anything was measured. */
function guess(item: ChatItem): number {
  if (item.kind === "event") return 48;
  if (item.kind === "reply") {
    const letters = item.parts.reduce((n, p) => n + (p.kind === "message" ? p.text.length : 4), 0);
    return 84 + Math.ceil(letters / 85) * 26;
  }
  return 92 + Math.floor(item.text.length / 70) * 24;
}

/**
 * The messages of a chat, drawn only where they are seen. The view stays where the reader is; at the end it follows.
 */
export function Messages(props: {
  items: readonly ChatItem[];
  running: boolean;
  showThinking: boolean;
  handlers: MessageHandlers;
  /** Changes when the person sent something: the view then goes to the end. */
  sent: number;
}): ReactNode {
  const { items, running, showThinking, handlers, sent } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const [pill, setPill] = useState(false);

  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => {
      const item = items[i];
      return item ? guess(item) : 80;
    },
    getItemKey: (i) => items[i]?.key ?? i,
    overscan: 4,
    paddingStart: PADDING,
    paddingEnd: PADDING,
    initialOffset: () => Number.MAX_SAFE_INTEGER,
  });

  // Only what is wholly above the view moves it: what grows in sight grows downwards, and what was pressed stays put.
  // By the element's own place: until it was scrolled for the first time, the other one is a wish.
  virtual.shouldAdjustScrollPositionOnItemSizeChange = (item) => item.end <= (scroller.current?.scrollTop ?? 0);

  // What waits for the reply stands under it; the reply is still the newest.
  const end = items.findLastIndex((i) => !(i.kind === "user" && i.state === "queued"));
  const total = virtual.getTotalSize();
  const toEnd = useCallback(() => {
    const el = scroller.current;
    if (el) el.scrollTop = el.scrollHeight;
    atEnd.current = true;
    setPill(false);
  }, []);

  // What a person opens stays where it is, also at the end: the rest grows below. Until more is written, or they scroll.
  const held = useRef(false);
  const onToggle = useCallback((e: MouseEvent) => {
    if ((e.target as Element).closest("[aria-expanded]:not([aria-haspopup])")) held.current = true;
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each change of height
  useLayoutEffect(() => {
    const el = scroller.current;
    if (el && held.current) atEnd.current = isAtEnd(el);
    else if (atEnd.current) toEnd();
  }, [total, toEnd]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `sent` is what it waits for
  useLayoutEffect(() => toEnd(), [sent, toEnd]);

  const text = useLastLength(items);
  const seen = useRef(text);
  useEffect(() => {
    if (text !== seen.current) held.current = false;
    if (running && !atEnd.current && text !== seen.current) setPill(true);
    seen.current = text;
  }, [text, running]);

  const onScroll = useCallback(() => {
    const el = scroller.current;
    if (!el) return;
    held.current = false;
    atEnd.current = isAtEnd(el);
    if (atEnd.current) setPill(false);
  }, []);

  return (
    <div className={css.view}>
      <section
        ref={scroller}
        className={css.scroller}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        onClickCapture={onToggle}
        aria-label={t("chat.messages")}
      >
        <div className={css.inner} style={{ height: total }}>
          {virtual.getVirtualItems().map((v) => {
            const item = items[v.index];
            if (!item) return null;
            return (
              <div
                key={v.key}
                ref={virtual.measureElement}
                data-index={v.index}
                className={css.itemWrap}
                style={{ transform: `translateY(${v.start}px)` }}
              >
                <Message
                  item={item}
                  last={v.index === end}
                  busy={running}
                  showThinking={showThinking}
                  handlers={handlers}
                />
              </div>
            );
          })}
        </div>
      </section>
      {pill ? (
        <button type="button" className={css.pill} onClick={toEnd}>
          <ArrowDown size={15} aria-hidden />
          {t("chat.newText")}
        </button>
      ) : null}
    </div>
  );
}

function useLastLength(items: readonly ChatItem[]): number {
  const last = items.findLast((i) => i.kind === "reply");
  if (last?.kind !== "reply") return items.length;
  return last.parts.reduce((n, p) => n + (p.kind === "message" ? p.text.length : 1), items.length);
}
