import type { ReviewDecision } from '@gantry/contract/reviews';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useHasFeature } from '../../../shared/service/features.ts';
import { Button } from '../../../ui/button.tsx';
import { Key } from '../../../ui/shortcut-sheet.tsx';
import { useShortcuts } from '../../../ui/shortcuts.tsx';
import { IncidentDialog } from './incident-dialog.tsx';
import { RejectDialog } from './reject-dialog.tsx';
import { ReviewMark } from './review-mark.tsx';
import type { ReviewedEvent } from './row-states.ts';

interface TriageBarProps {
  readonly event: ReviewedEvent;
  readonly onDecide: (decision: ReviewDecision, reason?: string) => void;
  readonly onArchive: () => void;
  /** Called when an incident was created from the event. */
  readonly onIncident: () => void;
}

/** The latest review of the open event, and the review commands, each with its keyboard shortcut. */
export function TriageBar({ event, onDecide, onArchive, onIncident }: TriageBarProps) {
  const { t } = useTranslation('events');
  const [asks, setAsks] = useState<'reason' | 'incident' | null>(null);
  const hasIncidents = useHasFeature('incidents');
  const close = () => setAsks(null);
  const confirm = () => onDecide('CONFIRMED');
  const reject = () => setAsks('reason');
  const secondLook = () => onDecide('SECOND_LOOK');
  const incident = () => setAsks('incident');
  useShortcuts([
    { keys: '1', label: t('commands.CONFIRMED'), scope: 'page', run: confirm },
    { keys: '2', label: t('commands.REJECTED'), scope: 'page', run: reject },
    { keys: '3', label: t('commands.SECOND_LOOK'), scope: 'page', run: secondLook },
    { keys: 'a', label: t('commands.archive'), scope: 'page', run: onArchive },
    { keys: 'i', label: t('commands.incident'), scope: 'page', run: () => hasIncidents && incident() },
  ]);
  return (
    <div className="flex flex-col gap-2 border-b bg-surface p-2">
      <div className="flex flex-wrap gap-1.5">
        <Command icon="acknowledge" keyName="1" onClick={confirm} label={t('commands.CONFIRMED')} />
        <Command icon="close" keyName="2" onClick={reject} label={t('commands.REJECTED')} />
        <Command icon="reveal" keyName="3" onClick={secondLook} label={t('commands.SECOND_LOOK')} />
        <Command
          icon="save"
          keyName="a"
          onClick={onArchive}
          label={t('commands.archive')}
          disabled={event.archived}
        />
        {hasIncidents && (
          <Command icon="incident" keyName="i" onClick={incident} label={t('commands.incident')} />
        )}
      </div>
      <ReviewMark event={event} />
      {asks === 'reason' && (
        <RejectDialog
          what={event.licensePlateNumber ?? t(`types.${event.eventType}`)}
          onClose={close}
          onReject={(reason) => {
            close();
            onDecide('REJECTED', reason);
          }}
        />
      )}
      {asks === 'incident' && <IncidentDialog event={event} onClose={close} onCreated={onIncident} />}
    </div>
  );
}

interface CommandProps {
  readonly label: string;
  readonly keyName: string;
  readonly icon: 'acknowledge' | 'close' | 'reveal' | 'save' | 'incident';
  readonly onClick: () => void;
  readonly disabled?: boolean;
}

function Command({ label, keyName, icon, onClick, disabled }: CommandProps) {
  return (
    <Button icon={icon} onClick={onClick} disabled={disabled} className="px-2!">
      {label}
      <span className="pointer-coarse:hidden" aria-hidden="true">
        <Key name={keyName} />
      </span>
    </Button>
  );
}
