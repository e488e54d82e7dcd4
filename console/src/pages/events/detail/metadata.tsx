import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../../shared/notices/copy-button.tsx';

/** The metadata that the device sent in addition to the common fields, as a collapsible tree. */
export function Metadata({ value }: { readonly value: Readonly<Record<string, unknown>> }) {
  const { t } = useTranslation('events');
  return (
    <div dir="ltr" className="relative rounded-md border bg-surface p-2 font-mono text-sm">
      <div className="absolute end-1 top-1">
        <CopyButton iconOnly label={t('metadata.copy')} text={JSON.stringify(value, null, 2)} />
      </div>
      <Members value={value} />
    </div>
  );
}

function Members({ value }: { readonly value: object }) {
  return (
    <ul className="flex flex-col gap-0.5">
      {Object.entries(value).map(([name, member]) => (
        <li key={name}>
          <Member name={name} value={member} />
        </li>
      ))}
    </ul>
  );
}

function Member({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (typeof value !== 'object' || value === null) {
    return (
      <span className="block pe-8">
        <bdi className="text-muted">{name}</bdi>: <bdi>{JSON.stringify(value) ?? 'null'}</bdi>
      </span>
    );
  }
  const count = Object.keys(value).length;
  return (
    <details open={count > 0 && count <= 20}>
      <summary className="cursor-pointer">
        <bdi className="text-muted">{name}</bdi>: {Array.isArray(value) ? `[${count}]` : `{${count}}`}
      </summary>
      <div className="ms-4 border-s ps-2">
        <Members value={value} />
      </div>
    </details>
  );
}
