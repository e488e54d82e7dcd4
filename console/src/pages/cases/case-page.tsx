import type { CaseDetail } from '@gantry/contract/cases';
import { permissionNames } from '@gantry/contract/permissions';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { Loaded, ResourcePage } from '../../shared/page/resource-page.tsx';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { service } from '../../shared/service/service.ts';
import { useMay, useUser } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { BackLink, LinkButton } from '../../ui/links.tsx';
import { later } from '../../ui/load-code.ts';
import { Menu } from '../../ui/menu.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { Compare } from './compare.tsx';
import { Checks, Speed } from './evidence.tsx';
import { Exports } from './exports.tsx';
import { Items } from './items.tsx';
import { Log } from './log.tsx';
import { CaseStateBadge, imagesOf, useSubject } from './parts.tsx';
import { type StepName, stepsOf } from './steps.ts';

const useStepDialog = later(async () => (await import('./step-dialog.tsx')).StepDialog);

/** The page of one case: its images, the arithmetic of its speed, checks, items and log, and the next steps. */
export function CasePage() {
  const { caseId } = useParams({ from: '/shell/cases/$caseId' });
  const isAllowed = useMay('verifyCases');
  const query = useQuery({ ...service.cases.getById.queryOptions({ id: caseId }), enabled: isAllowed });
  if (!isAllowed) return <NotAllowed permission={permissionNames.verifyCases} />;
  return <Loaded query={query}>{(of) => <CaseView key={of.id} of={of} />}</Loaded>;
}

function CaseView({ of }: { readonly of: CaseDetail }) {
  const { t } = useTranslation('cases');
  const subject = useSubject()(of);
  const images = imagesOf(of.items);
  return (
    <>
      <PlatesHidden />
      <ResourcePage
        name={`${of.number} ${subject}`}
        back={<BackLink to="/cases" aria-label={t('back')} />}
        note={<CaseStateBadge state={of.state} />}
        commands={
          <>
            <NextToSecond of={of} />
            <Steps of={of} />
          </>
        }
        main={
          <>
            <Hindrances of={of} />
            {images.length > 0 ? (
              <Compare images={images} lines={of.lines} />
            ) : (
              <p className="flex items-center gap-2 text-muted">
                <Icon name="image" /> {t('noImages')}
              </p>
            )}
            <Speed of={of} />
            <Checks of={of} />
          </>
        }
        side={
          <>
            <About of={of} />
            <Items of={of} />
            {(of.exports.length > 0 || of.lockedAt !== null) && <Exports of={of} />}
            <Log of={of} />
          </>
        }
      />
    </>
  );
}

const icons: Readonly<Record<StepName, IconName>> = {
  check: 'acknowledge',
  verify: 'good',
  decide: 'good',
  export: 'download',
  dispute: 'high',
  reject: 'none',
  close: 'hold',
  unlock: 'key',
};

/** Each step has a key of its own, so that no key does something else in another state; only one of the first is possible. */
const keys: Readonly<Record<StepName, string>> = {
  check: '1',
  verify: '1',
  decide: '1',
  export: '1',
  dispute: '2',
  reject: '3',
  close: '4',
  unlock: '5',
};

/** The steps that the user may take: the first two as buttons, the others in a menu. */
function Steps({ of }: { readonly of: CaseDetail }) {
  const { t } = useTranslation('cases');
  const user = useUser();
  const [asked, setAsked] = useState<StepName | null>(null);
  const StepDialog = useStepDialog(asked !== null);
  const steps = stepsOf(of, user)
    .filter(({ hindrance }) => hindrance === null)
    .map(({ name }) => name);
  const [first, second, ...rest] = steps;
  useShortcuts(
    steps.map((name) => ({
      keys: keys[name],
      label: t(`steps.${name}`),
      scope: 'page' as const,
      run: () => setAsked(name),
    })),
  );
  return (
    <>
      {[first, second].map(
        (name) =>
          name && (
            <Button
              key={name}
              kind={name === 'reject' ? 'danger' : name === first ? 'primary' : 'plain'}
              icon={icons[name]}
              onClick={() => setAsked(name)}
            >
              {t(`steps.${name}`)}
            </Button>
          ),
      )}
      {rest.length > 0 && (
        <Menu
          trigger={<Button icon="menu">{t('more')}</Button>}
          items={rest.map((name) => ({
            label: t(`steps.${name}`),
            icon: icons[name],
            onSelect: () => setAsked(name),
          }))}
        />
      )}
      {asked !== null && StepDialog && (
        <StepDialog key={asked} name={asked} of={of} onClose={() => setAsked(null)} />
      )}
    </>
  );
}

