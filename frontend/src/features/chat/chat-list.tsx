import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Ellipsis, Pencil, Search, Trash2 } from "lucide-react";
import {
  type KeyboardEvent,
  lazy,
  type ReactNode,
  Suspense,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { ApiError } from "@/api/client";
import { useDeleteSession, useSessionSearch, useSessions, useUpdateSession } from "@/api/queries/sessions";
import { useConversation } from "@/api/queries/turns";
import type { SearchHit, Session } from "@/api/shapes";
import { useProvideActions } from "@/app/actions";
import { imeOwns } from "@/lib/ime";
import { Button, IconButton } from "@/ui/button";
import { Menu, MenuItem } from "@/ui/menu";
import { ErrorState, Loading, Skeleton } from "@/ui/surface";
import { When } from "@/ui/time";
import { toast } from "@/ui/toast";
import { t } from "@/words";
import css from "./chat.module.css";

const Confirm = lazy(() => import("@/ui/dialog").then((m) => ({ default: m.Confirm })));

type Age = "today" | "yesterday" | "week" | "older";

function ageOf(iso: string, now: Date): Age {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const at = Date.parse(iso);
  const day = 86_400_000;
  if (at >= midnight) return "today";
  if (at >= midnight - day) return "yesterday";
  return at >= midnight - 6 * day ? "week" : "older";
}

export function titleOf(s: Session): string {
  return s.title || t("chat.untitled");
}

function Rename(props: { session: Session; onSave: (title: string) => void; onDone: () => void }): ReactNode {
  const { session, onSave, onDone } = props;
  const [title, setTitle] = useState(session.title);
  const field = useRef<HTMLInputElement>(null);
  const over = useRef(false);
  useEffect(() => field.current?.select(), []);

  const end = (save: boolean) => {
    if (over.current) return;
    over.current = true;
    const next = title.trim();
    if (save && next && next !== session.title) onSave(next);
    onDone();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (imeOwns(e.nativeEvent)) return;
    if (e.key === "Enter") end(true);
    else if (e.key === "Escape") {
      e.stopPropagation();
      end(false);
    }
  };
  return (
    <input
      ref={field}
      className={css.rename}
      value={title}
      aria-label={t("chat.renameLabel")}
      onChange={(e) => setTitle(e.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => end(true)}
    />
  );
}

function Row(props: {
  session: Session;
  current: boolean;
  renaming: boolean;
  onRename: (id: string | null) => void;
  onDelete: (s: Session) => void;
}): ReactNode {
  const { session, current, renaming, onRename, onDelete } = props;
  const running = useConversation(session.id).turns.some((x) => x.state === "running");
  const link = useRef<HTMLAnchorElement>(null);
  // The row's, not the field's: the field is gone before the answer comes.
  const update = useUpdateSession();
  const save = (title: string) =>
    update.mutate(
      { id: session.id, title },
      {
        onError: (e) => toast(t("chat.renameFailed"), { text: (e as unknown as ApiError).detail, tone: "error" }),
      },
    );
  if (renaming) {
    return (
      <li>
        <Rename
          session={session}
          onSave={save}
          onDone={() => {
            onRename(null);
            requestAnimationFrame(() => link.current?.focus());
          }}
        />
      </li>
    );
  }
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "F2") onRename(session.id);
    else if (e.key === "Delete") onDelete(session);
    else return;
    e.preventDefault();
  };
  return (
    <li className={css.row} data-current={current}>
      <Link
        ref={link}
        to="/chat/$id"
        params={{ id: session.id }}
        className={css.rowLink}
        aria-current={current ? "page" : undefined}
        onKeyDown={onKeyDown}
        data-row
      >
        <span className={css.rowTitle}>{titleOf(session)}</span>
        {running ? (
          <>
            <span className={css.dot} aria-hidden />
            <span className="sr-only">{t("chat.writing")}</span>
          </>
        ) : null}
      </Link>
      <Menu
        trigger={
          <IconButton
            small
            className={css.rowMenu}
            label={t("chat.more", { title: titleOf(session) })}
            icon={Ellipsis}
          />
        }
      >
        <MenuItem label={t("action.rename")} icon={Pencil} keys="F2" onSelect={() => onRename(session.id)} />
        <MenuItem label={t("action.delete")} icon={Trash2} danger onSelect={() => onDelete(session)} />
      </Menu>
    </li>
  );
}

/** The words that were looked for, marked in what was found. */
function Marked({ text, query }: { text: string; query: string }): ReactNode {
  const words = query
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (words.length === 0) return text;
  return text
    .split(new RegExp(`(${words.join("|")})`, "gi"))
    .map((part, i) => (i % 2 ? <mark key={i}>{part}</mark> : part));
}

