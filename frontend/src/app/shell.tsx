import { Link, Outlet, useNavigate, useParams, useRouterState } from "@tanstack/react-router";
import {
  Bell,
  Keyboard,
  Menu as MenuIcon,
  MessageCircle,
  Monitor,
  Moon,
  PenLine,
  Search,
  Settings,
  Sun,
  VenetianMask,
} from "lucide-react";
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from "react";
import { useBootstrap } from "@/api/queries/bootstrap";
import { usePatchConfig } from "@/api/queries/config";
import { retryConnection, useConnection } from "@/api/queries/connection";
import { useOpenIncognito } from "@/api/queries/incognito";
import { useSession } from "@/api/queries/sessions";
import { ChatList, titleOf } from "@/features/chat/chat-list";
import { SettingsNav } from "@/features/settings/settings-nav";
import { cx } from "@/lib/cx";
import { NARROW, useMedia } from "@/lib/media";
import { setLook } from "@/lib/theme";
import { Button, IconButton } from "@/ui/button";
import { Mark } from "@/ui/mark";
import { Banner } from "@/ui/surface";
import { Tooltip } from "@/ui/tooltip";
import { t } from "@/words";
import { type Action, handleShortcut, useProvideActions } from "./actions";
import { useLeaveIncognito } from "./leave-incognito";
import { ModelMenu } from "./model-menu";
import css from "./shell.module.css";

const Drawer = lazy(() => import("@/ui/dialog").then((m) => ({ default: m.Drawer })));
const Palette = lazy(() => import("./palette"));
const Shortcuts = lazy(() => import("./shortcuts"));

type Room = "chat" | "notifications" | "settings" | "ui";

function useRoom(): Room {
  const path = useRouterState({ select: (s) => s.location.pathname });
  const first = path.split("/")[1];
  return first === "notifications" || first === "settings" || first === "ui" ? first : "chat";
}

const ROOMS = [
  { room: "chat", to: "/chat", icon: MessageCircle, title: "rooms.chat" },
  { room: "notifications", to: "/notifications", icon: Bell, title: "rooms.notifications" },
  { room: "settings", to: "/settings", icon: Settings, title: "rooms.settings" },
] as const;

function Rail({ room, onPicked }: { room: Room; onPicked?: () => void }): ReactNode {
  const unread = useBootstrap().data?.unread_notifications ?? 0;
  // From another room the way back leads to the incognito chat that is still open, not out of it.
  const incognito = useOpenIncognito();
  const back = room !== "chat" && incognito;
  return (
    <nav className={css.rail} aria-label={t("rooms.label")}>
      <div className={css.brand}>
        <Mark />
      </div>
      {ROOMS.map(({ room: r, to, icon: Icon, title }) => (
        <RailSlot key={r} last={r === "settings"}>
          <Tooltip text={t(title)}>
            <Link
              to={r === "chat" && back ? "/chat/$id" : to}
              {...(r === "chat" && back ? { params: { id: back } } : {})}
              className={css.railLink}
              aria-current={r === room ? "page" : undefined}
              aria-label={r === "notifications" && unread > 0 ? t("rooms.unread", { count: unread }) : t(title)}
              onClick={onPicked}
            >
              <Icon size={21} strokeWidth={1.8} aria-hidden />
              {r === "notifications" && unread > 0 ? (
                <span className={css.count}>{unread > 99 ? "99+" : unread}</span>
              ) : null}
            </Link>
          </Tooltip>
        </RailSlot>
      ))}
    </nav>
  );
}

function RailSlot({ last, children }: { last: boolean; children: ReactNode }): ReactNode {
  return last ? (
    <>
      <span className={css.railSpace} />
      {children}
    </>
  ) : (
    children
  );
}

function Side({ room, onPicked }: { room: Room; onPicked?: () => void }): ReactNode {
  if (room === "chat") return <ChatList {...(onPicked ? { onPicked } : {})} />;
  if (room === "settings") return <SettingsNav {...(onPicked ? { onPicked } : {})} />;
  return null;
}

function useTitle(room: Room): string {
  const { id } = useParams({ strict: false });
  const session = useSession(id);
  const path = useRouterState({ select: (s) => s.location.pathname });
  if (room === "notifications") return t("rooms.notifications");
  if (room === "settings") return t("rooms.settings");
  if (room === "ui") return t("rooms.ui");
  if (session?.incognito || path === "/chat/incognito") return t("incognito.title");
  return session ? titleOf(session) : t("chat.new");
}

/** How the line to the engine stands; quiet for the first moment, so that a blink is not told. */
function ConnectionBanner(): ReactNode {
  const status = useConnection();
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (status === "open") {
      setShown(false);
      return;
    }
    const timer = window.setTimeout(() => setShown(true), status === "lost" ? 700 : 4000);
    return () => window.clearTimeout(timer);
  }, [status]);
  if (!shown) return null;
  return (
    <Banner
      tone="warn"
      live
      actions={
        <Button small onClick={retryConnection}>
          {t("state.tryNow")}
        </Button>
      }
    >
      {t("state.reconnecting")}
    </Banner>
  );
}

function StoppedBanner(): ReactNode {
  const stop = useBootstrap().data?.stop;
  return stop?.stopped ? <Banner tone="bad">{t("state.stopped")}</Banner> : null;
}

/** What the engine has to say about this start, until the person has read it. */
function Notes(): ReactNode {
  const notes = useBootstrap().data?.notes ?? [];
  const [read, setRead] = useState<readonly string[]>([]);
  return notes
    .filter((n) => !read.includes(n))
    .map((n) => (
      <Banner
        key={n}
        tone="warn"
        actions={
          <Button small onClick={() => setRead((r) => [...r, n])}>
            {t("action.dismiss")}
          </Button>
        }
      >
        {n}
      </Banner>
    ));
}

