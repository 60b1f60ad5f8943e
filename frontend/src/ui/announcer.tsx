import { type ReactNode, useEffect, useState } from "react";
import { onAnnounce, type Urgency } from "@/lib/announce";

/** The two live regions of the page. Each holds the newest announcement; what is said twice is told twice. */
export function Announcer(): ReactNode {
  const [said, setSaid] = useState<Record<Urgency, { text: string; n: number }>>({
    polite: { text: "", n: 0 },
    assertive: { text: "", n: 0 },
  });
  useEffect(
    () => onAnnounce((text, urgency) => setSaid((s) => ({ ...s, [urgency]: { text, n: s[urgency].n + 1 } }))),
    [],
  );
  return (
    <div className="sr-only">
      <div role="status" aria-live="polite" data-announcer="polite">
        <span key={said.polite.n}>{said.polite.text}</span>
      </div>
      <div role="alert" aria-live="assertive" data-announcer="assertive">
        <span key={said.assertive.n}>{said.assertive.text}</span>
      </div>
    </div>
  );
}
