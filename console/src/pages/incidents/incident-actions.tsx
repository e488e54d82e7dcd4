import type { Incident, IncidentAction } from '@gantry/contract/incidents';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import type { IconName } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { moves, useAllowed } from './allowed.ts';
import type { IncidentCommands } from './use-commands.tsx';

interface IncidentActionsProps {
  readonly incident: Incident;
  readonly commands: IncidentCommands;
}

const others: readonly (readonly [IncidentAction, IconName])[] = [
  ['assign', 'users'],
  ['update', 'edit'],
  ['attachEvent', 'link'],
];

/** The actions that the state of the incident and the user's role allow, the next step first. */
export function IncidentActions({ incident, commands }: IncidentActionsProps) {
  const { t } = useTranslation('incidents');
  const allowed = useAllowed();
  const steps = moves.filter((action) => allowed(incident, action));
  const items = others
    .filter(([action]) => allowed(incident, action))
    .map(([action, icon]) => ({
      label: t(`actions.${action}`),
      icon,
      onSelect: () => commands.run(action, incident),
    }));
  if (steps.length === 0 && items.length === 0) return <p className="text-sm text-muted">{t('notYours')}</p>;
  return (
    <>
      {steps.map((action, at) => (
        <Button
          key={action}
          kind={at === 0 ? 'primary' : 'plain'}
          onClick={() => commands.run(action, incident)}
        >
          {t(`actions.${action}`)}
        </Button>
      ))}
      {items.length > 0 && <Menu trigger={<Button icon="menu">{t('actions.more')}</Button>} items={items} />}
    </>
  );
}
