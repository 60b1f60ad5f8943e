import { useCallback, useState } from "react";
import type { ApiError } from "@/api/client";
import { useUpload } from "@/api/queries/files";
import { newId } from "@/lib/ids";
import { toast } from "@/ui/toast";
import { t } from "@/words";
import { nameOf } from "./attachment";

export interface Attached {
  id: string;
  file: string;
  /** The stored name, once the file is there. */
  name: string | null;
}

/** The files that go with the message that is being written. `onLost` is told when one could not be kept. */
export function useAttachments(onLost: () => void) {
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const upload = useUpload();
  const add = (list: Iterable<File>) => {
    for (const file of list) {
      const id = newId();
      setFiles((f) => [...f, { id, file: file.name, name: null }]);
      // By its promise: callbacks given to `mutate` are called for the newest file only.
      upload.mutateAsync(file).then(
        (stored) => setFiles((f) => f.map((x) => (x.id === id ? { ...x, name: stored.name } : x))),
        (e: unknown) => {
          setFiles((f) => f.filter((x) => x.id !== id));
          onLost();
          toast(t("chat.uploadFailed", { name: file.name }), { text: (e as ApiError).detail, tone: "error" });
        },
      );
    }
  };
  const remove = (id: string) => setFiles((f) => f.filter((x) => x.id !== id));
  /** Files that are kept already take the place of what was attached. */
  const put = useCallback((names: readonly string[]) => {
    setFiles(names.map((name) => ({ id: newId(), file: nameOf(name).label, name })));
  }, []);
  const names = files.flatMap((f) => (f.name ? [f.name] : []));
  return { files, names, add, remove, put, waiting: files.some((f) => f.name === null) };
}
