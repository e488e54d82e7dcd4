import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { sentenceOf } from '../service/failure.tsx';
import type { Tone } from '../ui/badge.tsx';
import { classes } from '../ui/classes.ts';

interface FigureProps {
  readonly name: string;
  /** undefined until it is known. */
  readonly value: string | undefined;
  /** Why it is not known, which is said as long as there is no value. */
  readonly error?: unknown;
  /** What the figure is out of, or compared with. */
  readonly note?: ReactNode;
  /** The list that it counts. */
  readonly to: string;
  readonly search?: Readonly<Record<string, unknown>>;
  readonly tone?: Tone;
  readonly children?: ReactNode;
}

/** One key figure, which leads to what it counts. Its place is kept until it is known. */
export function Figure({ name, value, error, note, to, search = {}, tone = 'calm', children }: FigureProps) {
  return (
    <Link
      to={to}
      search={search as never}
      className="flex min-h-24 min-w-0 flex-col gap-0.5 rounded-md border bg-surface p-3 hover:bg-hover"
    >
      <span className="line-clamp-2 text-sm text-muted">{name}</span>
      <span className="figures flex flex-wrap items-baseline gap-x-2">
        <strong
          className={classes(
            'text-2xl leading-tight font-semibold',
            tone === 'critical' && 'text-critical',
            tone === 'high' && 'text-high',
          )}
        >
          {value ?? ' '}
        </strong>
        {note !== undefined && <span className="one-line text-sm text-muted">{note}</span>}
      </span>
      {value === undefined && Boolean(error) && (
        <span className="text-sm text-critical">
          <bdi>{sentenceOf(error).sentence}</bdi>
        </span>
      )}
      <span className="mt-auto block">{children}</span>
    </Link>
  );
}
