import { type Permission, permissions, type Role } from '@gantry/contract/permissions';
import { roles } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import { Select } from '../../../ui/select.tsx';

interface RoleFieldProps {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
}

/** A selection of a role, with the permissions of the selected role. */
export function RoleField({ value, onChange }: RoleFieldProps) {
  const { t, i18n } = useTranslation(['administration', 'common']);
  const allowed = (Object.keys(permissions) as Permission[]).filter((permission) =>
    (permissions[permission] as readonly Role[]).includes(value),
  );
  const names = allowed.map((permission) => t(`permissions.${permission}`));
  return (
    <div className="flex flex-col gap-1">
      <Select
        label={t('users.role')}
        name="role"
        value={value}
        options={roles.map((role) => ({ value: role, label: t(`common:roles.${role}`) }))}
        onChange={onChange}
      />
      <p className="text-sm text-muted" aria-live="polite">
        {t('roles.mayDo', { list: new Intl.ListFormat(i18n.language).format(names) })}
      </p>
    </div>
  );
}
