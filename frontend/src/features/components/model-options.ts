import { useMemo } from "react";
import { useBuiltin, useLocalModels, useProviders } from "@/api/queries/models";
import { t } from "@/words";

export interface ModelOption {
  value: string;
  label: string;
  note?: string | undefined;
}

/** "ollama_chat/qwen3:8b" as people name it. */
export function modelName(model: string): string {
  const at = model.indexOf("/");
  return at < 0 ? model : model.slice(at + 1);
}

/** The models that can answer now: of each provider that is set up, on this computer, and the built-in one. */
export function useModelOptions(current: string): {
  options: ModelOption[];
  labelOf: (model: string) => string;
} {
  const providers = useProviders().data;
  const local = useLocalModels().data;
  const builtin = useBuiltin().data;

  return useMemo(() => {
    const options: ModelOption[] = [];
    const seen = new Set<string>();
    const add = (value: string, label: string, note?: string) => {
      if (seen.has(value)) return;
      seen.add(value);
      options.push({ value, label, note });
    };
    const own = builtin?.model;
    if (own && builtin.state !== "missing") add(`builtin/${own.name}`, own.label, t("models.builtinNote"));
    if (local?.ollama.reachable) {
      for (const m of local.ollama.models) if (!m.is_embedding) add(`ollama_chat/${m.name}`, m.name, "Ollama");
    }
    if (local?.lm_studio.reachable) {
      for (const m of local.lm_studio.models) if (!m.is_embedding) add(`lm_studio/${m.name}`, m.name, "LM Studio");
    }
    for (const p of providers ?? []) {
      if (p.kind !== "cloud" || (p.key_required && !p.key_set)) continue;
      for (const s of p.suggested) add(s, modelName(s), p.label);
    }
    if (current) add(current, modelName(current));
    const labels = new Map(options.map((o) => [o.value, o.label]));
    return { options, labelOf: (m: string) => labels.get(m) ?? modelName(m) };
  }, [providers, local, builtin, current]);
}
