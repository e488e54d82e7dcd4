import type { CreateRotaInput, Rota } from '@gantry/contract/rotas';
import { useTranslation } from 'react-i18next';
import type { Entered } from '../../../shared/form/form.ts';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';

/** A range in which somebody else is on duty, as it was before; the fields hold what is entered. */
export interface Override {
  readonly key: number;
  readonly before: { readonly from: Date; readonly until: Date } | null;
  /** The time zone of the rota before. */
  readonly zone: string;
  /** '' for nobody. */
  readonly userId: string;
}

/** The overrides of a rota; of none for a new one. */
export function overridesOf(rota: Rota | undefined): Override[] {
  if (rota === undefined) return [];
  return rota.overrides.map(({ from, until, userId }, key) => ({
    ...{ key, before: { from, until }, zone: rota.timezone },
    userId: userId ?? '',
  }));
}

export function newOverride(present: readonly Override[]): Override {
  return { key: 1 + Math.max(-1, ...present.map(({ key }) => key)), before: null, zone: 'UTC', userId: '' };
}

/** A time as it is entered: 2026-01-31T08:00 in the zone. */
function shown(at: Date | undefined, zone: string): string {
  if (at === undefined) return '';
  const text = at.toLocaleString('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  return text.replace(' ', 'T');
}

/** The overrides as they were entered. A time that was not changed stays as it is, also where clocks show it twice. */
export function readOverrides(
  entered: Entered,
  overrides: readonly Override[],
): NonNullable<CreateRotaInput['overrides']> {
  return overrides.map(({ before, zone, userId, key }) => {
    const timeOf = (name: 'from' | 'until'): string => {
      const text = entered.text(`overrides.${key}.${name}`);
      return before !== null && text === shown(before[name], zone) ? before[name].toISOString() : text;
    };
    return { from: timeOf('from'), until: timeOf('until'), userId: userId === '' ? null : userId };
  });
}

interface OverrideFieldsProps {
  readonly overrides: readonly Override[];
  readonly onChange: (overrides: readonly Override[]) => void;
  /** Those who may be on duty. */
  readonly users: readonly { readonly value: string; readonly label: string }[];
  readonly errorOf: (path: string) => string | undefined;
}

/** The fields for when somebody else, or nobody, is on duty. */
export function OverrideFields({ overrides, onChange, users, errorOf }: OverrideFieldsProps) {
  const { t } = useTranslation('administration');
  const options = [{ value: '', label: t('rotas.nobody') }, ...users];
  return (
    <fieldset className="flex flex-col gap-3 rounded-md border p-3">
      <legend className="px-1 text-sm text-muted">{t('rotas.overrides')}</legend>
      {overrides.map(({ key, before, zone, userId }, n) => (
        <div key={key} className="grid items-end gap-3 sm:grid-cols-[1fr_1fr_1fr_auto]">
          {(['from', 'until'] as const).map((name) => (
            <Field
              key={name}
              label={t(`rotas.overrideTimes.${name}`)}
              name={`overrides.${key}.${name}`}
              dir="ltr"
              placeholder="2026-01-31T08:00"
              defaultValue={shown(before?.[name], zone)}
              error={errorOf(`overrides.${n}.${name}`)}
              required
            />
          ))}
          <Select
            label={t('rotas.overrideUser')}
            value={userId}
            options={options}
            onChange={(value) =>
              onChange(overrides.map((each) => (each.key === key ? { ...each, userId: value } : each)))
            }
            error={errorOf(`overrides.${n}.userId`)}
          />
          <Button
            kind="quiet"
            icon="delete"
            iconOnly
            aria-label={t('rotas.removeOverride', { n: n + 1 })}
            onClick={() => onChange(overrides.filter((each) => each.key !== key))}
          />
        </div>
      ))}
      <Button icon="add" onClick={() => onChange([...overrides, newOverride(overrides)])}>
        {t('rotas.addOverride')}
      </Button>
    </fieldset>
  );
}
