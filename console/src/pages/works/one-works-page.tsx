import { permissionNames } from '@gantry/contract/permissions';
import { type WorksAction, worksStateAfter } from '@gantry/contract/work-states';
import type { WorksDetail } from '@gantry/contract/works';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../shared/form/form.ts';
import { ConfirmDialog, FormDialog } from '../../shared/form/form-dialog.tsx';
import { PlaceMap } from '../../shared/map/map.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { Loaded, ResourcePage } from '../../shared/page/resource-page.tsx';
import { useAllLocations, useLocationPoints } from '../../shared/places/points.ts';
import { useMapWorks, useWorksBasis, whereOf } from '../../shared/places/works.ts';
import { queryClient } from '../../shared/service/queries.ts';
import { api, service } from '../../shared/service/service.ts';
import { useMay, useUser } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { BackLink, LinkButton } from '../../ui/links.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { ScrolledTable } from '../../ui/scrolled-table.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { WindowBadge, WorksStateBadge } from './parts.tsx';
import { WorksDialog } from './works-dialog.tsx';

/** Planned works: what, where, when, and what became of their windows. */
export function OneWorksPage() {
  const { worksId } = useParams({ from: '/shell/works/$worksId' });
  const mayRead = useMay('manageIncidents');
  const query = useQuery({ ...service.works.getById.queryOptions({ id: worksId }), enabled: mayRead });
  if (!mayRead) return <NotAllowed permission={permissionNames.manageIncidents} />;
  return <Loaded query={query}>{(works) => <WorksView key={works.id} works={works} />}</Loaded>;
}

const readAgain = () => void queryClient.invalidateQueries({ queryKey: service.works.pathKey() });

function WorksView({ works }: { readonly works: WorksDetail }) {
  const { t } = useTranslation('works');
  return (
    <ResourcePage
      name={works.title}
      back={<BackLink to="/works" aria-label={t('back')} />}
      note={<WorksStateBadge state={works.state} />}
      commands={<Commands works={works} />}
      main={
        <>
          {works.state === 'DRAFT' && <p className="text-muted">{t('draftText')}</p>}
          <Overlaps works={works} />
          <Windows works={works} />
        </>
      }
      side={
        <>
          <Details works={works} />
          <OnMap works={works} />
          {works.sensorIds.length > 0 && <Sensors works={works} />}
        </>
      }
    />
  );
}

function Commands({ works }: { readonly works: WorksDetail }) {
  const { t } = useTranslation('works');
  const { say, sayFailure } = useNotices();
  const user = useUser();
  const mayApprove = useMay('approveWorks');
  const [asked, setAsked] = useState<'edit' | 'end' | 'cancel' | null>(null);
  const { id, version, state, proposedBy } = works;
  const allows = (action: WorksAction) => worksStateAfter(action, state) !== null;
  const approve = useMutation({
    mutationFn: () => api.works.approve.mutate({ id, expectedVersion: version }),
    onSuccess: () => {
      say(t('approved'));
      readAgain();
    },
    onError: sayFailure,
  });
  const edit = () => allows('describe') && setAsked('edit');
  useShortcuts([{ keys: 'e', label: t('edit'), scope: 'page', run: edit }]);
  const isOwn = proposedBy?.id === user.id && user.role !== 'ADMIN';
  return (
    <>
      {works.incidentId !== null && (
        <LinkButton icon="incident" to="/incidents/$incidentId" params={{ incidentId: works.incidentId }}>
          {t('incident')}
        </LinkButton>
      )}
      {allows('approve') && mayApprove && (
        <Button
          kind="primary"
          icon="acknowledge"
          disabled={approve.isPending}
          title={isOwn ? t('ownText') : undefined}
          onClick={() => approve.mutate()}
        >
          {t('approve')}
        </Button>
      )}
      {allows('prolong') && (
        <Button icon="good" onClick={() => setAsked('end')}>
          {t('endNow')}
        </Button>
      )}
      {allows('describe') && (
        <Button icon="edit" onClick={edit}>
          {t('edit')}
        </Button>
      )}
      {allows('cancel') && (
        <Button kind="danger" icon="none" onClick={() => setAsked('cancel')}>
          {t('cancel')}
        </Button>
      )}
      {asked === 'edit' && (
        <WorksDialog works={works} onClose={() => setAsked(null)} onSaved={() => say(t('saved'))} />
      )}
      {asked === 'end' && (
        <ConfirmDialog
          title={t('endNow')}
          action={t('endNow')}
          run={() => api.works.update.mutate({ id, endsAt: new Date().toISOString() })}
          onDone={() => {
            setAsked(null);
            say(t('endedNow'));
            readAgain();
          }}
          onClose={() => setAsked(null)}
        >
          <p>{t('endText')}</p>
        </ConfirmDialog>
      )}
      {asked === 'cancel' && <CancelDialog works={works} onClose={() => setAsked(null)} />}
    </>
  );
}

