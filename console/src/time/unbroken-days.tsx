const DAY = /(\d{1,4}-\d{1,2}-\d{1,4})/;

/** A text whose days, such as 2026-11-17, are not broken at their hyphens where it is wrapped. */
export function UnbrokenDays({ text }: { readonly text: string }) {
  return text.split(DAY).map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text stay in their places
      <span key={at} className="whitespace-nowrap">
        {part}
      </span>
    ),
  );
}
