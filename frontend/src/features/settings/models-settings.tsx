import { Download, ExternalLink, FlaskConical, KeyRound, Trash2 } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import type { ApiError } from "@/api/client";
import { useBootstrap } from "@/api/queries/bootstrap";
import {
  useDeleteSecret,
  useLocalModels,
  useProviders,
  usePullModel,
  useSetRoles,
  useSetSecret,
  useTestModel,
} from "@/api/queries/models";
import type { LocalRuntime, ModelTestResult, Provider } from "@/api/shapes";
import { BuiltinCard } from "@/features/components/builtin-card";
import { useModelOptions } from "@/features/components/model-options";
import { byteSize } from "@/lib/dates";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/dialog";
import { Field, TextField } from "@/ui/field";
import { Select } from "@/ui/select";
import { Badge, Banner, Card, ErrorState, Progress } from "@/ui/surface";
import { toast } from "@/ui/toast";
import { t } from "@/words";
import css from "./settings.module.css";
import { Sketch } from "./settings-page";

/** The roles that are used now. */
const ROLES = ["primary", "fast"] as const;
const SAME = "";

export function TestResult({
  result,
  error,
}: {
  result: ModelTestResult | undefined;
  error: ApiError | null;
}): ReactNode {
  if (error)
    return (
      <Banner tone="bad" live>
        {error.detail || t("models.testFailed")}
      </Banner>
    );
  if (!result) return null;
  if (!result.ok)
    return (
      <Banner tone="bad" live>
        {result.error || t("models.testFailed")}
      </Banner>
    );
  const seconds = (result.latency_ms / 1000).toFixed(1);
  return (
    <Banner tone="good" live>
      {t("models.testOk", { seconds })} {result.supports_tools === false ? t("models.noTools") : ""}
    </Banner>
  );
}

function Role({ role }: { role: (typeof ROLES)[number] }): ReactNode {
  const model = useBootstrap().data?.models[role] ?? null;
  const { options } = useModelOptions(model ?? "");
  const setRoles = useSetRoles();
  const test = useTestModel();
  const choices = options.map((o) => ({
    value: o.value,
    label: o.note ? t("models.optionOf", { model: o.label, provider: o.note }) : o.label,
  }));
  if (role !== "primary") choices.unshift({ value: SAME, label: t("models.sameAsPrimary") });
  const primary = useBootstrap().data?.models.primary;
  const tested = model ?? primary;
  return (
    <div className={css.stack}>
      <Field row label={t(`models.role.${role}`)} hint={t(`models.role.${role}Hint`)}>
        <div className={css.actions}>
          <Select
            value={model ?? SAME}
            options={choices}
            onChange={(v) =>
              setRoles.mutate(
                { [role]: v || null },
                {
                  onError: (e) =>
                    toast(t("models.changeFailed"), {
                      text: (e as unknown as ApiError).detail,
                      tone: "error",
                    }),
                },
              )
            }
          />
          <Button
            icon={FlaskConical}
            busy={test.isPending}
            disabled={!tested}
            onClick={() => tested && test.mutate({ model: tested, role })}
          >
            {t("action.test")}
          </Button>
        </div>
      </Field>
      <TestResult result={test.data} error={test.error as ApiError | null} />
    </div>
  );
}

function ProviderRow({ provider }: { provider: Provider }): ReactNode {
  const [open, setOpen] = useState(false);
  const [key, setKey] = useState("");
  const [removing, setRemoving] = useState(false);
  const save = useSetSecret();
  const remove = useDeleteSecret();
  const test = useTestModel();
  const model = provider.suggested[0];

  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (!key.trim()) return;
    save.mutate(
      { name: provider.id, value: key.trim() },
      {
        onSuccess: () => {
          setKey("");
          setOpen(false);
          if (model) test.mutate({ model });
        },
      },
    );
  };
  const status = provider.key_required ? (provider.key_set ? "set" : "unset") : "none";
  return (
    <div className={css.stack}>
      <div className={css.line}>
        <div className={css.lineText}>
          <span className={css.lineTitle}>
            {provider.label}
            <Badge tone={status === "set" ? "good" : "plain"}>{t(`models.key.${status}`)}</Badge>
          </span>
          {provider.docs_url ? (
            <a className={css.note} href={provider.docs_url} target="_blank" rel="noopener noreferrer">
              {host(provider.docs_url)} <ExternalLink size={12} aria-hidden />
            </a>
          ) : null}
        </div>
        <div className={css.actions}>
          {model && (provider.key_set || !provider.key_required) ? (
            <Button small icon={FlaskConical} busy={test.isPending} onClick={() => test.mutate({ model })}>
              {t("action.test")}
            </Button>
          ) : null}
          {provider.key_required ? (
            <Button small icon={KeyRound} aria-expanded={open} onClick={() => setOpen(!open)}>
              {provider.key_set ? t("models.key.replace") : t("models.key.add")}
            </Button>
          ) : null}
          {provider.key_set ? (
            <Button small look="ghost" icon={Trash2} onClick={() => setRemoving(true)}>
              {t("action.remove")}
            </Button>
          ) : null}
        </div>
      </div>
      {open ? (
        <form className={css.form} onSubmit={submit}>
          <TextField
            type="password"
            autoComplete="off"
            spellCheck={false}
            label={t("models.key.label", { provider: provider.label })}
            hint={t("models.key.hint")}
            value={key}
            problem={save.error ? (save.error as unknown as ApiError).detail || t("settings.saveFailed") : undefined}
            onChange={(e) => setKey(e.target.value)}
          />
          <Button type="submit" look="primary" busy={save.isPending} disabled={!key.trim()}>
            {t("models.key.save")}
          </Button>
        </form>
      ) : null}
      <TestResult result={test.data} error={test.error as ApiError | null} />
      <Confirm
        open={removing}
        title={t("models.key.removeTitle", { provider: provider.label })}
        description={t("models.key.removeText", { provider: provider.label })}
        action={t("action.remove")}
        busy={remove.isPending}
        onClose={() => setRemoving(false)}
        onConfirm={() =>
          remove.mutate(provider.id, { onSettled: () => setRemoving(false), onSuccess: () => test.reset() })
        }
      />
    </div>
  );
}

