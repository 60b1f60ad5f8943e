import { QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { render } from "@testing-library/react";
import userEvent, { PointerEventsCheckLevel, type UserEvent } from "@testing-library/user-event";
import type { ReactNode } from "react";
import { queryClient } from "@/api/queries/client";
import { Announcer } from "@/ui/announcer";
import { Toasts } from "@/ui/toast";
import { TooltipProvider } from "@/ui/tooltip";

export interface Shown {
  user: UserEvent;
  /** Where the window is now. */
  where: () => string;
  go: (to: string) => Promise<void>;
}

/** Draws a part of the window with everything around it that it counts on. */
export function show(part: ReactNode, options: { at?: string; pages?: Record<string, () => ReactNode> } = {}): Shown {
  queryClient.clear();
  const defaults = queryClient.getDefaultOptions();
  queryClient.setDefaultOptions({ ...defaults, queries: { ...defaults.queries, retryDelay: 0 } });

  const root = createRootRoute({
    component: () => (
      <>
        {part}
        <Outlet />
      </>
    ),
  });
  const pages = options.pages ?? {};
  const paths = [
    "/chat",
    "/chat/incognito",
    "/chat/$id",
    "/chat/new/$key",
    "/notifications",
    "/settings",
    "/settings/$section",
  ];
  const routes = paths.map((path) =>
    createRoute({ getParentRoute: () => root, path, component: pages[path] ?? (() => null) }),
  );
  const history = createMemoryHistory({ initialEntries: [options.at ?? "/chat"] });
  const router = createRouter({ routeTree: root.addChildren(routes), history });
  render(
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <Toasts>
          <RouterProvider router={router as never} />
          <Announcer />
        </Toasts>
      </TooltipProvider>
    </QueryClientProvider>,
  );
  return {
    // Without pauses between keys and without walking up the styles for each press: nothing here is laid out.
    user: userEvent.setup({ delay: null, pointerEventsCheck: PointerEventsCheckLevel.Never }),
    where: () => history.location.pathname,
    go: (to) => router.navigate({ to } as never),
  };
}
