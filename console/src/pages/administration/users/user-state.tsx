import { useTranslation } from 'react-i18next';
import { Badge } from '../../../ui/badge.tsx';

/** A badge that shows whether a user is active, and so can sign in. */
export function UserState({ isActive }: { readonly isActive: boolean }) {
  const { t } = useTranslation('administration');
  return isActive ? (
    <Badge tone="calm" icon="good">
      {t('users.active')}
    </Badge>
  ) : (
    <Badge tone="medium" icon="offline">
      {t('users.inactive')}
    </Badge>
  );
}
