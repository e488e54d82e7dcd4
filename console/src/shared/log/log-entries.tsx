import type { LogEntry, LogKind } from '@gantry/contract/log';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Badge, type Look } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { Moment } from '../time/moment.tsx';
import { refIcons } from './ref-list.tsx';

const kindLooks: Readonly<Record<LogKind, Look>> = {
  NOTE: { tone: 'calm', icon: 'edit' },
  CALL: { tone: 'calm', icon: 'sound' },
  INSTRUCTION: { tone: 'medium', icon: 'alert' },
  FAULT: { tone: 'high', icon: 'maintenance' },
  VISIT: { tone: 'calm', icon: 'users' },
};

interface LogEntriesProps {
  readonly label: string;
  readonly entries: readonly LogEntry[];
  /** The commands for an entry. */
  readonly commandsFor?: (entry: LogEntry) => ReactNode;
}

/** Entries of the log. */
export function LogEntries({ label, entries, commandsFor }: LogEntriesProps) {
  const { t } = useTranslation('log');
  return (
    <ol aria-label={label} className="flex flex-col">
      {entries.map((entry) => {
        const { id, at, createdAt, isLate, by, kind, text, source, refs, corrects, correctedBy, validUntil } =
          entry;
        const from = source && [source.who, source.agency, source.phone].filter((each) => each !== null);
        return (
          <li
            key={id}
            className="flex items-start gap-x-3 border-b px-3 py-2 last:border-b-0 max-sm:flex-wrap"
          >
            <Moment at={at} className="shrink-0 text-sm text-muted max-sm:w-full" />
            <div className="flex min-w-0 grow basis-0 flex-col gap-0.5">
              <p
                className={classes(
                  'whitespace-pre-wrap wrap-anywhere',
                  correctedBy !== null && 'text-muted line-through',
                )}
              >
                <bdi>{text}</bdi>
              </p>
              <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
                <Badge {...kindLooks[kind]}>{t(`kinds.${kind}`)}</Badge>
                <bdi>{by.name}</bdi>
                {from && from.length > 0 && (
                  <span>
                    {t('from')} <bdi>{from.join(', ')}</bdi>
                  </span>
                )}
                {refs.map((ref) => (
                  <RefLink key={`${ref.kind} ${ref.id}`} kind={ref.kind} id={ref.id} name={ref.name} />
                ))}
                {validUntil && (
                  <span>
                    {t('validUntil')} <Moment at={validUntil} />
                  </span>
                )}
                {isLate && (
                  <span>
                    {t('late')} <Moment at={createdAt} />
                  </span>
                )}
                {correctedBy !== null && <span>{t('wasCorrected')}</span>}
                {corrects !== null && <span>{t('isCorrection')}</span>}
              </p>
            </div>
            {commandsFor?.(entry)}
          </li>
        );
      })}
    </ol>
  );
}

function RefLink({ kind, id, name }: LogEntry['refs'][number]) {
  const to = { INCIDENT: `/incidents/${id}`, SENSOR: `/sensors/${id}`, LOCATION: `/locations/${id}` }[kind];
  return (
    <Link to={to} className="inline-flex items-center gap-1 text-accent underline">
      <Icon name={refIcons[kind]} size={14} />
      <bdi>{name}</bdi>
    </Link>
  );
}
