import type { WatchlistAlert } from '@gantry/contract/watchlist';
import { Link } from '@tanstack/react-router';
import type { ReactNode, RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import { Faster, isConflict, useFasterText } from '../../shared/conflict/faster.tsx';
import { useDrafts } from '../../shared/form/drafts.ts';
import { sendWithKeys } from '../../shared/form/form.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { useSeesPlates } from '../../shared/service/plates.tsx';
import { useUser } from '../../shared/session/session.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import type { Acknowledge } from './use-acknowledge.ts';

interface AlertPaneProps {
  readonly alert: WatchlistAlert;
  readonly area: RefObject<HTMLTextAreaElement | null>;
  readonly acknowledge: Acknowledge;
  readonly onClose: () => void;
}

/** The pane for the details of an alert, next to the list or, on small screens, below it. */
export function AlertAside({
  onClose,
  children,
}: {
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { t } = useTranslation('watchlist');
  useShortcuts([{ keys: 'Escape', label: t('alerts.close'), scope: 'page', run: onClose }]);
  return (
    <aside
      aria-label={t('alerts.details')}
      className="flex max-h-[60%] shrink-0 flex-col gap-3 overflow-y-auto border-t bg-surface p-4 lg:max-h-none lg:w-96 lg:border-s lg:border-t-0"
    >
      {children}
    </aside>
  );
}

/** The details of an alert: the plate as read, the pattern, the reason, and the acknowledgement or the form for it. */
export function AlertPane({ alert, area, acknowledge, onClose }: AlertPaneProps) {
  const { t, i18n } = useTranslation(['watchlist', 'common']);
  const { priority, licensePlateNumber, pattern, reason, timestamp, createdAt } = alert;
  const seesPlates = useSeesPlates();
  const user = useUser();
  const isRefused = acknowledge.error !== null && acknowledge.variables?.id === alert.id;
  const isWritten = Boolean(useDrafts().get(alert.id)?.note) && alert.acknowledgedBy?.id !== user.id;
  return (
    <AlertAside onClose={onClose}>
      <header className="flex items-start gap-2">
        <div className="min-w-0 grow">
          <span className="flex flex-wrap items-center gap-3">
            <SeverityBadge severity={priority} />
            {alert.backlog && (
              <Badge tone="low" icon="time" filled>
                {t('alerts.backlog')}
              </Badge>
            )}
          </span>
          <p className="mt-1 text-xl font-semibold">
            <bdi className="font-mono">{licensePlateNumber}</bdi>
          </p>
          <p className="text-muted">
            {t('fields.pattern')} <bdi className="font-mono">{pattern}</bdi>
          </p>
        </div>
        <Button kind="quiet" icon="close" iconOnly aria-label={t('common:dialog.close')} onClick={onClose} />
      </header>
      <p>
        <bdi>{reason}</bdi>
      </p>
      {alert.backlog && <p className="text-muted">{t('alerts.backlogText')}</p>}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        <Row name={t('fields.place')}>
          <bdi>{alert.locationName ?? t('none')}</bdi>
        </Row>
        <Row name={t('fields.sensor')}>
          <bdi>{alert.sensorName ?? t('none')}</bdi>
        </Row>
        <Row name={t('fields.read')}>
          <Moment at={timestamp} />
        </Row>
        {alert.sightings > 1 && (
          <>
            <Row name={t('fields.lastSeen')}>
              <Moment at={alert.lastSeenAt} />
            </Row>
            <Row name={t('fields.sightings')}>{alert.sightings.toLocaleString(i18n.language)}</Row>
          </>
        )}
        <Row name={t('fields.raised')}>
          <Moment at={createdAt} />
        </Row>
      </dl>
      <div className="flex flex-wrap gap-x-4 gap-y-2">
        <Link to="/events" search={{ event: alert.eventId }} className="text-accent underline">
          {t('alerts.event')}
        </Link>
        {seesPlates && (
          <Link to="/events" search={{ licensePlateNumber }} className="text-accent underline">
            {t('alerts.reads')}
          </Link>
        )}
        <Link to="/watchlist" search={{ entryId: alert.entryId }} className="text-accent underline">
          {t('alerts.ofEntry')}
        </Link>
      </div>
      {alert.acknowledgedAt && <Acknowledged alert={alert} />}
      {/* The note that the user has typed stays visible when another user acknowledged the alert first. */}
      {(!alert.acknowledgedAt || isRefused || isWritten) && (
        <AcknowledgeForm alert={alert} area={area} acknowledge={acknowledge} />
      )}
    </AlertAside>
  );
}

function Acknowledged({ alert }: Pick<AlertPaneProps, 'alert'>) {
  const { t } = useTranslation('watchlist');
  return (
    <div className="rounded-md border p-3">
      <p className="flex flex-wrap gap-x-2">
        <span className="font-medium">{t('alerts.acknowledged')}</span>
        <bdi>{alert.acknowledgedBy?.name}</bdi>
        {alert.acknowledgedAt && <Moment at={alert.acknowledgedAt} className="text-muted" />}
      </p>
      {alert.note !== null && <bdi className="mt-1 block whitespace-pre-wrap">{alert.note}</bdi>}
    </div>
  );
}

function AcknowledgeForm({ alert, area, acknowledge }: Omit<AlertPaneProps, 'onClose'>) {
  const { t } = useTranslation('watchlist');
  const fasterText = useFasterText();
  const drafts = useDrafts();
  const isThis = acknowledge.variables?.id === alert.id;
  return (
    <form
      onKeyDown={sendWithKeys}
      onSubmit={(event) => {
        event.preventDefault();
        void acknowledge.acknowledge(alert, area.current?.value ?? '');
      }}
      className="flex flex-col gap-2"
    >
      <Field
        area={area}
        label={t('alerts.noteLabel')}
        name="note"
        lines={2}
        defaultValue={drafts.get(alert.id)?.note}
        onChange={({ target }) => drafts.keep(alert.id, { note: target.value })}
        maxLength={1000}
      />
      {isThis && isConflict(acknowledge.error) && (
        <Faster error={acknowledge.error}>
          {alert.acknowledgedAt && (
            <p>
              {fasterText({
                what: 'acknowledged',
                who: alert.acknowledgedBy?.name,
                at: alert.acknowledgedAt,
              })}
            </p>
          )}
        </Faster>
      )}
      {isThis && acknowledge.error && !isConflict(acknowledge.error) && <Failure error={acknowledge.error} />}
      <Button
        kind="primary"
        type="submit"
        icon="acknowledge"
        disabled={alert.acknowledgedAt !== null || (isThis && acknowledge.isPending)}
      >
        {t('alerts.acknowledge')}
      </Button>
    </form>
  );
}

function Row({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
