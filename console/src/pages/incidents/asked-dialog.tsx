import type { Incident, IncidentAction } from '@gantry/contract/incidents';
import { AssignDialog, AttachDialog, EditDialog, MergeDialog } from './dialogs.tsx';
import { NoteDialog } from './note-dialog.tsx';

interface AskedProps {
  readonly action: IncidentAction;
  readonly incident: Incident;
  readonly onClose: () => void;
  readonly onAssign: Parameters<typeof AssignDialog>[0]['onAssign'];
}

/** The form of an action that needs one, in a module that is loaded later. */
export function AskedDialog({ action, onAssign, ...rest }: AskedProps) {
  switch (action) {
    case 'update':
      return <EditDialog {...rest} />;
    case 'assign':
      return <AssignDialog {...rest} onAssign={onAssign} />;
    case 'attachEvent':
      return <AttachDialog {...rest} />;
    case 'merge':
      return <MergeDialog {...rest} />;
    case 'verify':
    case 'setTimes':
    case 'setLanes':
    case 'setFacts':
    case 'addAgency':
    case 'updateAgency':
    case 'removeAgency':
    case 'setPlan':
    case 'completeStep':
    case 'skipStep':
    case 'reopenStep':
    case 'makeReport':
    case 'takeOver':
      // The page of the incident records these itself.
      return null;
    default:
      return <NoteDialog {...rest} action={action} />;
  }
}
