import type { IncidentTimelineEntry } from '@gantry/contract/incidents';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../shared/time/moment.tsx';
import { Icon } from '../../ui/icon.tsx';
import { TimelineItem } from './timeline-item.tsx';

/** Groups entries that are shown as one: consecutive events attached by the service that say nothing else. */
function grouped(entries: readonly IncidentTimelineEntry[]): readonly (readonly IncidentTimelineEntry[])[] {
  const groups: IncidentTimelineEntry[][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    if (group?.[0] && isAttached(entry) && isAttached(group[0])) group.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

function isAttached({ action, by, details }: IncidentTimelineEntry): boolean {
  return action === 'attachEvent' && by === null && details?.reportedSeverity === undefined;
}

/** The timeline of an incident, the latest entry first. */
export function Timeline({ entries }: { readonly entries: readonly IncidentTimelineEntry[] }) {
  return (
    <ol className="flex flex-col gap-3">
      {grouped(entries)
        .toReversed()
        .map((group) => {
          const [first] = group;
          if (!first) return null;
          const key = `${first.at.getTime()} ${first.action}`;
          return group.length === 1 ? (
            <TimelineItem key={key} entry={first} />
          ) : (
            <AttachedTogether key={key} entries={group} />
          );
        })}
    </ol>
  );
}

function AttachedTogether({ entries }: { readonly entries: readonly IncidentTimelineEntry[] }) {
  const { t, i18n } = useTranslation('incidents');
  const [first, last] = [entries[0], entries.at(-1)];
  return (
    <li className="flex gap-3">
      <Icon name="link" className="mt-0.5 text-muted" />
      <p className="flex min-w-0 grow flex-wrap items-baseline gap-x-2">
        <span className="font-medium">
          {t('attachedTogether', {
            count: entries.length,
            n: entries.length.toLocaleString(i18n.language),
          })}
        </span>
        <span className="text-muted">{t('byService')}</span>
        <span className="ms-auto text-sm text-muted" dir="ltr">
          {first && <Moment at={first.at} />} – {last && <Moment at={last.at} as="time" />}
        </span>
      </p>
    </li>
  );
}
