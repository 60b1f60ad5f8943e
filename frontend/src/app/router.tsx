import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { ChatPage, IncognitoPage, NewChatPage } from "@/features/chat/chat-page";
import { NotFound, RoomFailed } from "./failures";
import { Shell } from "./shell";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: RoomFailed });

const index = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/chat" });
  },
});

const newChat = createRoute({ getParentRoute: () => root, path: "/chat", component: NewChatPage });
const incognito = createRoute({ getParentRoute: () => root, path: "/chat/incognito", component: IncognitoPage });
const startingChat = createRoute({ getParentRoute: () => root, path: "/chat/new/$key", component: NewChatPage });
const chat = createRoute({ getParentRoute: () => root, path: "/chat/$id", component: ChatPage });

const notifications = createRoute({
  getParentRoute: () => root,
  path: "/notifications",
  component: lazyRouteComponent(() => import("@/features/notifications/notifications-page")),
});

const settingsPage = lazyRouteComponent(() => import("@/features/settings/settings-page"));
const settings = createRoute({ getParentRoute: () => root, path: "/settings", component: settingsPage });
const section = createRoute({ getParentRoute: () => root, path: "/settings/$section", component: settingsPage });

/** Every component in every state; it is not in a build for people. */
const gallery = import.meta.env.DEV
  ? [
      createRoute({
        getParentRoute: () => root,
        path: "/ui",
        component: lazyRouteComponent(() => import("./gallery-page")),
      }),
    ]
  : [];

const routeTree = root.addChildren([
  index,
  newChat,
  incognito,
  startingChat,
  chat,
  notifications,
  settings,
  section,
  ...gallery,
]);

export const router = createRouter({
  routeTree,
  // The same page is served by the gateway and by the window's asset server, which know no routes of ours.
  history: createHashHistory(),
  defaultErrorComponent: RoomFailed,
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
