import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';

/** Returns the display name of an action of the activity log; an action unknown to this console keeps its own name. */
export function useActionName(): (action: string) => string {
  const { t, i18n } = useTranslation('administration');
  return useCallback(
    (action) => {
      const isKnown = i18n.exists(`actions.${action}`, { ns: 'administration' });
      return isKnown ? t(`actions.${action}` as 'actions.auth.login') : action;
    },
    [t, i18n],
  );
}
