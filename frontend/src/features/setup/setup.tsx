import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import type { ApiError } from "@/api/client";
import { useCompleteOnboarding } from "@/api/queries/bootstrap";
import { cx } from "@/lib/cx";
import { Button } from "@/ui/button";
import { TextField } from "@/ui/field";
import { Mark } from "@/ui/mark";
import { Banner } from "@/ui/surface";
import { t } from "@/words";
import { ModelStep } from "./model-step";
import css from "./setup.module.css";

const STEPS = ["name", "model", "manner"] as const;
type Step = (typeof STEPS)[number];

const PERSONAS = ["friendly", "professional", "concise", "custom"] as const;
type Persona = (typeof PERSONAS)[number];

interface Answers {
  userName: string;
  assistantName: string;
  persona: Persona;
  location: string;
  timezone: string;
}

function zones(): string[] {
  try {
    return Intl.supportedValuesOf("timeZone");
  } catch {
    return [];
  }
}

function Heading({ children }: { children: ReactNode }): ReactNode {
  const ref = useRef<HTMLHeadingElement>(null);
  // Each step is told by its heading, so that nobody is left where the last one ended.
  useEffect(() => ref.current?.focus(), []);
  return (
    <h1 ref={ref} tabIndex={-1}>
      {children}
    </h1>
  );
}

function NameStep({
  answers,
  change,
  next,
}: {
  answers: Answers;
  change: (a: Partial<Answers>) => void;
  next: () => void;
}): ReactNode {
  const [problem, setProblem] = useState<string | undefined>();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (answers.userName.trim()) next();
    else {
      setProblem(t("setup.nameMissing"));
      field.current?.focus();
    }
  };
  return (
    <form className={css.step} onSubmit={submit} noValidate>
      <h1>{t("setup.welcome")}</h1>
      <p className={css.lead}>{t("setup.welcomeText")}</p>
      <div className={css.fields}>
        <TextField
          ref={field}
          label={t("setup.yourName")}
          value={answers.userName}
          problem={problem}
          autoComplete="given-name"
          onChange={(e) => {
            change({ userName: e.target.value });
            setProblem(undefined);
          }}
        />
        <TextField
          label={t("setup.itsName")}
          hint={t("setup.itsNameHint")}
          value={answers.assistantName}
          autoComplete="off"
          onChange={(e) => change({ assistantName: e.target.value })}
        />
      </div>
      <div className={css.actions}>
        <span />
        <Button type="submit" look="primary">
          {t("action.continue")}
        </Button>
      </div>
    </form>
  );
}

function MannerStep(props: {
  answers: Answers;
  change: (a: Partial<Answers>) => void;
  back: () => void;
  finish: () => void;
  busy: boolean;
  error: ApiError | null;
}): ReactNode {
  const { answers, change } = props;
  const submit = (e: FormEvent) => {
    e.preventDefault();
    props.finish();
  };
  return (
    <form className={css.step} onSubmit={submit}>
      <Heading>{t("setup.manner")}</Heading>
      <p className={css.lead}>{t("setup.mannerText")}</p>
      <RadioGroup
        className={css.grid}
        aria-label={t("setup.manner")}
        value={answers.persona}
        onValueChange={(v) => change({ persona: v as Persona })}
      >
        {PERSONAS.map((p) => (
          <div key={p} className={css.option} data-on={answers.persona === p}>
            <Radio.Root value={p} className={css.optionHead} aria-label={t(`setup.persona.${p}`)}>
              <span className={css.optionTitle} style={{ gridColumn: "1 / -1" }}>
                {t(`setup.persona.${p}`)}
              </span>
              <span className={css.optionText} style={{ gridColumn: "1 / -1" }}>
                {t(`setup.persona.${p}Hint`)}
              </span>
            </Radio.Root>
          </div>
        ))}
      </RadioGroup>
      <div className={css.fields}>
        <TextField
          label={t("setup.location")}
          hint={t("setup.locationHint")}
          value={answers.location}
          autoComplete="off"
          onChange={(e) => change({ location: e.target.value })}
        />
        <TextField
          label={t("setup.timezone")}
          value={answers.timezone}
          list="zones"
          autoComplete="off"
          onChange={(e) => change({ timezone: e.target.value })}
        />
        <datalist id="zones">
          {zones().map((z) => (
            <option key={z} value={z} />
          ))}
        </datalist>
      </div>
      {props.error ? (
        <Banner tone="bad" live>
          {props.error.detail || t("setup.failed")}
        </Banner>
      ) : null}
      <div className={css.actions}>
        <Button look="ghost" onClick={props.back}>
          {t("action.back")}
        </Button>
        <Button type="submit" look="primary" busy={props.busy}>
          {t("setup.start")}
        </Button>
      </div>
    </form>
  );
}

/** What is asked before the first chat: a name, a model that answers, a manner. */
export default function Setup(): ReactNode {
  const [step, setStep] = useState<Step>("name");
  const [answers, setAnswers] = useState<Answers>({
    userName: "",
    assistantName: "Sentient",
    persona: "friendly",
    location: "",
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone ?? "",
  });
  const complete = useCompleteOnboarding();
  const change = (a: Partial<Answers>) => setAnswers((old) => ({ ...old, ...a }));
  const at = STEPS.indexOf(step);

  const finish = () =>
    complete.mutate({
      user_name: answers.userName.trim(),
      assistant_name: answers.assistantName.trim() || "Sentient",
      persona: answers.persona,
      ...(answers.location.trim() ? { location: answers.location.trim() } : {}),
      timezone: answers.timezone.trim() || "auto",
    });

  return (
    <main className={css.page}>
      <div className={css.column}>
        <div className={css.brand}>
          <Mark size={34} />
          <ol className={css.steps} aria-label={t("setup.progress", { at: at + 1, of: STEPS.length })}>
            {STEPS.map((s, i) => (
              <li key={s} className={cx(i < at && css.past)} aria-current={s === step ? "step" : undefined}>
                <span className="sr-only">{t(`setup.step.${s}`)}</span>
              </li>
            ))}
          </ol>
        </div>
        {step === "name" ? <NameStep answers={answers} change={change} next={() => setStep("model")} /> : null}
        {step === "model" ? (
          <ModelStep
            heading={<Heading>{t("setup.model")}</Heading>}
            back={() => setStep("name")}
            next={() => setStep("manner")}
          />
        ) : null}
        {step === "manner" ? (
          <MannerStep
            answers={answers}
            change={change}
            back={() => setStep("model")}
            finish={finish}
            busy={complete.isPending}
            error={complete.error as ApiError | null}
          />
        ) : null}
      </div>
    </main>
  );
}
