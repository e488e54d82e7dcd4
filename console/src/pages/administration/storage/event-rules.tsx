import type { RetentionRules } from '@gantry/contract/storage';
import { eventTypes } from '@gantry/contract/values';
import { useTranslation } from 'react-i18next';
import type { Entered } from '../../../shared/form/form.ts';
import { RuleField, readRule } from './rule-field.tsx';

interface EventRulesProps {
  readonly rules: RetentionRules['events'];
  readonly errorOf: (path: string) => string | undefined;
}

/** The retention rules of events: the default, and the rules of single types. */
export function EventRules({ rules, errorOf }: EventRulesProps) {
  const { t, i18n } = useTranslation(['administration', 'events']);
  const own = Object.keys(rules.byType).length;
  return (
    <>
      <RuleField
        name="events.default"
        label={t('classes.events')}
        days={rules.default}
        error={errorOf('events.default')}
      />
      <details open={own > 0} className="rounded-md border px-3 py-2">
        <summary className="cursor-pointer">
          {t('retention.byType', { count: own, n: own.toLocaleString(i18n.language) })}
        </summary>
        <div className="mt-2 flex flex-col gap-2">
          {eventTypes.map((type) => (
            <RuleField
              key={type}
              name={`events.byType.${type}`}
              label={t(`events:types.${type}`)}
              days={rules.byType[type]}
              hasDefault
              error={errorOf(`events.byType.${type}`)}
            />
          ))}
        </div>
      </details>
    </>
  );
}

/** Reads the values of `EventRules` from the form. */
export function readEventRules(entered: Entered): RetentionRules['events'] {
  const own = eventTypes.filter((type) => entered.text(`events.byType.${type} choice`) !== 'default');
  return {
    default: readRule(entered, 'events.default'),
    byType: Object.fromEntries(own.map((type) => [type, readRule(entered, `events.byType.${type}`)])),
  };
}
