import { defaultParseSearch, useRouterState } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Icon } from '../ui/icon.tsx';

/** Says which parameters of the address were not understood, and so left out. */
export function DroppedParameters() {
  const { t } = useTranslation('common');
  const dropped = useRouterState({
    select: ({ location, matches }) => {
      const kept: object = matches.at(-1)?.search ?? {};
      return Object.keys(defaultParseSearch(location.searchStr))
        .filter((name) => !Object.hasOwn(kept, name))
        .join(', ');
    },
  });
  if (dropped === '') return null;
  return (
    <p role="status" className="flex items-center gap-2 border-b bg-medium-surface px-4 py-1.5">
      <Icon name="medium" className="text-medium" />
      <span>
        {t('address.dropped')} <bdi className="line-clamp-1 font-mono">{dropped}</bdi>
      </span>
    </p>
  );
}
