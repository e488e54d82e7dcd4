import type { IncidentTimelineEntry } from '@gantry/contract/incidents';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../shared/time/moment.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { ChangeList } from './change-list.tsx';
import { NotePictures, picturesOf } from './photos/note-pictures.tsx';

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
  const { t } = useTranslation('incidents');
  const [first, last] = [entries[0], entries.at(-1)];
  return (
    <li className="flex gap-3">
      <Icon name="link" className="mt-0.5 text-muted" />
      <p className="flex min-w-0 grow flex-wrap items-baseline gap-x-2">
        <span className="font-medium">{t('attachedTogether', { count: entries.length })}</span>
        <span className="text-muted">{t('byService')}</span>
        <span className="ms-auto text-sm text-muted" dir="ltr">
          {first && <Moment at={first.at} />} – {last && <Moment at={last.at} as="time" />}
        </span>
      </p>
    </li>
  );
}

const icons: Readonly<Record<IncidentTimelineEntry['action'], IconName>> = {
  create: 'incident',
  acknowledge: 'acknowledge',
  start: 'maintenance',
  resolve: 'good',
  close: 'none',
  reopen: 'undo',
  assign: 'users',
  update: 'edit',
  attachEvent: 'link',
  addNote: 'file',
};

/** One entry of the timeline: action, user, time, note, pictures and changes. */
export function TimelineItem({ entry }: { readonly entry: IncidentTimelineEntry }) {
  const { t } = useTranslation('incidents');
  const { action, at, by, note, details } = entry;
  const pictures = picturesOf(details);
  return (
    <li className="flex gap-3">
      <Icon name={icons[action]} className="mt-0.5 text-muted" />
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{t(`done.${action}`)}</span>
          <bdi className="text-muted">{by?.name ?? t('byService')}</bdi>
          <span className="ms-auto text-sm text-muted">
            <Moment at={at} />
          </span>
        </p>
        {note !== null && (
          <p className="mt-0.5 whitespace-pre-wrap">
            <span className="block border-s-2 ps-2">
              <bdi>{note}</bdi>
            </span>
          </p>
        )}
        {pictures.length > 0 && <NotePictures images={pictures} by={by?.name ?? t('byService')} />}
        <ChangeList action={action} details={details} />
      </div>
    </li>
  );
}
