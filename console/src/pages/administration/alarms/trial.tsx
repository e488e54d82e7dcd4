import type { AlarmRuleInput } from '@gantry/contract/alarm-rules';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { api } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { Select } from '../../../ui/select.tsx';

/** How far back a rule is tried, in hours: the last week, or the last day if there are too many sensors for a week. */
const HOURS = ['168', '24'] as const;
const SHOWN = 10;

/** Says when a rule, as it is entered, would have fired. */
export function Trial({ rule }: { readonly rule: AlarmRuleInput }) {
  const { t } = useTranslation('administration');
  const [hours, setHours] = useState<(typeof HOURS)[number]>('168');
  const tried = useMutation({
    mutationFn: () => api.alarmRules.tryRule.query({ rule, hours: Number(hours) }),
  });
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-end gap-2">
        <Select
          label={t('alarmRules.tryHours')}
          value={hours}
          options={HOURS.map((value) => ({ value, label: t(`alarmRules.hours.${value}`) }))}
          onChange={setHours}
        />
        <Button icon="search" disabled={tried.isPending} onClick={() => tried.mutate()}>
          {t('alarmRules.try')}
        </Button>
      </div>
      {tried.error && <Failure error={tried.error} />}
      {tried.data && (
        <div role="status" className="rounded-md border p-3">
          <p className="font-medium">{t('alarmRules.tried', { count: tried.data.total })}</p>
          <ul>
            {tried.data.alarms.slice(0, SHOWN).map(({ place, firedAt, clearedAt }) => (
              <li key={`${place} ${firedAt.toISOString()}`} className="flex flex-wrap gap-x-3">
                <span dir="ltr" className="text-muted">
                  <Moment at={firedAt} /> – {clearedAt && <Moment at={clearedAt} />}
                </span>
                <bdi>{place}</bdi>
              </li>
            ))}
          </ul>
          {tried.data.total > SHOWN && (
            <p className="text-muted">{t('alarmRules.triedMore', { count: tried.data.total - SHOWN })}</p>
          )}
          {tried.data.warnings.map((warning) => (
            <p key={warning} className="text-muted">
              <bdi lang="en">{warning}</bdi>
            </p>
          ))}
        </div>
      )}
    </div>
  );
}