function Hits({
  hits,
  sessions,
  query,
}: {
  hits: readonly SearchHit[];
  sessions: readonly Session[];
  query: string;
}): ReactNode {
  const titles = useMemo(() => new Map(sessions.map((s) => [s.id, titleOf(s)])), [sessions]);
  return (
    <section aria-label={t("chat.inMessages")}>
      <h3 className={css.heading}>{t("chat.inMessages")}</h3>
      <ul>
        {hits.map((h) => (
          <li key={h.message_id}>
            <Link to="/chat/$id" params={{ id: h.session_id }} className={css.hit} data-row>
              <span className={css.rowTitle}>{titles.get(h.session_id) ?? t("chat.untitled")}</span>
              <small>
                <Marked text={h.snippet.replace(/<\/?(?:b|mark)>/g, "")} query={query} />
              </small>
              <small>
                <When at={h.created_at} />
              </small>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Up and down move between rows; the rows stay ordinary links for everything else. */
function moveByArrows(e: KeyboardEvent<HTMLElement>): void {
  if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
  const rows = [...e.currentTarget.querySelectorAll<HTMLElement>("[data-row], [data-search]")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = rows[at + (e.key === "ArrowDown" ? 1 : -1)];
  if (at < 0 || !next) return;
  e.preventDefault();
  next.focus();
}

export function ChatList({ onPicked }: { onPicked?: () => void }): ReactNode {
  const sessions = useSessions();
  const { id: current } = useParams({ strict: false });
  const [query, setQuery] = useState("");
  const [renaming, setRenaming] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<Session | null>(null);
  // From the first question on it stays, so that it can go as it came.
  const asked = useRef(false);
  asked.current ||= deleting !== null;
  const wanted = useDeferredValue(query);
  const search = useSessionSearch(wanted);
  const remove = useDeleteSession();
  const navigate = useNavigate();

  const list = sessions.data ?? [];
  const shown = useMemo(() => {
    const q = wanted.trim().toLocaleLowerCase();
    return q ? list.filter((s) => titleOf(s).toLocaleLowerCase().includes(q)) : list;
  }, [list, wanted]);
  const groups = useMemo(() => {
    const now = new Date();
    const out = new Map<Age, Session[]>();
    for (const s of shown) {
      const age = ageOf(s.updated_at, now);
      out.set(age, [...(out.get(age) ?? []), s]);
    }
    return [...out];
  }, [shown]);

  const here = list.find((s) => s.id === current);
  const actions = useMemo(
    () => [
      {
        id: "chat.rename",
        title: t("chat.renameThis"),
        icon: Pencil,
        group: "chat" as const,
        enabled: here !== undefined,
        run: () => here && setRenaming(here.id),
      },
      {
        id: "chat.delete",
        title: t("chat.deleteThis"),
        icon: Trash2,
        group: "chat" as const,
        enabled: here !== undefined,
        run: () => here && setDeleting(here),
      },
    ],
    [here],
  );
  useProvideActions(actions);

  const doDelete = () => {
    if (!deleting) return;
    const { id } = deleting;
    remove.mutate(id, {
      onSuccess: () => {
        setDeleting(null);
        if (id === current) void navigate({ to: "/chat" });
      },
      onError: (e) => {
        setDeleting(null);
        toast(t("chat.deleteFailed"), { text: (e as unknown as ApiError).detail, tone: "error" });
      },
    });
  };

  return (
    <nav className={css.list} aria-label={t("chat.chats")} onKeyDown={moveByArrows}>
      <div className={css.listHead}>
        <div className={css.search}>
          <Search size={15} aria-hidden />
          <input
            type="search"
            value={query}
            placeholder={t("chat.search")}
            aria-label={t("chat.search")}
            onChange={(e) => setQuery(e.target.value)}
            onKeyDown={(e) => {
              if (e.key === "Escape" && query) {
                e.stopPropagation();
                setQuery("");
              }
            }}
            data-search
          />
        </div>
      </div>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a click on a link inside closes the drawer; Enter is a click too */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
      <div
        className={css.rows}
        onClick={(e) => {
          if ((e.target as HTMLElement).closest("a")) onPicked?.();
        }}
      >
        {sessions.isPending ? (
          <Loading>
            <div className={css.sketch}>
              <Skeleton width="80%" />
              <Skeleton width="60%" />
              <Skeleton width="70%" />
            </div>
          </Loading>
        ) : sessions.isError ? (
          <ErrorState
            title={t("chat.listError")}
            actions={<Button onClick={() => void sessions.refetch()}>{t("action.retry")}</Button>}
          >
            {(sessions.error as unknown as ApiError).detail}
          </ErrorState>
        ) : null}
        {groups.map(([age, rows]) => (
          <section key={age} aria-label={t(`chat.age.${age}`)}>
            <h3 className={css.heading}>{t(`chat.age.${age}`)}</h3>
            <ul>
              {rows.map((s) => (
                <Row
                  key={s.id}
                  session={s}
                  current={s.id === current}
                  renaming={renaming === s.id}
                  onRename={setRenaming}
                  onDelete={setDeleting}
                />
              ))}
            </ul>
          </section>
        ))}
        {wanted.trim() && search.data && search.data.length > 0 ? (
          <Hits hits={search.data} sessions={list} query={wanted} />
        ) : null}
        {sessions.isSuccess && shown.length === 0 && !(search.data && search.data.length > 0) ? (
          <p className={css.none}>{wanted.trim() ? t("chat.noneFound") : t("chat.noneYet")}</p>
        ) : null}
      </div>
      <Suspense>
        {asked.current ? (
          <Confirm
            open={deleting !== null}
            title={t("chat.deleteTitle")}
            description={t("chat.deleteText", { title: deleting ? titleOf(deleting) : "" })}
            action={t("action.delete")}
            busy={remove.isPending}
            onConfirm={doDelete}
            onClose={() => setDeleting(null)}
          />
        ) : null}
      </Suspense>
    </nav>
  );
}
