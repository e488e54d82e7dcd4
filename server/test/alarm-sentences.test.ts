import type { AlarmCondition } from '@gantry/contract/alarm-rules';
import { alarmCondition, alarmScope } from '@gantry/contract/alarm-rules';
import { describeRule } from '@gantry/contract/alarm-sentences';
import { noticeLanguages } from '@gantry/contract/notices';
import { alarmSources, plausibilityChecks, systemParts } from '@gantry/contract/values';
import { describe, expect, it } from 'vitest';

const id = '00000000-0000-4000-8000-000000000001';
const conditions: readonly AlarmCondition[] = [
  { source: 'SENSOR_STATUS', statuses: ['OFFLINE', 'ERROR'] },
  { source: 'SENSOR_STATUS', statuses: ['OFFLINE'], of: 'PLACE' },
  { source: 'SENSOR_ISSUE' },
  { source: 'SENSOR_ISSUE', code: 'LENS' },
  { source: 'SENSOR_PLAUSIBILITY', checks: [...plausibilityChecks] },
  ...(['NUMBER', 'LIMIT', 'USUAL'] as const).flatMap((of) =>
    (['BELOW', 'ABOVE'] as const).map((comparison) => ({
      ...{ source: 'TRAFFIC', measure: 'meanSpeed', comparison, threshold: 0.5, of },
    })),
  ),
  {
    source: 'EVENT_RATE',
    filter: { eventType: 'INCIDENT', minSeverity: 'LOW' },
    comparison: 'AT_LEAST',
    count: 3,
    minutes: 5,
  },
  { source: 'EVENT_RATE', filter: { sensorId: id }, comparison: 'FEWER_THAN', count: 1_000, minutes: 60 },
  { source: 'INCIDENT_UNATTENDED', lacking: 'OWNER', types: ['COLLISION', 'WEATHER'] },
  { source: 'INCIDENT_UNATTENDED', lacking: 'ACKNOWLEDGEMENT' },
  { source: 'HIT' },
  { source: 'HIT', listId: id },
  { source: 'HOTLIST', states: ['STALE', 'REFUSED', 'SOURCE'] },
  { source: 'HOTLIST', states: ['STALE'], listId: id },
  { source: 'CERTIFICATE' },
  ...(['REFUSED', 'MISSED', 'FOLLOW_UPS'] as const).map((what) => ({ source: 'INTAKE', what })),
  ...systemParts.map((part) => ({ source: 'SYSTEM', part })),
].map((condition) => alarmCondition.parse(condition));

const rule = (condition: AlarmCondition, more: object = {}) => ({
  ...{
    condition,
    scope: alarmScope.parse({}),
    severity: 'HIGH' as const,
    forSeconds: 0,
    hours: null,
    clear: null,
  },
  ...more,
});

describe('the sentence of a rule', () => {
  it('is there for every form of a condition in every language, and another one for each', () => {
    expect(new Set(conditions.map(({ source }) => source))).toEqual(new Set(alarmSources));
    for (const language of noticeLanguages) {
      const sentences = conditions.map((condition) => describeRule(rule(condition), language, () => '7'));
      expect(new Set(sentences).size).toBe(conditions.length);
      for (const sentence of sentences) {
        expect(sentence).not.toMatch(/undefined|NaN|null|\[object| {2}|\( *\)/);
        expect(sentence).toMatch(/^\S.*\.$/);
        // Only names that operators know by their Latin letters.
        if (language === 'ar') expect(sentence.replaceAll(/V85|webhook|LENS/g, '')).not.toMatch(/[a-z]/i);
      }
    }
  });

  it('says the scope, the duration, the hours and the end', () => {
    const [condition] = conditions.filter(({ source }) => source === 'TRAFFIC');
    if (!condition) throw new Error('There is no condition about traffic');
    const more = {
      scope: alarmScope.parse({ locationIds: [id, id], sensorTypes: ['RADAR', 'CAMERA'] }),
      forSeconds: 5_400,
      hours: { days: [1, 2, 3, 4, 5], from: '06:00', until: '20:00' },
      clear: { threshold: 60.5 },
    };
    const told = { ...condition, of: 'NUMBER' as const, threshold: 1_040 } as AlarmCondition;
    const said = (language: (typeof noticeLanguages)[number]) =>
      describeRule(rule(told, more), language, (kind, code) => (kind === 'severity' ? '7' : code));
    expect(said('en')).toBe(
      'When the mean speed of 5 min at a location is below 1,040 km/h (only 2 locations and the types RADAR, CAMERA) for 90 min on workdays from 06:00 until 20:00, an alarm of severity 7 fires. It ends at 60.5.',
    );
    expect(said('tr')).toBe(
      'İş günleri 06:00–20:00 arasında 90 dakika boyunca bir konumda 5 dakika içindeki ortalama hız 1.040 km/s değerinin altındaysa (yalnızca 2 konum ve şu türler: RADAR, CAMERA), 7 önemde bir alarm verilir. Alarm 60,5 değerinde sona erer.',
    );
    expect(said('ar')).toContain(
      'لمدة 90 دقيقة في أيام العمل من 06:00 إلى 20:00، يُطلَق إنذار خطورته 7. وينتهي عند',
    );
  });

  it('uses the codes of the API without other names', () => {
    const [condition] = conditions;
    if (!condition) throw new Error('There is no condition');
    expect(describeRule(rule(condition))).toBe(
      'When a sensor is OFFLINE or ERROR, an alarm of severity HIGH fires.',
    );
  });
});
