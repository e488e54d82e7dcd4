import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isConflict, useFasterText } from '../../../shared/conflict/faster.tsx';
import { ConfirmDialog } from '../../../shared/form/form-dialog.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { SidePane } from '../../../shared/table/side-pane.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { StateBadge } from '../state-badge.tsx';
import { refreshStorage } from '../storage/refresh.ts';

/** Number of events that are listed until the user asks for all. */
const SHOWN = 20;

/** A legal hold with its events. */
export function HoldPane({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { t, i18n } = useTranslation('administration');
  const { say } = useNotices();
  const fasterText = useFasterText();
  const [releases, setReleases] = useState(false);
  const [isAll, setAll] = useState(false);
  const { data: hold, error, refetch } = useQuery(service.storage.getHold.queryOptions({ id }));
  const n = hold?.eventCount.toLocaleString(i18n.language) ?? '';
  return (
    <SidePane label={t('holds.details')} title={t('holds.details')} onClose={onClose}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!hold && !error && <Skeleton rows={6} />}
      {hold && (
        <>
          <p className="max-h-48 shrink-0 overflow-y-auto whitespace-pre-wrap">
            <bdi>{hold.reason}</bdi>
          </p>
          <Facts
            facts={[
              [
                t('holds.state'),
                <StateBadge key="state" state={hold.releasedAt ? 'holds.released' : 'holds.active'} />,
              ],
              [t('holds.at'), <Moment key="at" at={hold.createdAt} />],
              [t('holds.by'), hold.createdBy && <bdi key="by">{hold.createdBy.name}</bdi>],
              [t('holds.releasedAt'), hold.releasedAt && <Moment key="until" at={hold.releasedAt} />],
              [t('holds.releasedBy'), hold.releasedBy && <bdi key="who">{hold.releasedBy.name}</bdi>],
            ]}
          />
          {!hold.releasedAt && (
            <Button kind="danger" className="self-start" onClick={() => setReleases(true)}>
              {t('holds.release')}
            </Button>
          )}
          <Panel title={t('holds.events', { count: hold.eventCount, n })} isFull>
            <ul>
              {hold.eventIds.slice(0, isAll ? undefined : SHOWN).map((eventId) => (
                <li key={eventId} className="border-b px-3 py-1.5 last:border-b-0">
                  <Link to="/events" search={{ event: eventId }} className="text-accent underline">
                    <bdi className="font-mono text-sm">{eventId}</bdi>
                  </Link>
                </li>
              ))}
            </ul>
            {!isAll && hold.eventIds.length > SHOWN && (
              <Button kind="quiet" onClick={() => setAll(true)}>
                {t('holds.showAll')}
              </Button>
            )}
          </Panel>
          {releases && (
            <ConfirmDialog
              title={t('holds.releaseTitle')}
              action={t('holds.release')}
              run={() =>
                api.storage.releaseHold.mutate({ id }).catch(async (error: unknown) => {
                  if (!isConflict(error)) throw error;
                  const { releasedAt, releasedBy } = await api.storage.getHold.query({ id });
                  void refreshStorage();
                  if (!releasedAt) throw error;
                  throw new Error(fasterText({ what: 'released', who: releasedBy?.name, at: releasedAt }));
                })
              }
              onDone={() => {
                setReleases(false);
                say(t('holds.wasReleased'));
                void refreshStorage();
              }}
              onClose={() => setReleases(false)}
            >
              <p>{t('holds.releaseText', { count: hold.eventCount, n })}</p>
            </ConfirmDialog>
          )}
        </>
      )}
    </SidePane>
  );
}
