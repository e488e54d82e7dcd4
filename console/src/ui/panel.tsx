import { type ReactNode, useId } from 'react';
import { classes } from './classes.ts';

interface PanelProps {
  readonly title: string;
  /** Commands at the end of the header. */
  readonly actions?: ReactNode;
  readonly className?: string | undefined;
  /** Renders the content without padding. */
  readonly isFull?: boolean;
  readonly children: ReactNode;
}

/** A section of a page with its own heading. */
export function Panel({ title, actions, className, isFull = false, children }: PanelProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={classes('flex min-w-0 flex-col rounded-md border bg-surface', className)}
    >
      <header className="flex min-h-10 flex-wrap items-center gap-2 border-b px-3 py-1">
        <h2 id={id} className="grow font-semibold">
          {title}
        </h2>
        {actions}
      </header>
      <div className={classes('flex min-h-0 grow flex-col', !isFull && 'p-3')}>{children}</div>
    </section>
  );
}

/** A list of names and values, such as the fields of a record. Empty values are left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[minmax(7rem,auto)_1fr] gap-x-4 gap-y-1.5">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 wrap-anywhere">{value}</dd>
          </div>
        ))}
    </dl>
  );
}
