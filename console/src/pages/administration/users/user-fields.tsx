import type { User } from '@gantry/contract/users';
import { useTranslation } from 'react-i18next';
import { Field } from '../../../ui/field.tsx';

interface UserFieldsProps {
  readonly user?: User;
  readonly errorOf: (path: string) => string | undefined;
}

/** The fields that the dialogs for creating and editing a user share. */
export function UserFields({ user, errorOf }: UserFieldsProps) {
  const { t } = useTranslation('administration');
  return (
    <>
      <Field
        label={t('users.firstName')}
        name="firstName"
        autoComplete="off"
        defaultValue={user?.firstName}
        error={errorOf('firstName')}
        required
      />
      <Field
        label={t('users.lastName')}
        name="lastName"
        autoComplete="off"
        defaultValue={user?.lastName}
        error={errorOf('lastName')}
        required
      />
      <Field
        label={t('users.phone')}
        name="phone"
        type="tel"
        autoComplete="off"
        defaultValue={user?.phone}
        error={errorOf('phone')}
      />
      <Field
        label={t('users.department')}
        name="department"
        autoComplete="off"
        defaultValue={user?.department}
        error={errorOf('department')}
      />
    </>
  );
}
