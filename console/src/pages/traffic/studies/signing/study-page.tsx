import type { StudyWithFigures } from '@gantry/contract/studies';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../../../shared/notices/copy-button.tsx';
import { Loaded, ResourcePage } from '../../../../shared/page/resource-page.tsx';
import { service } from '../../../../shared/service/service.ts';
import { createTimeFormat } from '../../../../shared/time/format.ts';
import { Moment } from '../../../../shared/time/moment.tsx';
import { useTimeSettings } from '../../../../shared/time/zone.ts';
import { BackLink } from '../../../../ui/links.tsx';
import { Facts, Panel } from '../../../../ui/panel.tsx';
import { StudyCommands, StudyFiles } from './study-commands.tsx';
import { StudyFigures } from './study-figures.tsx';
import { optionFacts } from './study-options.ts';
import { StudyBadge } from './study-status.tsx';
import { Verification } from './verification.tsx';

/** One study: its figures, where it stands, who made and reviewed it, and whether its data still match. */
export function StudyPage() {
  const { studyId } = useParams({ from: '/shell/traffic/studies/$studyId' });
  const query = useQuery(service.studies.get.queryOptions({ id: studyId }));
  return <Loaded query={query}>{(study) => <StudyView key={study.id} study={study} />}</Loaded>;
}

function StudyView({ study }: { readonly study: StudyWithFigures }) {
  const { t } = useTranslation('studies');
  return (
    <ResourcePage
      name={study.title}
      back={<BackLink to="/traffic/studies" search={{}} aria-label={t('signing.back')} />}
      note={<StudyBadge status={study.status} />}
      commands={<StudyCommands study={study} />}
      main={<StudyFigures study={study} />}
      side={
        <>
          <Course study={study} />
          <About study={study} />
          {study.status !== 'DRAFT' && <Verification study={study} />}
          <StudyFiles study={study} />
        </>
      }
    />
  );
}

/** What has happened to a study, and what comes next. */
function Course({ study }: { readonly study: StudyWithFigures }) {
  const { t } = useTranslation('studies');
  const { status, author, createdAt, frozenBy, frozenAt, reviewer, signedAt, reason } = study;
  const steps = [
    { name: t('signing.steps.created'), by: author.name, at: createdAt },
    { name: t('signing.steps.frozen'), by: frozenBy?.name, at: frozenAt },
    ...(status === 'REJECTED'
      ? [{ name: t('signing.steps.rejected'), by: reviewer?.name, at: null }]
      : [{ name: t('signing.steps.signed'), by: reviewer?.name, at: signedAt }]),
  ];
  return (
    <Panel title={t('signing.course')}>
      <ol className="flex flex-col gap-1.5">
        {steps.map(({ name, by, at }) => (
          <li key={name} className={by === undefined ? 'text-muted' : undefined}>
            <span className="font-medium">{name}</span>
            {by === undefined ? ` – ${t('signing.notYet')}` : null}
            {by !== undefined && (
              <span className="block text-sm text-muted">
                <bdi>{by}</bdi>
                {at && (
                  <>
                    {' · '}
                    <Moment at={at} />
                  </>
                )}
              </span>
            )}
          </li>
        ))}
      </ol>
      {reason && (
        <p className="mt-2">
          {t('signing.fields.reason')}: <bdi>{reason}</bdi>
        </p>
      )}
      <p className="mt-2 text-sm text-muted">{t(`signing.statusMeans.${status}`)}</p>
    </Panel>
  );
}

function About({ study }: { readonly study: StudyWithFigures }) {
  const { t } = useTranslation('studies');
  const { t: traffic } = useTranslation('traffic');
  const settings = useTimeSettings();
  const { i18n } = useTranslation();
  const { kind, placeName, range, timezone, hash, programVersion, notes } = study;
  const time = createTimeFormat(timezone, i18n.language, settings);
  const days = [...new Set([time.date(range.startDate), time.date(range.endDate)])].join(' – ');
  return (
    <Panel title={t('signing.about')}>
      <Facts
        facts={[
          [t('signing.kind'), t(`signing.kinds.${kind}`)],
          [t('place'), <bdi key="place">{placeName}</bdi>],
          [
            t('period'),
            <bdi key="days" dir="ltr">
              {days}
            </bdi>,
          ],
          [t('zone'), timezone],
          ...optionFacts(study, t, traffic),
          [
            t('signing.fields.notes'),
            notes && (
              <bdi key="notes" className="whitespace-pre-line">
                {notes}
              </bdi>
            ),
          ],
          [t('signing.fields.program'), programVersion && <bdi key="version">{programVersion}</bdi>],
          [t('signing.fields.hash'), hash && <Hash key="hash" hash={hash} />],
        ]}
      />
    </Panel>
  );
}

function Hash({ hash }: { readonly hash: string }) {
  const { t } = useTranslation('studies');
  return (
    <span className="flex items-start gap-1">
      <code dir="ltr" className="font-mono text-sm wrap-anywhere">
        {hash}
      </code>
      <CopyButton label={t('signing.copyHash')} iconOnly text={() => Promise.resolve(hash)} />
    </span>
  );
}
