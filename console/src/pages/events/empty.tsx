import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { serviceAddress } from '../../shared/service/files.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';

/** The command that sends a first event. The user replaces YOUR_API_KEY with the key of a sensor. */
function firstEvent(): string {
  const body = {
    json: { apiKey: 'YOUR_API_KEY', eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'B-AB 1234' },
  };
  return `curl -X POST ${serviceAddress}/trpc/events.ingest \\\n  -H 'content-type: application/json' \\\n  -d '${JSON.stringify(body)}'`;
}

interface NoEventsProps {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

/** Shown in place of an empty list: why it is empty, and what to do about it. */
export function NoEvents({ isFiltered, onClear }: NoEventsProps) {
  const { t } = useTranslation('events');
  if (isFiltered) {
    return (
      <Empty
        icon="filter"
        title={t('empty.noMatch')}
        action={<Button onClick={onClear}>{t('empty.clear')}</Button>}
      >
        {t('empty.noMatchText')}
      </Empty>
    );
  }
  return (
    <Empty icon="events" title={t('empty.first')}>
      <p>{t('empty.firstText')}</p>
      <Command text={firstEvent()} />
      <p>{t('empty.simulator')}</p>
      <Command text="npm run simulate" />
    </Empty>
  );
}

function Command({ text }: { readonly text: string }) {
  const { t } = useTranslation('events');
  return (
    <div
      dir="ltr"
      className="my-2 flex items-start gap-2 rounded-md border bg-surface p-2 text-start text-text"
    >
      <pre className="min-w-0 grow font-mono text-sm wrap-anywhere whitespace-pre-wrap">{text}</pre>
      <CopyButton iconOnly label={t('empty.copy')} text={text} />
    </div>
  );
}
