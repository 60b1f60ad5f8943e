import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "../client";
import { bootstrapKey } from "./bootstrap";

const LIMIT = 200;

export const notificationKeys = { all: ["notifications"] as const, list: ["notifications", "list"] as const };

export function useNotifications() {
  return useQuery({
    queryKey: notificationKeys.list,
    queryFn: () => call("notifications.list", { limit: LIMIT }),
  });
}

function useChange<T>(fn: (input: T) => Promise<unknown>) {
  const qc = useQueryClient();
  return useMutation({
    mutationFn: fn,
    onSettled: async () => {
      await qc.invalidateQueries({ queryKey: notificationKeys.all });
      await qc.invalidateQueries({ queryKey: bootstrapKey });
    },
  });
}

export function useReadNotification() {
  return useChange((id: string) => call("notifications.read", { id }));
}

export function useReadAllNotifications() {
  return useChange((_: undefined) => call("notifications.read_all", {}));
}

export function useDeleteNotification() {
  return useChange((id: string) => call("notifications.delete", { id }));
}

export function useDeleteAllNotifications() {
  return useChange((_: undefined) => call("notifications.delete_all", {}));
}
