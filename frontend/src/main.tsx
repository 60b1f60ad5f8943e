import "@/ui/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/app";
import { watchIme } from "@/lib/ime";
import { openLinksOutside } from "@/lib/outside";
import { startTheme } from "@/lib/theme";

startTheme();
watchIme();
openLinksOutside();

const place = document.getElementById("root");
if (place) {
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
