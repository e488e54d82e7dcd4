import type { IncidentTimelineEntry } from '@gantry/contract/incidents';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../shared/time/moment.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { ChangeList } from './change-list.tsx';
import { NotePictures, picturesOf } from './photos/note-pictures.tsx';

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
