import i18next from "i18next";
import { en } from "./en";

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "translation";
    resources: { translation: typeof en };
  }
}

void i18next.init({
  lng: "en",
  fallbackLng: "en",
  resources: { en: { translation: en } },
  interpolation: { escapeValue: false },
  initAsync: false,
});

/** The window's words. Everything a person reads that does not come from the engine is in the catalogue. */
export const t = i18next.t.bind(i18next);
