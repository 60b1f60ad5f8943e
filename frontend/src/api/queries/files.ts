import { useMutation } from "@tanstack/react-query";
import { fileURL, upload } from "../client";

export { fileURL };

export function useUpload() {
  return useMutation({ mutationFn: (file: File) => upload(file) });
}
