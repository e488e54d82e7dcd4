import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Entered } from '../../shared/form/form.ts';
import { useHasFeature } from '../../shared/service/features.ts';
import { service } from '../../shared/service/service.ts';
import { useUser } from '../../shared/session/session.ts';

/** The ids that are chosen in `People`. */
export function peopleIn(entered: Entered): string[] {
  return entered
    .text('members')
    .split(' ')
    .filter((id) => id !== '' && entered.checked(`member ${id}`));
}

/** Check boxes for those who are on duty with the user. Without incidents, the service does not say who there is. */
export function People() {
  const { t } = useTranslation('shift');
  const user = useUser();
  const isKnown = useHasFeature('incidents');
  const { data } = useQuery({ ...service.incidents.getAssignees.queryOptions(), enabled: isKnown });
  const others = data?.assignees.filter(({ id }) => id !== user.id) ?? [];
  if (others.length === 0) return null;
  return (
    <fieldset className="flex max-h-48 flex-wrap gap-x-4 gap-y-1 overflow-y-auto">
      <legend className="text-sm text-muted">{t('members')}</legend>
      <input type="hidden" name="members" value={others.map(({ id }) => id).join(' ')} />
      {others.map(({ id, name }) => (
        <label key={id} className="flex min-h-7 items-center gap-1.5 pointer-coarse:min-h-11">
          <input type="checkbox" name={`member ${id}`} className="size-4 accent-accent" />
          <bdi>{name}</bdi>
        </label>
      ))}
    </fieldset>
  );
}
