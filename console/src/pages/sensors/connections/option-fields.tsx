import type { Connection, ConnectionOptions } from '@gantry/contract/connections';
import { useTranslation } from 'react-i18next';
import type { Entered } from '../../../shared/form/form.ts';
import { Field } from '../../../ui/field.tsx';
import { ChoiceField } from '../../../ui/select.tsx';

/** Reads the options from the form. @param before the options that the form was opened with */
export function readOptions(entered: Entered, before: ConnectionOptions = {}): ConnectionOptions {
  const minConfidence = entered.numberOrNull('options.minConfidence');
  const order = entered.text('options.dateOrder');
  const topics = entered.text('options.topics').split(/\s+/).filter(Boolean);
  const isForSeveral = isAssigned(before) || entered.text('cameras') === 'several';
  return {
    sensors: isForSeveral ? (before.sensors ?? {}) : undefined,
    speedUnit: entered.text('options.speedUnit') === 'mph' ? 'mph' : before.speedUnit && 'km/h',
    dayFirst: order === '' ? undefined : order === 'day',
    minConfidence: minConfidence === null ? undefined : minConfidence / 100,
    mapping: entered.text('options.mapping') || undefined,
    topics: topics.length > 0 ? topics : undefined,
  };
}

/** Applies changes to options. The sensor assignments of an NVR are always kept. */
export function withChanges(options: ConnectionOptions, changes: ConnectionOptions): ConnectionOptions {
  return { ...options, ...changes, ...(isAssigned(options) && { sensors: options.sensors }) };
}

function isAssigned({ sensors = {} }: ConnectionOptions): boolean {
  return Object.keys(sensors).length > 0;
}

/** A share in percent, without floating-point noise: 29, not 28.999999999999996. */
function percentOf(share: number | undefined): string {
  return share === undefined ? '' : String(Number((share * 100).toPrecision(12)));
}

interface OptionFieldsProps {
  /** Whether messages of the format can arrive over MQTT. */
  readonly hasTopics: boolean;
  readonly connection?: Connection;
  readonly errorOf: (path: string) => string | undefined;
}

/** The fields for the options that control how the messages of a connection are read. */
export function OptionFields({ hasTopics, connection, errorOf }: OptionFieldsProps) {
  const { t } = useTranslation('connections');
  const options = connection?.options ?? {};
  return (
    <>
      {!isAssigned(options) && (
        <ChoiceField
          label={t('options.cameras')}
          name="cameras"
          defaultValue={options.sensors ? 'several' : 'one'}
          options={[
            { value: 'one', label: t('options.oneCamera') },
            { value: 'several', label: t('options.severalCameras') },
          ]}
        />
      )}
      <Field
        label={t('options.timeZone')}
        name="timeZone"
        hint={t('options.timeZoneHint')}
        defaultValue={connection?.timeZone ?? ''}
        error={errorOf('timeZone')}
        autoComplete="off"
      />
      <ChoiceField
        label={t('options.speedUnit')}
        name="options.speedUnit"
        defaultValue={options.speedUnit ?? 'km/h'}
        options={[
          { value: 'km/h', label: 'km/h' },
          { value: 'mph', label: 'mph' },
        ]}
      />
      <ChoiceField
        label={t('options.dateOrder')}
        name="options.dateOrder"
        defaultValue={options.dayFirst === undefined ? '' : options.dayFirst ? 'day' : 'month'}
        options={[
          { value: '', label: t('options.noSuchDates') },
          { value: 'day', label: t('options.dayFirst') },
          { value: 'month', label: t('options.monthFirst') },
        ]}
      />
      <Field
        label={t('options.minConfidence')}
        name="options.minConfidence"
        hint={t('options.minConfidenceHint')}
        defaultValue={percentOf(options.minConfidence)}
        error={errorOf('options.minConfidence')}
        inputMode="decimal"
      />
      {hasTopics && (
        <Field
          label={t('options.topics')}
          name="options.topics"
          hint={t('options.topicsHint')}
          lines={2}
          defaultValue={options.topics?.join('\n') ?? ''}
          error={errorOf('options.topics')}
        />
      )}
    </>
  );
}

/** The field for the mapping that turns messages of a device without a built-in format into events. */
export function MappingField({ connection, errorOf }: Pick<OptionFieldsProps, 'connection' | 'errorOf'>) {
  const { t } = useTranslation('connections');
  return (
    <Field
      label={t('options.mapping')}
      name="options.mapping"
      hint={t('options.mappingHint')}
      lines={8}
      defaultValue={connection?.options.mapping ?? ''}
      error={errorOf('options.mapping')}
      dir="ltr"
      spellCheck={false}
      className="[&_textarea]:font-mono [&_textarea]:text-sm"
      required
    />
  );
}