function host(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

function LocalList({ runtime, name }: { runtime: LocalRuntime; name: string }): ReactNode {
  return (
    <div className={css.stack}>
      <span className={css.lineTitle}>
        {name}
        <Badge tone={runtime.reachable ? "good" : "plain"}>
          {runtime.reachable ? t("models.running") : t("models.notFound")}
        </Badge>
      </span>
      {runtime.models.map((m) => (
        <div key={m.name} className={css.line}>
          <span className={css.lineText}>{m.name}</span>
          <span className={css.note}>
            {[m.parameter_size, m.size ? byteSize(m.size) : ""].filter(Boolean).join(", ")}
          </span>
        </div>
      ))}
      {runtime.reachable && runtime.models.length === 0 ? <p className={css.note}>{t("models.noLocal")}</p> : null}
    </div>
  );
}

function Pull(): ReactNode {
  const pull = usePullModel();
  const [name, setName] = useState("");
  const p = pull.progress;
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    const wanted = name.trim();
    if (wanted && (await pull.start(wanted))) setName("");
  };
  return (
    <div className={css.stack}>
      <form className={css.form} onSubmit={submit}>
        <TextField
          label={t("models.pull")}
          hint={t("models.pullHint")}
          value={name}
          spellCheck={false}
          onChange={(e) => setName(e.target.value)}
        />
        {pull.running ? (
          <Button onClick={pull.cancel}>{t("action.stop")}</Button>
        ) : (
          <Button type="submit" icon={Download} disabled={!name.trim()}>
            {t("models.download")}
          </Button>
        )}
      </form>
      {pull.running ? (
        <Progress
          label={p?.status || t("models.downloading")}
          value={p?.total ? (p.completed ?? 0) / p.total : null}
          {...(p?.total ? { note: `${byteSize(p.completed ?? 0)} / ${byteSize(p.total)}` } : {})}
        />
      ) : null}
      {pull.done ? (
        <Banner tone="good" live>
          {t("models.pulled")}
        </Banner>
      ) : null}
      {pull.error ? (
        <Banner tone="bad" live>
          {pull.error.detail || t("models.downloadFailed")}
        </Banner>
      ) : null}
    </div>
  );
}

export function ModelsSettings(): ReactNode {
  const providers = useProviders();
  const local = useLocalModels();
  if (providers.isError) {
    return (
      <ErrorState
        title={t("settings.loadFailed")}
        actions={
          <Button look="primary" onClick={() => void providers.refetch()}>
            {t("action.retry")}
          </Button>
        }
      >
        {(providers.error as unknown as ApiError).detail || t("state.errorText")}
      </ErrorState>
    );
  }
  if (!providers.data) return <Sketch />;
  const clouds = providers.data.filter((p) => p.kind === "cloud" && !p.sign_in);
  return (
    <>
      <section className={css.section}>
        <h3>{t("models.roles")}</h3>
        <Card padded={false} className={css.group ?? ""}>
          {ROLES.map((r) => (
            <Role key={r} role={r} />
          ))}
        </Card>
      </section>
      <section className={css.section}>
        <h3>{t("models.builtin")}</h3>
        <p>{t("models.builtinHint")}</p>
        <Card>
          <BuiltinCard />
        </Card>
      </section>
      <section className={css.section}>
        <h3>{t("models.local")}</h3>
        <p>{t("models.localHint")}</p>
        <Card padded={false} className={css.group ?? ""}>
          {local.data ? <LocalList name="Ollama" runtime={local.data.ollama} /> : null}
          {local.data?.ollama.reachable ? <Pull /> : null}
          {local.data?.lm_studio.reachable ? <LocalList name="LM Studio" runtime={local.data.lm_studio} /> : null}
        </Card>
      </section>
      <section className={css.section}>
        <h3>{t("models.providers")}</h3>
        <p>{t("models.providersHint")}</p>
        <Card padded={false} className={css.group ?? ""}>
          {clouds.map((p) => (
            <ProviderRow key={p.id} provider={p} />
          ))}
        </Card>
      </section>
    </>
  );
}
