import { useMutation, useQuery } from "@tanstack/react-query";
import { fileThere, fileURL, upload } from "../client";

export { fileURL };

export function useUpload() {
  return useMutation({ mutationFn: (file: File) => upload(file) });
}

/** Whether a file of a message is gone. Looked at once, when it is first shown. */
export function useFileGone(name: string): boolean {
  const q = useQuery({ queryKey: ["files", "there", name], queryFn: () => fileThere(name), retry: false });
  return q.data === false;
}