function CancelDialog({ works, onClose }: { readonly works: WorksDetail; readonly onClose: () => void }) {
  const { t } = useTranslation('works');
  const form = useForm({
    keep: `cancel works ${works.id}`,
    read: (entered) => ({ id: works.id, reason: entered.text('reason') }),
    save: (input) => api.works.cancel.mutate(input),
    onSuccess: () => {
      readAgain();
      onClose();
    },
  });
  return (
    <FormDialog title={t('cancel')} form={form} onClose={onClose} action={t('cancel')}>
      <p>{t(works.state === 'ACTIVE' ? 'cancelActiveText' : 'cancelText')}</p>
      <Field
        label={t('fields.reason')}
        name="reason"
        maxLength={500}
        required
        autoFocus
        error={form.errorOf('reason')}
      />
    </FormDialog>
  );
}

/** Other works on the same carriageway at the same time. */
function Overlaps({ works: { overlaps } }: { readonly works: WorksDetail }) {
  const { t } = useTranslation('works');
  if (overlaps.length === 0) return null;
  return (
    <section
      aria-label={t('overlaps')}
      className="flex flex-col gap-1 rounded-md border border-medium bg-medium-surface p-3"
    >
      <h2 className="flex items-center gap-2 font-semibold">
        <Icon name="high" /> {t('overlaps')}
      </h2>
      <ul>
        {overlaps.map(({ id, title, state, from, until }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-3">
            <Link to="/works/$worksId" params={{ worksId: id }} className="text-accent underline">
              <bdi>{title}</bdi>
            </Link>
            <WorksStateBadge state={state} />
            <span dir="ltr">
              <Moment at={from} /> – <Moment at={until} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Windows({ works: { windows } }: { readonly works: WorksDetail }) {
  const { t } = useTranslation('works');
  return (
    <Panel title={t('windowsTitle')} isFull>
      {windows.length === 0 ? (
        <p className="p-3 text-muted">{t('noWindows')}</p>
      ) : (
        <ScrolledTable
          label={t('windowsTitle')}
          head="bg-surface"
          className="max-h-none"
          rows={windows}
          keyOf={({ from, beganAt }) => `${from.getTime()} ${beganAt?.getTime()}`}
          columns={[
            { header: t('fields.from'), cell: ({ from }) => <Moment at={from} /> },
            { header: t('fields.until'), cell: ({ until }) => <Moment at={until} /> },
            { header: t('fields.state'), cell: ({ state }) => <WindowBadge state={state} /> },
            {
              header: t('incident'),
              cell: ({ incidentId }) =>
                incidentId !== null && (
                  <Link to="/incidents/$incidentId" params={{ incidentId }} className="text-accent underline">
                    {t('incident')}
                  </Link>
                ),
            },
          ]}
        />
      )}
    </Panel>
  );
}

function Details({ works }: { readonly works: WorksDetail }) {
  const { t, i18n } = useTranslation('works');
  const { kind, description, contact, startsAt, endsAt, timezone, recurrence, lanes, geometry } = works;
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: 'UTC' });
  const days = recurrence?.weekdays.map((day) => weekday.format(Date.UTC(2024, 0, day))).join(', ');
  const point = geometry?.type === 'Point' ? geometry.coordinates : geometry?.coordinates[0];
  const who = (person: { readonly name: string } | null, at: Date | null) =>
    person && (
      <>
        <bdi>{person.name}</bdi> {at && <Moment at={at} />}
      </>
    );
  return (
    <Panel title={t('details')}>
      <Facts
        facts={[
          [t('fields.kind'), t(`kinds.${kind}`)],
          [t('fields.where'), <bdi key="where">{whereOf(works)}</bdi>],
          [
            t('fields.coordinates'),
            point && (
              <bdi dir="ltr" className="figures">
                {point[1]}, {point[0]}
              </bdi>
            ),
          ],
          [
            t('fields.lanes'),
            lanes
              ?.map((state, n) => `${(n + 1).toLocaleString(i18n.language)} ${t(`lanes.${state}`)}`)
              .join(', '),
          ],
          [t('fields.startsAt'), <Moment key="start" at={startsAt} />],
          [t('fields.endsAt'), <Moment key="end" at={endsAt} />],
          [
            t('hours.title'),
            recurrence && (
              <>
                <bdi dir="ltr" className="figures">
                  {recurrence.from} – {recurrence.until}
                </bdi>{' '}
                {days} <bdi dir="ltr">({timezone})</bdi>
              </>
            ),
          ],
          [t('fields.opensIncident'), works.opensIncident && t('yes')],
          [t('fields.contact'), contact !== null && <bdi>{contact}</bdi>],
          [
            t('fields.description'),
            description !== null && <bdi className="whitespace-pre-wrap">{description}</bdi>,
          ],
          [t('fields.createdBy'), who(works.createdBy, works.createdAt)],
          [
            t('fields.proposedBy'),
            works.proposedBy?.id !== works.createdBy?.id && who(works.proposedBy, null),
          ],
          [t('fields.approvedBy'), who(works.approvedBy, works.approvedAt)],
          [t('fields.cancelledBy'), who(works.cancelledBy, null)],
          [t('fields.reason'), works.cancelReason !== null && <bdi>{works.cancelReason}</bdi>],
        ]}
      />
    </Panel>
  );
}

/** Where the works are, among the locations of their road. */
function OnMap({ works }: { readonly works: WorksDetail }) {
  const { t } = useTranslation('works');
  const { id, title, road, locationId, onMap, state, window, startsAt, endsAt } = works;
  const { data } = useAllLocations(onMap !== null);
  const around = useMemo(() => {
    const name = road?.toLowerCase();
    return (data ?? []).filter(
      (each) => each.id === locationId || (name && each.road?.toLowerCase() === name),
    );
  }, [data, road, locationId]);
  const [from, until] = [window?.from ?? startsAt, window?.until ?? endsAt];
  const legend = `${t('title')}: ${t(`states.${state}`)}`;
  const drawn = useMapWorks(
    useMemo(
      () => [{ id, title, from, until, isInForce: state === 'ACTIVE', legend, onMap }],
      [id, title, from, until, state, legend, onMap],
    ),
  );
  const points = useLocationPoints(around);
  const basisOf = useWorksBasis();
  return (
    <Panel title={t('onMap.title')}>
      {drawn.length > 0 && (
        <div className="h-64">
          <PlaceMap label={title} fit="works" points={points} works={drawn} onSelect={() => undefined} />
        </div>
      )}
      <p className="text-sm text-muted">{basisOf(onMap)}</p>
    </Panel>
  );
}

function Sensors({ works: { sensors, sensorIds } }: { readonly works: WorksDetail }) {
  const { t } = useTranslation('works');
  const gone = sensorIds.length - sensors.length;
  return (
    <Panel title={t('fields.sensors')} isFull>
      <ul>
        {sensors.map(({ id, name }) => (
          <li key={id} className="border-b last:border-b-0">
            <Link
              to="/sensors/$sensorId"
              params={{ sensorId: id }}
              className="flex min-h-9 items-center px-3 text-accent underline pointer-coarse:min-h-11"
            >
              <bdi>{name}</bdi>
            </Link>
          </li>
        ))}
      </ul>
      {gone > 0 && <p className="p-3 text-muted">{t('sensorsGone', { count: gone })}</p>}
    </Panel>
  );
}