/** Leads to the oldest case that waits for the user as the second person, once this one is done with. */
function NextToSecond({ of }: { readonly of: CaseDetail }) {
  const { t } = useTranslation('cases');
  const { data } = useQuery(service.cases.getAll.queryOptions({ mine: 'SECOND', take: 1 }));
  const [next] = data?.cases ?? [];
  if (!next || next.id === of.id || of.state === 'NEW') return null;
  return (
    <LinkButton icon="next" to="/cases/$caseId" params={{ caseId: next.number }}>
      {t('nextToSecond')}
    </LinkButton>
  );
}

/** Says why the user may not take the next step, such as the second one of two people. */
function Hindrances({ of }: { readonly of: CaseDetail }) {
  const { t } = useTranslation('cases');
  const user = useUser();
  const [next] = stepsOf(of, user);
  const text =
    of.closedAt !== null
      ? t(next ? 'closedExportable' : 'closed')
      : next?.hindrance
        ? t(`hindrances.${next.hindrance}`)
        : t(of.state === 'CHECKED' && !of.needsSecond ? 'next.CHECKED_BY_ONE' : `next.${of.state}`);
  return (
    <p
      className={
        next?.hindrance
          ? 'flex gap-2 rounded-md border border-medium bg-medium-surface p-3'
          : 'flex gap-2 text-muted'
      }
    >
      <Icon name={next?.hindrance ? 'users' : 'help'} className="mt-0.5" />
      <span>{text}</span>
    </p>
  );
}

function About({ of }: { readonly of: CaseDetail }) {
  const { t } = useTranslation('cases');
  const who = (person: { readonly name: string } | null, at: Date | null) =>
    at && (
      <>
        <bdi>{person?.name ?? t('byService')}</bdi> <Moment at={at} className="text-muted" />
      </>
    );
  return (
    <Panel title={t('about')}>
      <Facts
        facts={[
          [t('fields.kind'), t(`kinds.${of.kind}`)],
          [
            t('fields.plate'),
            of.licensePlateNumber !== null && <bdi className="font-mono">{of.licensePlateNumber}</bdi>,
          ],
          [t('fields.region'), of.plateRegion !== null && <bdi>{of.plateRegion}</bdi>],
          [t('fields.happenedAt'), <Moment key="at" at={of.happenedAt} />],
          [t('fields.place'), of.locationName !== null && <bdi>{of.locationName}</bdi>],
          [
            t('fields.sensor'),
            of.sensorId !== null && (
              <Link
                to="/sensors/$sensorId"
                params={{ sensorId: of.sensorId }}
                className="text-accent underline"
              >
                <bdi>{of.sensorName ?? of.sensorId}</bdi>
              </Link>
            ),
          ],
          [t('fields.opened'), who(of.openedBy, of.openedAt)],
          [t('fields.firstBy'), who(of.firstBy, of.firstAt)],
          [t('fields.secondBy'), who(of.secondBy, of.secondAt)],
          [t('fields.decidedBy'), who(of.decidedBy, of.decidedAt)],
          [t('fields.code'), of.code !== null && t(`codes.${of.code}`)],
          [
            t('fields.text'),
            of.codeText !== null && <bdi className="whitespace-pre-wrap">{of.codeText}</bdi>,
          ],
          [t('fields.lockedAt'), of.lockedAt && <Moment at={of.lockedAt} />],
          [t('fields.closedAt'), of.closedAt && <Moment at={of.closedAt} />],
          [t('fields.hold'), of.holdId !== null && of.closedAt === null && t('held')],
        ]}
      />
      <p className="mt-2 flex flex-wrap gap-x-4 gap-y-1">
        {of.eventId !== null && (
          <Link to="/events" search={{ event: of.eventId }} className="text-accent underline">
            {t('event')}
          </Link>
        )}
        {of.incidentId !== null && (
          <Link
            to="/incidents/$incidentId"
            params={{ incidentId: of.incidentId }}
            className="text-accent underline"
          >
            {t('incident')}
          </Link>
        )}
        {of.hitId !== null && (
          <Link to="/hits" search={{ hit: of.hitId }} className="text-accent underline">
            {t('hit')}
          </Link>
        )}
      </p>
    </Panel>
  );
}
