import { changesOnlyOwnIncidents } from '@gantry/contract/incident-states';
import type { Incident } from '@gantry/contract/incidents';
import { useTranslation } from 'react-i18next';
import { LookUp } from '../../shared/form/look-up.tsx';
import { useUser } from '../../shared/session/session.ts';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { findAssignees, type Person } from './people.ts';

interface AssignDialogProps {
  readonly incident: Incident;
  readonly onAssign: (to: Person | null) => void;
  readonly onClose: () => void;
}

/** A dialog that assigns an incident to the user, to another user, or to nobody. */
export function AssignDialog({ incident, onAssign, onClose }: AssignDialogProps) {
  const { t } = useTranslation('incidents');
  const user = useUser();
  const titleOf = useIncidentTitle();
  const choose = (to: Person | null) => {
    onClose();
    onAssign(to);
  };
  const { assignedTo } = incident;
  return (
    <Dialog title={t('actions.assign')} open onClose={onClose}>
      <p className="text-muted">
        <bdi className="line-clamp-2">{titleOf(incident)}</bdi>
      </p>
      <div className="flex flex-wrap gap-2">
        <Button
          icon="users"
          disabled={assignedTo?.id === user.id}
          onClick={() => choose({ id: user.id, name: `${user.firstName} ${user.lastName}` })}
        >
          {t('assignee.toMe')}
        </Button>
        <Button icon="none" disabled={assignedTo === null} onClick={() => choose(null)}>
          {t('assignee.toNobody')}
        </Button>
      </div>
      {!changesOnlyOwnIncidents(user.role) && (
        <LookUp
          label={t('assignee.other')}
          find={async (part) =>
            (await findAssignees(part)).map(({ id, name }) => ({ value: `${id} ${name}`, label: name }))
          }
          onChoose={(value) => {
            const at = value.indexOf(' ');
            choose({ id: value.slice(0, at), name: value.slice(at + 1) });
          }}
        />
      )}
    </Dialog>
  );
}
