import type { ActivityLog } from '@gantry/contract/users';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../../shared/events/codes.ts';
import { usePurposes } from '../../../shared/service/plates.tsx';
import { SidePane } from '../../../shared/table/side-pane.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { SubjectLink, subjectOf } from './subject.tsx';
import { useActionName } from './use-filters.ts';

export type Entry = ActivityLog['activities'][number];

interface EntryPaneProps {
  readonly entry: Entry;
  readonly onClose: () => void;
  /** What else is shown of the entry. */
  readonly children?: ReactNode;
}

/** The details of an entry of the activity log. */
export function EntryPane({ entry, onClose, children }: EntryPaneProps) {
  const { t } = useTranslation('administration');
  const actionName = useActionName();
  const detailName = useDetailName();
  const { action, by, timestamp, ipAddress, userAgent, details } = entry;
  return (
    <SidePane label={t('activity.details')} title={actionName(action)} onClose={onClose}>
      <Facts
        facts={[
          [t('activity.at'), <Moment key="at" at={timestamp} />],
          [
            t('activity.user'),
            by ? (
              <Link
                key="by"
                to="/administration/users"
                search={{ user: by.id }}
                className="text-accent underline"
              >
                <bdi>{by.name}</bdi>
              </Link>
            ) : (
              t('activity.nobody')
            ),
          ],
          [t('activity.address'), ipAddress && <bdi key="ip">{ipAddress}</bdi>],
          [t('activity.program'), userAgent && <bdi key="agent">{userAgent}</bdi>],
          [t('activity.technical'), <code key="action">{action}</code>],
        ]}
      />
      {details && Object.keys(details).length > 0 && (
        <Panel title={t('activity.details')}>
          <Facts
            facts={Object.entries(details).map(([name, value]) => {
              const subject = subjectOf(action, name, value);
              return [
                detailName(name),
                subject ? (
                  <SubjectLink key={name} subject={subject}>
                    <bdi>{String(value)}</bdi>
                  </SubjectLink>
                ) : (
                  <DetailValue key={name} name={name} value={value} />
                ),
              ];
            })}
          />
        </Panel>
      )}
      {children}
    </SidePane>
  );
}

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface DetailValueProps {
  readonly name: string;
  readonly value: unknown;
}

/** The value of a detail of an entry, of any type, as text. */
function DetailValue({ name, value }: DetailValueProps) {
  const { t, i18n } = useTranslation('administration');
  const valueName = useValueName();
  if (value === null || value === undefined || value === '')
    return <span className="text-muted">{t('activity.empty')}</span>;
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (typeof value === 'number') return value.toLocaleString(i18n.language);
  if (Array.isArray(value))
    return value.length === 0 ? (
      <span className="text-muted">{t('activity.empty')}</span>
    ) : value.every((each) => typeof each !== 'object') ? (
      <bdi>{value.map((each) => valueName(name, String(each))).join(', ')}</bdi>
    ) : (
      <ul className="flex flex-col gap-1">
        {value.map((each, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the values of an entry never change
          <li key={at}>
            <DetailValue name={name} value={each} />
          </li>
        ))}
      </ul>
    );
  if (isRecord(value)) {
    if ('from' in value && 'to' in value && Object.keys(value).length === 2)
      return (
        <>
          <DetailValue name={name} value={value.from} />{' '}
          <span className="text-muted">{t('activity.became')}</span>{' '}
          <DetailValue name={name} value={value.to} />
        </>
      );
    return <Details details={value} />;
  }
  const text = String(value);
  return MOMENT.test(text) ? <Moment at={new Date(text)} /> : <bdi>{valueName(name, text)}</bdi>;
}

/** A list of details with their names and values. */
export function Details({ details }: { readonly details: Readonly<Record<string, unknown>> }) {
  const detailName = useDetailName();
  return (
    <Facts
      facts={Object.entries(details).map(([name, value]) => [
        detailName(name),
        <DetailValue key={name} name={name} value={value} />,
      ])}
    />
  );
}

/** Returns the display name of a detail; a detail unknown to this console keeps its own name. */
function useDetailName(): (name: string) => string {
  const { t, i18n } = useTranslation('administration');
  return (name) => {
    const isKnown = /^\w+$/.test(name) && i18n.exists(`details.${name}`, { ns: 'administration' });
    return isKnown ? t(`details.${name}` as 'details.email') : name;
  };
}

/** Where the display names of the values of a detail are. */
const valueNames: Readonly<Record<string, string>> = {
  role: 'common:roles',
  kind: 'reports:kinds',
  eventType: 'events:types',
  severity: 'common:severity',
  minSeverity: 'common:severity',
  sensorType: 'common:sensorTypes',
  incidentType: 'common:incidentTypes',
  incidentStatus: 'common:incidentStatus',
};

/** Returns the display name of the value of a detail; a value without one is returned as it was recorded. */
function useValueName(): (name: string, value: string) => string {
  const { t, i18n } = useTranslation();
  const codes = useCodeNames();
  const purposes = usePurposes();
  return (name, value) => {
    if (name === 'violationType') return codes.violation(value);
    if (name === 'vehicleType') return codes.vehicle(value);
    if (name === 'purpose') return purposes.find(({ code }) => code === value)?.name ?? value;
    const key = `${valueNames[name]}.${value}`;
    return /^\w+$/.test(value) && i18n.exists(key) ? t(key as 'loading') : value;
  };
}
