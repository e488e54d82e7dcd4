const DAY = /(\d{1,4}-\d{1,2}-\d{1,4})/;

/** Renders a text in which dates such as 2026-11-17 do not wrap at their hyphens. */
export function UnbrokenDays({ text }: { readonly text: string }) {
  return text.split(DAY).map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text are never reordered
      <span key={at} className="whitespace-nowrap">
        {part}
      </span>
    ),
  );
}
