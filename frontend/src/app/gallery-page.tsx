import type { ReactNode } from "react";
import { ChatGallery } from "@/features/chat/gallery";
import { Gallery } from "@/ui/gallery";

/** The components of the design system and of the chat on one page. Development builds only. */
export default function GalleryPage(): ReactNode {
  return (
    <Gallery>
      <ChatGallery />
    </Gallery>
  );
}
