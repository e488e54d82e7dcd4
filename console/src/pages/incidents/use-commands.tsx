import type { Incident, IncidentAction } from '@gantry/contract/incidents';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useUser } from '../../shared/session/session.ts';
import { later } from '../../ui/load-code.ts';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { type Move, useAllowed } from './allowed.ts';
import { Conflict } from './conflict.tsx';
import { useIncidentActions } from './use-actions.ts';

const useAskedDialog = later(async () => (await import('./asked-dialog.tsx')).AskedDialog);

/** Actions that are performed immediately; the others open a form first. */
const AT_ONCE: ReadonlySet<IncidentAction> = new Set(['acknowledge', 'start']);

export interface IncidentCommands {
  /** Performs the action, or opens its form. Does nothing if the action is not allowed. */
  readonly run: (action: IncidentAction, incident: Incident | undefined) => void;
  readonly assignToMe: (incident: Incident | undefined) => void;
  /** A conflict with another user's change, if there is one, to be shown above the incidents. */
  readonly conflict: ReactNode;
  /** The open form, if there is one. */
  readonly dialogs: ReactNode;
}

/** All actions on an incident, shared by the board, the list and the page of an incident. */
export function useIncidentCommands(): IncidentCommands {
  const user = useUser();
  const allowed = useAllowed();
  const actions = useIncidentActions();
  const [asked, setAsked] = useState<{ action: IncidentAction; incident: Incident } | null>(null);
  const AskedDialog = useAskedDialog(asked !== null);
  const close = () => setAsked(null);
  const run = (action: IncidentAction, incident: Incident | undefined) => {
    if (!incident || !allowed(incident, action)) return;
    if (AT_ONCE.has(action)) void actions.move(incident, action as 'acknowledge' | 'start');
    else setAsked({ action, incident });
  };
  const { faster } = actions;
  return {
    run,
    assignToMe(incident) {
      if (!incident || !allowed(incident, 'assign')) return;
      void actions.assign(incident, { id: user.id, name: `${user.firstName} ${user.lastName}` });
    },
    conflict: faster && (
      <div className="p-3">
        <Conflict {...faster} onClose={actions.forgetFaster} />
      </div>
    ),
    dialogs: asked && AskedDialog && (
      <AskedDialog {...asked} onClose={close} onAssign={(to) => void actions.assign(asked.incident, to)} />
    ),
  };
}

/** The keyboard shortcuts for the incident that the page shows, or that is at the cursor. */
export function useIncidentKeys(
  incident: Incident | undefined,
  { run, assignToMe }: Pick<IncidentCommands, 'run' | 'assignToMe'>,
  onNote: () => void = () => run('addNote', incident),
): void {
  const { t } = useTranslation('incidents');
  const key = (keys: string, action: Move) => ({
    keys,
    label: t(`actions.${action}`),
    scope: 'page' as const,
    run: () => run(action, incident),
  });
  useShortcuts([
    key('1', 'acknowledge'),
    key('2', 'start'),
    key('3', 'resolve'),
    { keys: 'm', label: t('assignee.toMe'), scope: 'page', run: () => assignToMe(incident) },
    { keys: 'n', label: t('actions.addNote'), scope: 'page', run: onNote },
  ]);
}
