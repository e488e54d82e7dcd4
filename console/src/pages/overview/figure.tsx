import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { sentenceOf } from '../../shared/service/failure.tsx';
import type { Tone } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';

interface FigureProps {
  readonly name: string;
  /** undefined until it is loaded. */
  readonly value: string | undefined;
  /** The error of the request, shown as long as there is no value. */
  readonly error?: unknown;
  /** Qualifies the value, such as a total or a start time. */
  readonly note?: ReactNode;
  /** The path of the list that the figure counts. */
  readonly to: string;
  readonly search?: Readonly<Record<string, unknown>>;
  readonly tone?: Tone;
  readonly children?: ReactNode;
}

/** A key figure that links to the list it counts. Its space is reserved until it is loaded. */
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
          {value ??
            (error ? (
              ' '
            ) : (
              <span className="inline-block h-6 w-20 animate-pulse rounded bg-hover motion-reduce:animate-none" />
            ))}
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
