import type { Incident, IncidentAction, IncidentDetail } from '@gantry/contract/incidents';
import { permissionNames } from '@gantry/contract/permissions';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useParams, useRouter } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useOpenCase } from '../../shared/cases/open-case.tsx';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { Loaded } from '../../shared/page/resource-page.tsx';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { IncidentStatusBadge, SeverityBadge } from '../../shared/status/badges.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { UnbrokenDays } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { moves, useAllowed, useIsOfAnother } from './allowed.ts';
import { AttachedEvents } from './attached-events.tsx';
import { IncidentSides } from './incident-sides.tsx';
import { NoteComposer } from './note-composer.tsx';
import { ReportDialog, SituationReports } from './situation-reports.tsx';
import { Timeline } from './timeline.tsx';
import { type IncidentCommands, useIncidentCommands, useIncidentKeys } from './use-commands.tsx';
import { Agencies } from './work/agencies.tsx';
import { Cameras } from './work/cameras.tsx';
import { Checklist } from './work/checklist.tsx';
import { Facts } from './work/facts.tsx';
import { Lanes } from './work/lanes.tsx';
import { TimesStrip } from './work/times-strip.tsx';

/** The page of one incident: its details, timeline, attached events, and actions. */
export function IncidentPage() {
  const { incidentId } = useParams({ from: '/shell/incidents/$incidentId' });
  const isAllowed = useMay('manageIncidents');
  const query = useQuery({
    ...service.incidents.getById.queryOptions({ id: incidentId }),
    enabled: isAllowed,
    placeholderData: keepPreviousData,
  });
  if (!isAllowed) return <NotAllowed permission={permissionNames.manageIncidents} />;
  const { data, error, refetch } = query;
  const isThis = data?.id === incidentId;
  return (
    <Loaded query={{ data: isThis ? data : undefined, error, refetch }}>
      {(incident) => <IncidentView key={incident.id} incident={incident} />}
    </Loaded>
  );
}

function IncidentView({ incident }: { readonly incident: IncidentDetail }) {
  const { t } = useTranslation(['incidents', 'common']);
  const commands = useIncidentCommands();
  const title = useIncidentTitle()(incident);
  const note = useRef<HTMLTextAreaElement>(null);
  const back = useBack();
  useShortcuts([{ keys: 'Escape', label: t('back'), scope: 'page', run: back }]);
  useIncidentKeys(incident, commands, () => note.current?.focus());
  return (
    <>
      <PageHeader
        subject={title}
        title={
          <span className="flex min-w-0 items-center gap-2">
            <Button kind="quiet" icon="previous" iconOnly aria-label={t('back')} onClick={back} />
            <bdi className="line-clamp-2">
              <UnbrokenDays text={title} />
            </bdi>
          </span>
        }
        note={
          <span className="flex flex-wrap gap-3">
            <IncidentStatusBadge status={incident.status} />
            <SeverityBadge severity={incident.severity} />
            <span>{t(`common:incidentTypes.${incident.type}`)}</span>
          </span>
        }
      >
        <IncidentActions incident={incident} commands={commands} />
      </PageHeader>
      <PlatesHidden />
      {commands.conflict}
      <div className="grid min-h-0 grow content-start gap-3 overflow-y-auto px-4 py-3 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {incident.description !== null && (
            <p className="whitespace-pre-wrap">
              <bdi>{incident.description}</bdi>
            </p>
          )}
          {incident.backlog && (
            <p className="flex items-center gap-2 text-muted">
              <Icon name="time" /> {t('backlog')}
            </p>
          )}
          {incident.work.mergedInto && (
            <p className="flex flex-wrap items-center gap-2">
              <Icon name="link" /> {t('merge.into')}
              <Link
                to="/incidents/$incidentId"
                params={{ incidentId: incident.work.mergedInto.id }}
                className="text-accent underline"
              >
                <bdi>{incident.work.mergedInto.title}</bdi>
              </Link>
            </p>
          )}
          {incident.work.isFalseAlarm && (
            <p className="flex items-center gap-2 text-muted">
              <Icon name="none" /> {t('falseAlarm')}
            </p>
          )}
          <TimesStrip incident={incident} />
          <section aria-label={t('timeline')} className="flex flex-col gap-3">
            <h2 className="text-lg font-semibold">{t('timeline')}</h2>
            <NoteComposer incident={incident} area={note} />
            <Timeline entries={incident.timeline} />
          </section>
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Checklist incident={incident} />
          <Lanes incident={incident} />
          <Agencies incident={incident} />
          <IncidentSides incident={incident} commands={commands} />
          <Cameras incident={incident} />
          <SituationReports incident={incident} />
          <Facts incident={incident} />
          <AttachedEvents incident={incident} commands={commands} />
        </div>
      </div>
      {commands.dialogs}
    </>
  );
}

/** Goes back to the previous page with its filters, or to the board if there is no history entry to go back to. */
function useBack(): () => void {
  const router = useRouter();
  return () => {
    if (router.history.canGoBack()) router.history.back();
    else void router.navigate({ to: '/incidents' });
  };
}

interface IncidentActionsProps {
  readonly incident: Incident;
  readonly commands: IncidentCommands;
}

const others = [
  ['assign', 'users'],
  ['update', 'edit'],
  ['attachEvent', 'link'],
  ['merge', 'link'],
  ['rejectFalse', 'none'],
] as const satisfies readonly (readonly [IncidentAction, IconName])[];

/** The actions that the state of the incident and the user's role allow, the next step first. */
function IncidentActions({ incident, commands }: IncidentActionsProps) {
  const { t } = useTranslation(['incidents', 'common']);
  const allowed = useAllowed();
  const steps = moves.filter((action) => allowed(incident, action));
  const [reports, setReports] = useState(false);
  const mayReport = useMay('generateReports');
  const openCase = useOpenCase();
  const isOfAnother = useIsOfAnother()(incident);
  const items: { label: string; icon: IconName; onSelect: () => void }[] = others
    .filter(([action]) => allowed(incident, action))
    .map(([action, icon]) => ({
      label: t(`actions.${action}`),
      icon,
      onSelect: () => commands.run(action, incident),
    }));
  if (mayReport) items.push({ label: t('report.make'), icon: 'file', onSelect: () => setReports(true) });
  if (openCase)
    items.push({
      label: t('common:openCase'),
      icon: 'case',
      onSelect: () => openCase.run({ incidentId: incident.id }),
    });
  if (steps.length === 0 && items.length === 0)
    return isOfAnother ? <p className="text-sm text-muted">{t('notYours')}</p> : null;
  return (
    <>
      {steps.map((action, at) => (
        <Button
          key={action}
          kind={at === 0 ? 'primary' : 'plain'}
          onClick={() => commands.run(action, incident)}
        >
          {t(`actions.${action}`)}
        </Button>
      ))}
      {items.length > 0 && <Menu trigger={<Button icon="menu">{t('actions.more')}</Button>} items={items} />}
      {reports && <ReportDialog incident={incident} onClose={() => setReports(false)} />}
    </>
  );
}
