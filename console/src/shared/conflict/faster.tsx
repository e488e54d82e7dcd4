import { GantryError } from '@gantry/client';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { useTime } from '../time/use-time.ts';

/** Whether the service refused a request because another user's change came first. */
export function isConflict(error: unknown): error is GantryError {
  return error instanceof GantryError && error.code === 'CONFLICT';
}

/**
 * @returns a function that formats a time for a sentence: how long ago it was, and the time in the user's time zone.
 * (The messages of the service have times in UTC.)
 */
export function useWhen(): (at: Date) => string {
  const time = useTime();
  // Times are written from left to right in every language.
  return (at) => `${time.ago(at)} (\u2066${time.dateTime(at)} ${time.offset(at)}\u2069)`;
}

interface Step {
  /** The action of the other user. */
  readonly what: 'changed' | 'acknowledged' | 'released';
  readonly who: string | undefined;
  readonly at: Date;
}

/** @returns a function that describes what another user did, and when, in the user's language and time zone */
export function useFasterText(): (step: Step) => string {
  const { t } = useTranslation('common');
  const when = useWhen();
  return ({ what, who, at }) =>
    t(`faster.${what}`, { who: `\u2068${who ?? t('faster.somebody')}\u2069`, when: when(at) });
}

interface FasterProps {
  readonly error: { readonly message: string; readonly requestId?: string | undefined };
  /** The description of the other change. If omitted, the message of the error is shown. */
  readonly children?: ReactNode;
  readonly onClose?: () => void;
}

/** Reports a conflict with a change of another user, which was not overwritten. Shown instead of `Failure`. */
export function Faster({ error, children, onClose }: FasterProps) {
  const { t } = useTranslation('common');
  return (
    <div role="alert" className="flex flex-col gap-2 rounded-md border border-medium bg-medium-surface p-3">
      <p className="flex items-center gap-2 font-semibold">
        <Icon name="users" className="text-medium" />
        <span className="grow">{t('faster.title')}</span>
        {onClose && (
          <Button kind="quiet" icon="close" iconOnly aria-label={t('dialog.close')} onClick={onClose} />
        )}
      </p>
      {children || <bdi>{error.message}</bdi>}
      {error.requestId !== undefined && (
        <p className="text-sm text-muted">
          {t('failure.requestId')} <bdi className="font-mono select-all">{error.requestId}</bdi>
        </p>
      )}
    </div>
  );
}
