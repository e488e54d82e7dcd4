import { mayDo, type Permission, permissions } from '@gantry/contract/permissions';
import { roles } from '@gantry/contract/values';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../../shared/page/page-header.tsx';
import { Icon } from '../../../ui/icon.tsx';

/** The permissions of each role, as a table. */
export function RolesPage() {
  const { t } = useTranslation(['administration', 'common']);
  return (
    <>
      <PageHeader title={t('roles.title')} />
      <section
        aria-label={t('roles.title')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
        tabIndex={0}
        className="relative min-h-0 grow overflow-auto px-4 py-3"
      >
        <p className="mb-3 max-w-3xl text-muted">{t('roles.text')}</p>
        <table className="w-full max-w-4xl border-separate border-spacing-0 overflow-hidden rounded-md border bg-surface">
          <thead>
            <tr>
              <th scope="col" className="border-b px-3 py-2 text-start text-sm font-medium text-muted">
                {t('roles.permission')}
              </th>
              {roles.map((role) => (
                <th key={role} scope="col" className="w-[13%] border-b px-3 py-2 text-sm font-medium">
                  <Link
                    to="/administration/users"
                    search={{ role }}
                    className="text-accent underline"
                    title={t('roles.show', { role: t(`common:roles.${role}`) })}
                  >
                    {t(`common:roles.${role}`)}
                  </Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(Object.keys(permissions) as Permission[]).map((permission) => (
              <tr key={permission} className="last:*:border-b-0 hover:bg-hover">
                <th scope="row" className="border-b px-3 py-2 text-start font-normal">
                  {t(`permissions.${permission}`)}
                </th>
                {roles.map((role) => (
                  <td key={role} className="border-b px-3 py-2 text-center">
                    {mayDo(role, permission) ? (
                      <>
                        <Icon name="acknowledge" className="inline" />
                        <span className="sr-only">{t('roles.yes')}</span>
                      </>
                    ) : (
                      <>
                        <span aria-hidden="true" className="text-muted">
                          –
                        </span>
                        <span className="sr-only">{t('roles.no')}</span>
                      </>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
