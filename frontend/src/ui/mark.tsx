import type { ReactNode } from "react";

/** The sign of Sentient: a ring that holds a point of attention. */
export function Mark({ size = 26 }: { size?: number }): ReactNode {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="16" cy="16" r="12.5" fill="none" stroke="currentColor" strokeWidth="2.4" />
      <circle cx="20.2" cy="11.8" r="4.2" fill="currentColor" />
    </svg>
  );
}
