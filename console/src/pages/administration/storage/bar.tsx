/** A bar that shows a share, from 0 to 1. Hidden from screen readers, because a figure next to it says the same. */
export function Bar({ share }: { readonly share: number }) {
  const percent = Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)) * 100;
  return (
    <div aria-hidden="true" className="h-2 w-full overflow-hidden rounded bg-hover">
      <div className="h-full rounded bg-line-strong" style={{ width: `${percent}%` }} />
    </div>
  );
}
