import { Link, useParams } from "@tanstack/react-router";
import { Cpu, Info, MessageCircle, Palette, UserRound } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "@/words";
import css from "./settings.module.css";

/** The sections there are: only those whose part of the engine exists. */
export const SECTIONS = [
  { id: "assistant", icon: UserRound, title: "settings.assistant" },
  { id: "models", icon: Cpu, title: "settings.models" },
  { id: "chat", icon: MessageCircle, title: "settings.chat" },
  { id: "look", icon: Palette, title: "settings.look" },
  { id: "about", icon: Info, title: "settings.about" },
] as const;

export type Section = (typeof SECTIONS)[number]["id"];

export function isSection(s: string | undefined): s is Section {
  return SECTIONS.some((x) => x.id === s);
}

export function SettingsNav({ onPicked }: { onPicked?: () => void }): ReactNode {
  const { section } = useParams({ strict: false });
  const current = isSection(section) ? section : "assistant";
  return (
    <nav className={css.nav} aria-label={t("settings.sections")}>
      <ul>
        {SECTIONS.map(({ id, icon: Icon, title }) => (
          <li key={id}>
            <Link
              to="/settings/$section"
              params={{ section: id }}
              className={css.navLink}
              aria-current={id === current ? "page" : undefined}
              onClick={onPicked}
            >
              <Icon size={17} aria-hidden />
              {t(title)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