export function Shell(): ReactNode {
  const room = useRoom();
  const narrow = useMedia(NARROW);
  const [drawer, setDrawer] = useState(false);
  const [palette, setPalette] = useState(false);
  const [shortcuts, setShortcuts] = useState(false);
  const navigate = useNavigate();
  const patch = usePatchConfig();
  const title = useTitle(room);
  const incognito = useOpenIncognito();

  const actions = useMemo<Action[]>(() => {
    const theme = (value: "light" | "dark" | "system", icon: Action["icon"], words: string): Action => ({
      id: `theme.${value}`,
      title: words,
      icon,
      group: "app",
      run: () => {
        setLook({ theme: value });
        patch.mutate({ ui: { theme: value } });
      },
    });
    return [
      {
        id: "chat.new",
        title: t("chat.new"),
        icon: PenLine,
        group: "chat",
        shortcut: "Mod+Shift+O",
        run: () => void navigate({ to: "/chat" }),
      },
      {
        id: "chat.incognito",
        title: t("incognito.new"),
        icon: VenetianMask,
        group: "chat",
        run: () => void navigate({ to: "/chat/incognito" }),
      },
      {
        id: "go.chat",
        title: t("go.chat"),
        icon: MessageCircle,
        group: "go",
        shortcut: "Mod+1",
        run: () =>
          void (incognito ? navigate({ to: "/chat/$id", params: { id: incognito } }) : navigate({ to: "/chat" })),
      },
      {
        id: "go.notifications",
        title: t("go.notifications"),
        icon: Bell,
        group: "go",
        shortcut: "Mod+2",
        run: () => void navigate({ to: "/notifications" }),
      },
      {
        id: "go.settings",
        title: t("go.settings"),
        icon: Settings,
        group: "go",
        shortcut: "Mod+,",
        run: () => void navigate({ to: "/settings" }),
      },
      {
        id: "app.palette",
        title: t("palette.open"),
        icon: Search,
        group: "app",
        shortcut: "Mod+K",
        run: () => setPalette((p) => !p),
      },
      {
        id: "app.shortcuts",
        title: t("shortcuts.title"),
        icon: Keyboard,
        group: "app",
        shortcut: "?",
        run: () => setShortcuts(true),
      },
      theme("light", Sun, t("theme.useLight")),
      theme("dark", Moon, t("theme.useDark")),
      theme("system", Monitor, t("theme.useSystem")),
    ];
  }, [navigate, patch.mutate, incognito]);
  useProvideActions(actions);
  useLeaveIncognito();

  useEffect(() => {
    const onKey = (e: KeyboardEvent) => void handleShortcut(e);
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);

  useEffect(() => {
    document.title = room === "chat" && title !== t("chat.new") ? t("app.titleWith", { title }) : t("app.name");
  }, [room, title]);

  useEffect(() => {
    if (!narrow) setDrawer(false);
  }, [narrow]);

  const hasSide = room === "chat" || room === "settings";
  const [newChat, newIncognito] = actions;
  return (
    <div className={cx(css.shell, narrow && css.narrow)}>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place on this page; the router owns the address's hash. */}
      <a className={css.skip} href="#main" onClick={skipToMain}>
        {t("app.skip")}
      </a>
      {narrow ? null : (
        <>
          <Rail room={room} />
          {hasSide ? (
            <div className={css.side}>
              <Side room={room} />
            </div>
          ) : (
            <div />
          )}
        </>
      )}
      <main id="main" className={cx(css.main, !hasSide && css.wideMain)} tabIndex={-1}>
        <header className={css.bar}>
          {narrow ? <IconButton label={t("rooms.open")} icon={MenuIcon} onClick={() => setDrawer(true)} /> : null}
          <h1 className={css.barTitle}>{title}</h1>
          {room === "chat" ? <ModelMenu /> : null}
          {room === "chat" && newIncognito && !narrow ? (
            <IconButton label={newIncognito.title} icon={newIncognito.icon} onClick={newIncognito.run} />
          ) : null}
          {room === "chat" && newChat ? (
            <IconButton label={newChat.title} keys={newChat.shortcut ?? ""} icon={newChat.icon} onClick={newChat.run} />
          ) : null}
          <IconButton label={t("palette.open")} keys="Mod+K" icon={Search} onClick={() => setPalette(true)} />
        </header>
        <div className={css.banners}>
          <ConnectionBanner />
          <StoppedBanner />
          <Notes />
        </div>
        <div className={css.room}>
          <Outlet />
        </div>
      </main>
      <Suspense>
        {narrow ? (
          <Drawer open={drawer} onClose={() => setDrawer(false)} title={t("rooms.label")}>
            <Rail room={room} {...(hasSide ? {} : { onPicked: () => setDrawer(false) })} />
            <div className={cx(css.side, css.drawerSide)}>
              <Side room={room} onPicked={() => setDrawer(false)} />
            </div>
          </Drawer>
        ) : null}
        {palette ? <Palette onClose={() => setPalette(false)} /> : null}
        {shortcuts ? <Shortcuts onClose={() => setShortcuts(false)} /> : null}
      </Suspense>
    </div>
  );
}

function skipToMain(e: { preventDefault: () => void }): void {
  // The address after "#" is the room's: the link moves focus and nothing else.
  e.preventDefault();
  document.getElementById("main")?.focus();
}
