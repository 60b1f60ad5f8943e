import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import { Cpu, HardDrive, KeyRound, type LucideIcon } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { ApiError } from "@/api/client";
import {
  useBuiltin,
  useDeleteSecret,
  useLocalModels,
  useProviders,
  useSetRoles,
  useSetSecret,
  useTestModel,
} from "@/api/queries/models";
import { BuiltinCard } from "@/features/components/builtin-card";
import { modelName } from "@/features/components/model-options";
import { Button } from "@/ui/button";
import { Field, TextField } from "@/ui/field";
import { Select } from "@/ui/select";
import { Banner, Loading, Skeleton } from "@/ui/surface";
import { t } from "@/words";
import css from "./setup.module.css";

type Way = "builtin" | "ollama" | "key";

function Option(props: {
  way: Way;
  icon: LucideIcon;
  title: string;
  text: string;
  on: boolean;
  children?: ReactNode;
}): ReactNode {
  const Icon = props.icon;
  return (
    <div className={css.option} data-on={props.on}>
      <Radio.Root value={props.way} className={css.optionHead} aria-label={props.title}>
        <Icon size={19} aria-hidden />
        <span className={css.optionTitle}>{props.title}</span>
        <span className={css.optionText}>{props.text}</span>
      </Radio.Root>
      {props.on && props.children ? <div className={css.optionBody}>{props.children}</div> : null}
    </div>
  );
}

function useWays() {
  const builtin = useBuiltin();
  const local = useLocalModels();
  const providers = useProviders();
  const clouds = (providers.data ?? []).filter((p) => p.kind === "cloud" && p.key_required && !p.sign_in);
  const ollama = local.data?.ollama.reachable ? local.data.ollama.models.filter((m) => !m.is_embedding) : [];
  const waiting = builtin.isPending || local.isPending || providers.isPending;
  const failed = builtin.isError && local.isError && providers.isError;
  const again = () => {
    void builtin.refetch();
    void local.refetch();
    void providers.refetch();
  };
  return { builtin: builtin.data, clouds, ollama, waiting, failed, again };
}

/** Which model answers. Whatever is picked is tried before it is kept. */
export function ModelStep({
  heading,
  back,
  next,
}: {
  heading: ReactNode;
  back: () => void;
  next: () => void;
}): ReactNode {
  const ways = useWays();
  const [picked, setPicked] = useState<Way | null>(null);
  const [ollama, setOllama] = useState("");
  const [providerId, setProviderId] = useState("");
  const [key, setKey] = useState("");
  const [cloud, setCloud] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const test = useTestModel();
  const setRoles = useSetRoles();
  const setSecret = useSetSecret();
  const dropSecret = useDeleteSecret();

  const own = ways.builtin?.model;
  const builtinReady = Boolean(own) && ways.builtin?.state !== "missing" && ways.builtin?.state !== "downloading";
  const way: Way = picked ?? (ways.ollama.length > 0 ? "ollama" : "builtin");
  const provider = ways.clouds.find((p) => p.id === providerId) ?? ways.clouds[0];
  const localModel = ollama || ways.ollama[0]?.name || "";
  const cloudModel = provider?.suggested.includes(cloud) ? cloud : (provider?.suggested[0] ?? "");

  const model =
    way === "builtin"
      ? own
        ? `builtin/${own.name}`
        : ""
      : way === "ollama"
        ? `ollama_chat/${localModel}`
        : cloudModel;
  const ready =
    way === "builtin"
      ? builtinReady
      : way === "ollama"
        ? localModel !== ""
        : Boolean(provider && (key.trim() || provider.key_set));

  const tryIt = async () => {
    setProblem(null);
    setBusy(true);
    const fresh = way === "key" && key.trim() !== "" && provider;
    try {
      if (fresh) await setSecret.mutateAsync({ name: provider.id, value: key.trim() });
      const r = await test.mutateAsync({ model, role: "primary" });
      if (!r.ok) {
        // A key that does not work is not kept.
        if (fresh) await dropSecret.mutateAsync(provider.id).catch(() => undefined);
        setProblem(r.error || t("models.testFailed"));
        return;
      }
      await setRoles.mutateAsync({ primary: model, fast: model });
      next();
    } catch (e) {
      setProblem((e as ApiError).detail || t("models.testFailed"));
    } finally {
      setBusy(false);
    }
  };

  if (ways.waiting) {
    return (
      <div className={css.step}>
        {heading}
        <Loading>
          <div className={css.options}>
            <Skeleton height="5rem" />
            <Skeleton height="5rem" />
            <Skeleton height="5rem" />
          </div>
        </Loading>
      </div>
    );
  }
  return (
    <div className={css.step}>
      {heading}
      <p className={css.lead}>{t("setup.modelText")}</p>
      {ways.failed ? (
        <Banner
          tone="bad"
          actions={
            <Button small onClick={ways.again}>
              {t("action.retry")}
            </Button>
          }
        >
          {t("state.errorText")}
        </Banner>
      ) : null}
      <RadioGroup
        className={css.options}
        aria-label={t("setup.model")}
        value={way}
        onValueChange={(v) => {
          setPicked(v as Way);
          setProblem(null);
        }}
      >
        {ways.builtin ? (
          <Option
            way="builtin"
            icon={HardDrive}
            title={t("setup.builtin")}
            text={t("setup.builtinText")}
            on={way === "builtin"}
          >
            <BuiltinCard />
          </Option>
        ) : null}
        {ways.ollama.length > 0 ? (
          <Option
            way="ollama"
            icon={Cpu}
            title={t("setup.ollama")}
            text={t("setup.ollamaText", { count: ways.ollama.length })}
            on={way === "ollama"}
          >
            <Field label={t("setup.whichModel")}>
              <Select
                value={localModel}
                options={ways.ollama.map((m) => ({ value: m.name, label: m.name }))}
                onChange={setOllama}
              />
            </Field>
          </Option>
        ) : null}
        {provider ? (
          <Option way="key" icon={KeyRound} title={t("setup.key")} text={t("setup.keyText")} on={way === "key"}>
            <Field label={t("setup.provider")}>
              <Select
                value={provider.id}
                options={ways.clouds.map((p) => ({ value: p.id, label: p.label }))}
                onChange={(id) => {
                  setProviderId(id);
                  setKey("");
                }}
              />
            </Field>
            <TextField
              type="password"
              autoComplete="off"
              spellCheck={false}
              label={t("models.key.label", { provider: provider.label })}
              hint={provider.key_set ? t("setup.keyThere") : t("models.key.hint")}
              value={key}
              onChange={(e) => setKey(e.target.value)}
            />
            {provider.suggested.length > 0 ? (
              <Field label={t("setup.whichModel")}>
                <Select
                  value={cloudModel}
                  options={provider.suggested.map((m) => ({ value: m, label: modelName(m) }))}
                  onChange={setCloud}
                />
              </Field>
            ) : null}
          </Option>
        ) : null}
      </RadioGroup>
      {problem ? (
        <Banner tone="bad" live>
          {problem}
        </Banner>
      ) : null}
      <div className={css.actions}>
        <Button look="ghost" onClick={back}>
          {t("action.back")}
        </Button>
        <Button look="primary" busy={busy} disabled={!ready || !model} onClick={() => void tryIt()}>
          {busy ? t("setup.testing") : t("setup.testAndGo")}
        </Button>
      </div>
    </div>
  );
}
