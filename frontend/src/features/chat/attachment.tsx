import { FileX, type LucideIcon, Monitor, Paperclip, TextSelect } from "lucide-react";
import { type ReactNode, useState } from "react";
import { fileURL, useFileGone } from "@/api/queries/files";
import { cx } from "@/lib/cx";
import { t } from "@/words";
import css from "./chat.module.css";

const PICTURE = /\.(png|jpe?g|gif|webp|avif)$/i;

/** What a stored file is called before people: its own name, and of what kind it is where that is more than a file. */
export function nameOf(stored: string): { label: string; icon: LucideIcon } {
  const name = stored.split("/").at(-1) ?? stored;
  if (stored.startsWith("screens/")) return { label: t("chat.screen", { name: bare(name) }), icon: Monitor };
  if (stored.startsWith("selections/")) return { label: t("chat.selection", { name: bare(name) }), icon: TextSelect };
  return { label: name, icon: Paperclip };
}

/** "Inbox - Mail 3f9a2c.png" without the part that only keeps names apart. */
function bare(name: string): string {
  return name.replace(/ [0-9a-f]{6}(?=\.\w+$)/, "").replace(/\.\w+$/, "");
}

/** A file that went with a message. */
export function Attachment({ name }: { name: string }): ReactNode {
  const gone = useFileGone(name);
  const [broken, setBroken] = useState(false);
  const { label, icon: Icon } = nameOf(name);
  if (gone) {
    return (
      <span className={cx(css.chip, css.plainChip, css.goneChip)} title={label}>
        <FileX size={14} aria-hidden />
        <span>
          <span className="sr-only">{label}, </span>
          {t("chat.gone")}
        </span>
      </span>
    );
  }
  const picture = PICTURE.test(name) && !broken;
  return (
    <a
      href={fileURL(name)}
      target="_blank"
      rel="noopener noreferrer"
      className={picture ? undefined : cx(css.chip, css.plainChip)}
    >
      {picture ? (
        <img className={css.thumb} src={fileURL(name)} alt={label} loading="lazy" onError={() => setBroken(true)} />
      ) : (
        <>
          <Icon size={14} aria-hidden />
          <span>{label}</span>
        </>
      )}
    </a>
  );
}
