import { useQuery } from "@tanstack/react-query";
import { call, type Output } from "../client";

type Listing = Output<"tools.list">[number];

export interface ToolInfo {
  app: string;
  risk: Listing["tools"][number]["risk"];
}

export const toolKeys = { all: ["tools"] as const };

const NONE: ReadonlyMap<string, ToolInfo> = new Map();

function byName(plugins: Listing[]): ReadonlyMap<string, ToolInfo> {
  return new Map(plugins.flatMap((p) => p.tools.map((x) => [x.name, { app: p.display_name, risk: x.risk }] as const)));
}

/** What is known of each tool, by its name. */
export function useTools(): ReadonlyMap<string, ToolInfo> {
  return useQuery({ queryKey: toolKeys.all, queryFn: () => call("tools.list", {}), select: byName }).data ?? NONE;
}
