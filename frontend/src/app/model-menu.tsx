import { useNavigate, useParams } from "@tanstack/react-router";
import { ChevronDown, SlidersHorizontal } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import type { ApiError } from "@/api/client";
import { useBootstrap } from "@/api/queries/bootstrap";
import { useReadyModel, useSetRoles } from "@/api/queries/models";
import { useSessions, useUpdateSession } from "@/api/queries/sessions";
import { useModelOptions } from "@/features/components/model-options";
import { Button } from "@/ui/button";
import { Menu, MenuChoice, MenuItem, MenuSeparator } from "@/ui/menu";
import { toast } from "@/ui/toast";
import { t } from "@/words";
import css from "./shell.module.css";

/** Which model answers: the default for all chats, or the chat's own where it has one. */
export function ModelMenu(): ReactNode {
  const { id } = useParams({ strict: false });
  const chosen = useBootstrap().data?.models.primary ?? "";
  const ready = useReadyModel().data;
  const primary = ready?.ok ? ready.model : chosen;
  const own = useSessions().data?.find((s) => s.id === id)?.model ?? null;
  const setRoles = useSetRoles();
  const update = useUpdateSession();
  const navigate = useNavigate();
  const { options, labelOf } = useModelOptions(own ?? primary);
  const current = own ?? primary;
  const choices = useMemo(() => options.map((o) => ({ value: o.value, label: o.label, note: o.note })), [options]);

  const failed = (e: unknown) => toast(t("models.changeFailed"), { text: (e as ApiError).detail, tone: "error" });
  const pick = (model: string) => {
    if (own && id) update.mutate({ id, model }, { onError: failed });
    else setRoles.mutate({ primary: model }, { onError: failed });
  };

  const name = current ? labelOf(current) : t("models.none");
  return (
    <Menu
      trigger={
        <Button look="ghost" small className={css.model} aria-label={t("models.menu", { model: name })}>
          <span>{name}</span>
          <ChevronDown size={14} aria-hidden />
        </Button>
      }
    >
      {choices.length > 0 ? (
        <MenuChoice
          label={own ? t("models.thisChat") : t("models.allChats")}
          value={current}
          options={choices}
          onChange={pick}
        />
      ) : null}
      {own && id ? (
        <MenuItem
          label={t("models.useDefault")}
          onSelect={() => update.mutate({ id, model: null }, { onError: failed })}
        />
      ) : null}
      {choices.length > 0 ? <MenuSeparator /> : null}
      <MenuItem
        label={t("models.settings")}
        icon={SlidersHorizontal}
        onSelect={() => void navigate({ to: "/settings/$section", params: { section: "models" } })}
      />
    </Menu>
  );
}
