import { useTranslation } from 'react-i18next';
import { CopyButton } from '../notices/copy-button.tsx';
import { serviceAddress } from '../service/files.ts';

/** The command that sends the first event of a sensor. @param apiKey a placeholder, `$KEY`, by default */
export function firstEventCommand(apiKey = '$KEY'): string {
  const body = JSON.stringify({
    json: { apiKey, eventType: 'SPEED_DETECTION', vehicleSpeed: 63, licensePlateNumber: '1AB 2345' },
  });
  return `curl ${serviceAddress}/trpc/events.ingest -H 'content-type: application/json' -d '${body}'`;
}

/** A command for a terminal, with a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  const { t } = useTranslation('common');
  return (
    <div className="flex min-w-0 flex-col items-start gap-2 text-start">
      <pre
        dir="ltr"
        className="w-full rounded-md border bg-bg p-2 font-mono text-sm wrap-anywhere whitespace-pre-wrap text-text select-all"
      >
        {text}
      </pre>
      <CopyButton label={t('copyCommand')} text={text} />
    </div>
  );
}
