import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { SidePane } from '../../../shared/table/side-pane.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import type { Entry } from './columns.tsx';
import { DetailValue, useDetailName } from './detail-value.tsx';
import { subjectOf } from './subject.ts';
import { SubjectLink } from './subject-link.tsx';
import { useActionName } from './use-action-name.ts';

/** The details of an entry of the activity log. */
export function EntryPane({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
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
    </SidePane>
  );
}
