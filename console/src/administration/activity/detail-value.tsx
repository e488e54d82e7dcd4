import { useTranslation } from 'react-i18next';
import { Moment } from '../../time/moment.tsx';
import { Facts } from '../../ui/panel.tsx';

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a detail of an entry, of any type, as text. */
export function DetailValue({ value }: { readonly value: unknown }) {
  const { t, i18n } = useTranslation('administration');
  if (value === null || value === undefined || value === '')
    return <span className="text-muted">{t('activity.empty')}</span>;
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (typeof value === 'number') return value.toLocaleString(i18n.language);
  if (Array.isArray(value))
    return value.length === 0 ? (
      <span className="text-muted">{t('activity.empty')}</span>
    ) : value.every((each) => typeof each !== 'object') ? (
      <bdi>{value.join(', ')}</bdi>
    ) : (
      <ul className="flex flex-col gap-1">
        {value.map((each, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the values of an entry never change
          <li key={at}>
            <DetailValue value={each} />
          </li>
        ))}
      </ul>
    );
  if (isRecord(value)) {
    if ('from' in value && 'to' in value && Object.keys(value).length === 2)
      return (
        <>
          <DetailValue value={value.from} /> <span className="text-muted">{t('activity.became')}</span>{' '}
          <DetailValue value={value.to} />
        </>
      );
    return <Details details={value} />;
  }
  const text = String(value);
  return MOMENT.test(text) ? <Moment at={new Date(text)} /> : <bdi>{text}</bdi>;
}

/** A list of details with their names and values. */
export function Details({ details }: { readonly details: Readonly<Record<string, unknown>> }) {
  const detailName = useDetailName();
  return (
    <Facts
      facts={Object.entries(details).map(([name, value]) => [
        detailName(name),
        <DetailValue key={name} value={value} />,
      ])}
    />
  );
}

/** Returns the display name of a detail; a detail unknown to this console keeps its own name. */
export function useDetailName(): (name: string) => string {
  const { t, i18n } = useTranslation('administration');
  return (name) => {
    const isKnown = /^\w+$/.test(name) && i18n.exists(`details.${name}`, { ns: 'administration' });
    return isKnown ? t(`details.${name}` as 'details.email') : name;
  };
}
