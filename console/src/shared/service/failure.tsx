import { GantryError } from '@gantry/client';
import i18next from 'i18next';
import { useTranslation } from 'react-i18next';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { isAnswerOfProxy } from './queries.ts';

/**
 * The message for a failed request, and the request id by which it can be found in the log of the service. The message
 * is that of the service; if nothing responded, or only a proxy, it is a message in the user's language.
 */
export function sentenceOf(error: unknown): { sentence: string; requestId: string | undefined } {
  if (error instanceof GantryError && error.code === 'UNREACHABLE')
    return { sentence: i18next.t('common:failure.unreachable'), requestId: undefined };
  if (error instanceof GantryError && isAnswerOfProxy(error))
    return { sentence: i18next.t('common:failure.unavailable'), requestId: undefined };
  if (error instanceof GantryError) return { sentence: error.message, requestId: error.requestId };
  return { sentence: error instanceof Error ? error.message : String(error), requestId: undefined };
}

interface FailureProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
  /** Leaves out the request id, because nobody has to look for the cause, such as of a wrong password. */
  readonly isOrdinary?: boolean;
}

/** An error message in place of the result of a failed request. */
export function Failure({ error, onRetry, isOrdinary = false }: FailureProps) {
  const { t } = useTranslation('common');
  const { sentence, requestId } = sentenceOf(error);
  return (
    <div
      role="alert"
      className="flex flex-col gap-2 rounded-md border border-critical bg-critical-surface p-3"
    >
      <p className="flex gap-2">
        <Icon name="failure" className="mt-0.5 shrink-0 text-critical" />
        <bdi>{sentence}</bdi>
      </p>
      {requestId !== undefined && !isOrdinary && (
        <p className="text-sm text-muted">
          {t('failure.requestId')} <bdi className="font-mono select-all">{requestId}</bdi>
        </p>
      )}
      {onRetry && (
        <Button className="self-start" onClick={onRetry}>
          {t('failure.retry')}
        </Button>
      )}
    </div>
  );
}
