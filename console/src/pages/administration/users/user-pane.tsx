import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { SidePane } from '../../../shared/table/side-pane.tsx';
import { Moment } from '../../../shared/time/moment.tsx';
import { ExportSessions, SessionList } from '../../../shared/users/session-list.tsx';
import { TokenList } from '../../../shared/users/token-list.tsx';
import { Facts, Panel } from '../../../ui/panel.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useActionName } from '../activity/use-filters.ts';
import { StateBadge } from '../state-badge.tsx';
import { nameOf } from './refresh.ts';
import { UserActions } from './user-actions.tsx';

interface UserPaneProps {
  readonly id: string;
  readonly onClose: () => void;
}

/** The details of a user: personal data, sessions, API tokens and recent activity. */
export function UserPane({ id, onClose }: UserPaneProps) {
  const { t } = useTranslation(['administration', 'common']);
  const { data: user, error, refetch } = useQuery(service.users.getById.queryOptions({ id }));
  return (
    <SidePane
      label={t('users.details')}
      title={<bdi className="one-line block">{user ? nameOf(user) : t('users.details')}</bdi>}
      onClose={onClose}
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!user && !error && <Skeleton rows={6} />}
      {user && (
        <>
          <UserActions user={user} onDeleted={onClose} />
          <Facts
            facts={[
              [t('users.email'), <bdi key="email">{user.email}</bdi>],
              [t('users.role'), t(`common:roles.${user.role}`)],
              [
                t('users.state'),
                <StateBadge key="state" state={user.isActive ? 'users.active' : 'users.inactive'} />,
              ],
              [t('users.phone'), user.phone && <bdi key="phone">{user.phone}</bdi>],
              [t('users.department'), user.department && <bdi key="department">{user.department}</bdi>],
              [
                t('users.lastLogin'),
                user.lastLogin ? <Moment key="login" at={user.lastLogin} /> : t('users.never'),
              ],
              [t('users.since'), <Moment key="since" at={user.createdAt} />],
              [t('users.changed'), <Moment key="changed" at={user.updatedAt} />],
            ]}
          />
          <Panel
            title={t('users.sessions')}
            isFull
            actions={<ExportSessions userId={user.id} title={`${t('users.sessions')} ${nameOf(user)}`} />}
          >
            <SessionList userId={user.id} />
          </Panel>
          <Panel title={t('users.tokens')} isFull>
            <TokenList userId={user.id} />
          </Panel>
          <Panel
            title={t('users.recent')}
            isFull
            actions={
              <Link
                to="/administration/activity"
                search={{ userId: user.id }}
                className="text-accent underline"
              >
                {t('users.allActivity')}
              </Link>
            }
          >
            <RecentActivity userId={user.id} />
          </Panel>
        </>
      )}
    </SidePane>
  );
}

const SHOWN = 8;

/** The latest entries of a user in the activity log. */
function RecentActivity({ userId }: { readonly userId: string }) {
  const { t } = useTranslation('administration');
  const actionName = useActionName();
  const { data, error } = useQuery(service.users.getActivity.queryOptions({ userId, take: SHOWN }));
  if (error) return <Failure error={error} />;
  if (!data) return <Skeleton rows={4} />;
  if (data.activities.length === 0) return <p className="p-3 text-muted">{t('activity.nothing')}</p>;
  return (
    <ul>
      {data.activities.map(({ action, timestamp }, at) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: these entries have no id, and the list is replaced as a whole
          key={at}
          className="flex items-baseline justify-between gap-3 border-b px-3 py-1.5 last:border-b-0"
        >
          <span className="min-w-0">{actionName(action)}</span>
          <Moment at={timestamp} as="ago" className="text-sm text-muted" />
        </li>
      ))}
    </ul>
  );
}
