import { useNavigate, useParams } from "@tanstack/react-router";
import { ChevronDown, SlidersHorizontal } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import type { ApiError } from "@/api/client";
import { useBootstrap } from "@/api/queries/bootstrap";
import { useReadyModel, useSetRoles } from "@/api/queries/models";
import { useSession, useUpdateSession } from "@/api/queries/sessions";
import { useModelOptions } from "@/features/components/model-options";
import { cx } from "@/lib/cx";
import { Button } from "@/ui/button";
import { Menu, MenuChoice, MenuItem, MenuSeparator } from "@/ui/menu";
import { toast } from "@/ui/toast";
import { t } from "@/words";
import css from "./shell.module.css";

/** The choice that stands for "as all chats". No model has this name. */
const DEFAULT = "default";

/** Which model answers this chat: its own where it has one, or the default; in a new chat, the default itself. */
export function ModelMenu(): ReactNode {
  const { id } = useParams({ strict: false });
  const chosen = useBootstrap().data?.models.primary ?? "";
  const ready = useReadyModel().data;
  const primary = ready?.ok ? ready.model : chosen;
  const own = useSession(id)?.model || null;
  const setRoles = useSetRoles();
  const update = useUpdateSession();
  const navigate = useNavigate();
  const { options, labelOf } = useModelOptions(own ?? primary);
  const current = own ?? primary;
  const choices = useMemo(() => {
    const models = options.map((o) => ({ value: o.value, label: o.label, note: o.note }));
    const usual = { value: DEFAULT, label: t("models.useDefault"), note: primary ? labelOf(primary) : undefined };
    return id ? [usual, ...models] : models;
  }, [options, id, primary, labelOf]);

  const failed = (e: unknown) => toast(t("models.changeFailed"), { text: (e as ApiError).detail, tone: "error" });
  const pick = (model: string) => {
    if (id) update.mutate({ id, model: model === DEFAULT ? null : model }, { onError: failed });
    else setRoles.mutate({ primary: model }, { onError: failed });
  };

  const name = current ? labelOf(current) : t("models.none");
  return (
    <Menu
      trigger={
        <Button
          look="ghost"
          small
          className={cx(css.model, own && css.ownModel)}
          aria-label={t(own ? "models.menuOwn" : "models.menu", { model: name })}
        >
          <span>{name}</span>
          <ChevronDown size={14} aria-hidden />
        </Button>
      }
    >
      {options.length > 0 ? (
        <MenuChoice
          label={id ? t("models.thisChat") : t("models.allChats")}
          value={id ? (own ?? DEFAULT) : current}
          options={choices}
          onChange={pick}
        />
      ) : null}
      {options.length > 0 ? <MenuSeparator /> : null}
      <MenuItem
        label={t("models.settings")}
        icon={SlidersHorizontal}
        onSelect={() => void navigate({ to: "/settings/$section", params: { section: "models" } })}
      />
    </Menu>
  );
}
