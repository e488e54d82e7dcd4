import type {
  AlarmCondition,
  AlarmRuleInput,
  ConditionOf,
  HotlistTroubleKind,
  SystemPart,
  TrafficMeasure,
} from './alarm-rules.ts';
import type { NoticeLanguage } from './notices.ts';
import { SYSTEM_THRESHOLDS } from './values.ts';

// A rule as a sentence, for those who enter it and for those who are told of its alarms.

/** What a code in a rule is of. */
export type NamedKind = 'severity' | 'status' | 'check' | 'eventType' | 'incidentType' | 'sensorType';

/** The name of a code of a rule, such as of OFFLINE. */
export type NameOf = (kind: NamedKind, code: string) => string;

/** What the sentences of a language are made with. */
interface Words {
  readonly nameOf: NameOf;
  readonly number: (value: number) => string;
  /** A duration, such as 5 min. */
  readonly time: (value: number, unit: 'second' | 'minute' | 'hour' | 'day') => string;
  readonly all: (items: readonly string[]) => string;
  readonly any: (items: readonly string[]) => string;
}

/** The parts of a sentence; '' for one that a rule does not have. */
interface Parts {
  readonly condition: string;
  readonly within: string;
  readonly lasting: string;
  readonly when: string;
  readonly severity: string;
  readonly ending: string;
}

interface Wording {
  readonly conditions: {
    readonly [Source in AlarmCondition['source']]: (condition: ConditionOf<Source>, words: Words) => string;
  };
  readonly locations: (count: number) => string;
  readonly sensors: (count: number) => string;
  readonly types: (names: string) => string;
  readonly within: (named: string) => string;
  readonly lasting: (duration: string) => string;
  readonly everyDay: string;
  readonly onWorkdays: string;
  readonly onDays: (days: string) => string;
  readonly hours: (days: string, from: string, until: string) => string;
  readonly ending: (threshold: string) => string;
  readonly sentence: (parts: Parts) => string;
}

/** What the events of a rate have in common. */
function kindsOf({ filter }: ConditionOf<'EVENT_RATE'>, { nameOf, all }: Words, oneSensor: string): string {
  const { eventType, violationType, minSeverity, sensorId } = filter;
  return all([
    ...(eventType === undefined ? [] : [nameOf('eventType', eventType)]),
    ...(violationType === undefined ? [] : [violationType]),
    ...(sensorId === undefined ? [] : [oneSensor]),
    ...(minSeverity === undefined ? [] : [`≥ ${nameOf('severity', minSeverity)}`]),
  ]);
}

function incidentTypesOf({ types }: ConditionOf<'INCIDENT_UNATTENDED'>, { nameOf, any }: Words): string {
  return types.length === 0 ? '' : ` (${any(types.map((type) => nameOf('incidentType', type)))})`;
}

/** The threshold of a traffic figure: as a number, or as a share in percent. */
function shareOf({ threshold }: ConditionOf<'TRAFFIC'>, { number }: Words): string {
  return `${number(Math.round(threshold * 100))} %`;
}

type TextsOf<Code extends string> = Readonly<Record<Code, string>>;

const EN_MEASURES: TextsOf<TrafficMeasure> = {
  meanSpeed: 'the mean speed',
  v85: 'V85',
  volumePerHour: 'the volume per hour',
  shareOverLimit: 'the share of vehicles over the limit',
};
const EN_UNITS: TextsOf<TrafficMeasure> = {
  meanSpeed: ' km/h',
  v85: ' km/h',
  volumePerHour: ' vehicles',
  shareOverLimit: '',
};
const EN_TROUBLES: TextsOf<HotlistTroubleKind> = {
  STALE: 'is not renewed in time',
  REFUSED: 'has a last file that was refused',
  SOURCE: 'has a source that cannot be read',
};
type PartTexts = Readonly<Record<SystemPart, (threshold: number, words: Words) => string>>;
const EN_PARTS: PartTexts = {
  DISK: (n, { number }) => `less than ${number(n)} % of the disk is free`,
  BACKUP: (n, { time }) => `the last complete backup is at least ${time(n, 'hour')} old`,
  CLOCK: (n, { time }) => `the clock of the service is off by at least ${time(n, 'second')}`,
  WEBHOOKS: (n, { number }) => `at least ${number(n)} deliveries of webhooks were given up`,
  CHANNEL: (n, { number }) => (n === 1 ? 'a channel fails' : `at least ${number(n)} channels fail`),
  DUTY: (n, { number }) =>
    `nobody is on duty on ${n === 1 ? 'a rota' : `at least ${number(n)} rotas`} that should be told of an alarm`,
  HANDOVER: (n, { time }) => `a hand-over has not been accepted for ${time(n, 'minute')}`,
  SEAL: (n, { number }) => (n === 1 ? 'a seal is broken' : `at least ${number(n)} seals are broken`),
};

const en: Wording = {
  conditions: {
    SENSOR_STATUS: ({ of, statuses }, { any, nameOf }) =>
      of === 'SENSOR'
        ? `a sensor is ${any(statuses.map((status) => nameOf('status', status)))}`
        : 'no sensor of a place works',
    SENSOR_ISSUE: ({ code }) => `a sensor reports a critical issue${code === null ? '' : ` with “${code}”`}`,
    SENSOR_PLAUSIBILITY: ({ checks }, { nameOf }) =>
      `a sensor fails a check of plausibility (${checks.map((check) => nameOf('check', check)).join(', ')})`,
    TRAFFIC: (condition, words) => {
      const { measure, comparison, threshold, of, minutes, per } = condition;
      const limit =
        of === 'NUMBER'
          ? `${words.number(threshold)}${EN_UNITS[measure]}`
          : `${shareOf(condition, words)} of ${of === 'LIMIT' ? 'the speed limit' : 'what is usual at that hour of the week'}`;
      return `${EN_MEASURES[measure]} of ${words.time(minutes, 'minute')} at a ${per.toLowerCase()} is ${comparison.toLowerCase()} ${limit}`;
    },
    EVENT_RATE: (condition, words) => {
      const { comparison, count, minutes } = condition;
      const how = comparison === 'AT_LEAST' ? 'at least' : 'fewer than';
      return `there are ${how} ${words.number(count)} events (${kindsOf(condition, words, 'one sensor')}) in ${words.time(minutes, 'minute')}`;
    },
    INCIDENT_UNATTENDED: (condition, words) =>
      `an incident of severity ${words.nameOf('severity', condition.minSeverity)} or more urgent${incidentTypesOf(condition, words)} ${condition.lacking === 'OWNER' ? 'has no owner' : 'is not acknowledged'}`,
    HIT: ({ listId, minPriority }, { nameOf }) =>
      `a ${listId === null ? 'watched vehicle' : 'vehicle of one hotlist'} of priority ${nameOf('severity', minPriority)} or more urgent is seen`,
    HOTLIST: ({ listId, states }, { any }) =>
      `${listId === null ? 'a' : 'one'} hotlist ${any(states.map((state) => EN_TROUBLES[state]))}`,
    CERTIFICATE: ({ days }, { time }) => `a certificate expires within ${time(days, 'day')}`,
    INTAKE: ({ what, count, minutes }, { number, time }) => {
      const within = time(minutes, 'minute');
      if (what === 'MISSED') return `a message of a connection was missed in the last ${within}`;
      if (what === 'FOLLOW_UPS')
        return `at least ${number(count)} ${count === 1 ? 'event has' : 'events have'} waited for their follow-up for ${within}`;
      return `at least ${number(count)} ${count === 1 ? 'message of a connection was' : 'messages of a connection were'} refused in ${within}`;
    },
    SYSTEM: ({ part, threshold = SYSTEM_THRESHOLDS[part] }, words) => EN_PARTS[part](threshold, words),
  },
  locations: (count) => (count === 1 ? 'one location' : `${count} locations`),
  sensors: (count) => (count === 1 ? 'one sensor' : `${count} sensors`),
  types: (names) => `the types ${names}`,
  within: (named) => ` (only ${named})`,
  lasting: (duration) => ` for ${duration}`,
  everyDay: 'every day',
  onWorkdays: 'on workdays',
  onDays: (days) => `on ${days}`,
  hours: (days, from, until) => ` ${days} from ${from} until ${until}`,
  ending: (threshold) => ` It ends at ${threshold}.`,
  sentence: ({ condition, within, lasting, when, severity, ending }) =>
    `When ${condition}${within}${lasting}${when}, an alarm of severity ${severity} fires.${ending}`,
};

const TR_MEASURES: TextsOf<TrafficMeasure> = {
  meanSpeed: 'ortalama hız',
  v85: 'V85',
  volumePerHour: 'saatlik taşıt sayısı',
  shareOverLimit: 'sınırı aşan taşıtların oranı',
};
const TR_UNITS: TextsOf<TrafficMeasure> = {
  meanSpeed: ' km/s',
  v85: ' km/s',
  volumePerHour: ' taşıt',
  shareOverLimit: '',
};
const TR_TROUBLES: TextsOf<HotlistTroubleKind> = {
  STALE: 'zamanında yenilenmezse',
  REFUSED: 'son dosyası reddedilirse',
  SOURCE: 'kaynağı okunamazsa',
};
const TR_PARTS: PartTexts = {
  DISK: (n, { number }) => `diskteki boş yer % ${number(n)} değerinin altındaysa`,
  BACKUP: (n, { time }) => `son tam yedeğin üzerinden en az ${time(n, 'hour')} geçtiyse`,
  CLOCK: (n, { time }) => `hizmetin saati en az ${time(n, 'second')} farklıysa`,
  WEBHOOKS: (n, { number }) => `en az ${number(n)} webhook gönderiminden vazgeçildiyse`,
  CHANNEL: (n, { number }) => `en az ${number(n)} kanal çalışmıyorsa`,
  DUTY: (n, { number }) => `alarm bildirilecek en az ${number(n)} nöbette görevde kimse yoksa`,
  HANDOVER: (n, { time }) => `bir vardiya devri ${time(n, 'minute')} boyunca kabul edilmediyse`,
  SEAL: (n, { number }) => `en az ${number(n)} mühür bozuksa`,
};

const tr: Wording = {
  conditions: {
    SENSOR_STATUS: ({ of, statuses }, { any, nameOf }) =>
      of === 'SENSOR'
        ? `bir sensörün durumu ${any(statuses.map((status) => nameOf('status', status)))} ise`
        : 'bir yerin hiçbir sensörü çalışmıyorsa',
    SENSOR_ISSUE: ({ code }) =>
      `bir sensör ${code === null ? '' : `“${code}” içeren `}kritik bir sorun bildirirse`,
    SENSOR_PLAUSIBILITY: ({ checks }, { nameOf }) =>
      `bir sensörün verileri inandırıcı değilse (${checks.map((check) => nameOf('check', check)).join(', ')})`,
    TRAFFIC: (condition, words) => {
      const { measure, comparison, threshold, of, minutes, per } = condition;
      const limit =
        of === 'NUMBER'
          ? `${words.number(threshold)}${TR_UNITS[measure]} değerinin`
          : `${of === 'LIMIT' ? 'hız sınırının' : 'haftanın o saatinde olağan değerin'} ${shareOf(condition, words)} kadarının`;
      const where = per === 'LOCATION' ? 'bir konumda' : 'bir sensörde';
      return `${where} ${words.time(minutes, 'minute')} içindeki ${TR_MEASURES[measure]} ${limit} ${comparison === 'BELOW' ? 'altındaysa' : 'üstündeyse'}`;
    },
    EVENT_RATE: (condition, words) => {
      const { comparison, count, minutes } = condition;
      const kinds = kindsOf(condition, words, 'bir sensör');
      const how = comparison === 'AT_LEAST' ? 'en az olursa' : 'altında kalırsa';
      return `${words.time(minutes, 'minute')} içindeki olay sayısı (${kinds}) ${words.number(count)} ${how}`;
    },
    INCIDENT_UNATTENDED: (condition, words) =>
      `${words.nameOf('severity', condition.minSeverity)} veya daha acil önemde bir vaka${incidentTypesOf(condition, words)} ${condition.lacking === 'OWNER' ? 'sorumlusuz kalırsa' : 'onaylanmazsa'}`,
    HIT: ({ listId, minPriority }, { nameOf }) =>
      `${nameOf('severity', minPriority)} veya daha acil öncelikte ${listId === null ? 'izlenen bir araç' : 'seçilen listeden bir araç'} görülürse`,
    HOTLIST: ({ listId, states }, { any }) =>
      `${listId === null ? 'bir arananlar listesi' : 'seçilen arananlar listesi'} ${any(states.map((state) => TR_TROUBLES[state]))}`,
    CERTIFICATE: ({ days }, { time }) => `bir sertifikanın süresi ${time(days, 'day')} içinde dolacaksa`,
    INTAKE: ({ what, count, minutes }, { number, time }) => {
      const within = time(minutes, 'minute');
      if (what === 'MISSED') return `bir bağlantının iletisi son ${within} içinde kaçırıldıysa`;
      return what === 'FOLLOW_UPS'
        ? `en az ${number(count)} olayın işlenmesi ${within} geciktiyse`
        : `bir bağlantının en az ${number(count)} iletisi ${within} içinde reddedildiyse`;
    },
    SYSTEM: ({ part, threshold = SYSTEM_THRESHOLDS[part] }, words) => TR_PARTS[part](threshold, words),
  },
  locations: (count) => `${count} konum`,
  sensors: (count) => `${count} sensör`,
  types: (names) => `şu türler: ${names}`,
  within: (named) => `(yalnızca ${named}) `,
  lasting: (duration) => `${duration} boyunca `,
  everyDay: 'her gün',
  onWorkdays: 'iş günleri',
  onDays: (days) => `${days} günleri`,
  hours: (days, from, until) => `${days} ${from}–${until} arasında `,
  ending: (threshold) => ` Alarm ${threshold} değerinde sona erer.`,
  sentence({ condition, within, lasting, when, severity, ending }) {
    const text = `${when}${lasting}${condition}`;
    const limits = within === '' ? '' : ` ${within.trim()}`;
    return `${text.charAt(0).toLocaleUpperCase('tr')}${text.slice(1)}${limits}, ${severity} önemde bir alarm verilir.${ending}`;
  },
};

const AR_MEASURES: TextsOf<TrafficMeasure> = {
  meanSpeed: 'متوسط السرعة',
  v85: 'V85',
  volumePerHour: 'عدد المركبات في الساعة',
  shareOverLimit: 'نسبة المتجاوزين للحد',
};
const AR_UNITS: TextsOf<TrafficMeasure> = {
  meanSpeed: ' كم/س',
  v85: ' كم/س',
  volumePerHour: ' مركبة',
  shareOverLimit: '',
};
const AR_TROUBLES: TextsOf<HotlistTroubleKind> = {
  STALE: 'لم تُجدَّد في وقتها',
  REFUSED: 'رُفض ملفها الأخير',
  SOURCE: 'تعذّرت قراءة مصدرها',
};
const AR_PARTS: PartTexts = {
  DISK: (n, { number }) => `كان المتاح من القرص أقل من ${number(n)} %`,
  BACKUP: (n, { time }) => `مضت على آخر نسخة احتياطية كاملة ${time(n, 'hour')} على الأقل`,
  CLOCK: (n, { time }) => `انحرفت ساعة الخدمة ${time(n, 'second')} على الأقل`,
  WEBHOOKS: (n, { number }) => `بلغ عدد إرسالات webhook المتروكة ${number(n)} على الأقل`,
  CHANNEL: (n, { number }) => `بلغ عدد القنوات التي لا تعمل ${number(n)} على الأقل`,
  DUTY: (n, { number }) => `بلغ عدد المناوبات التي لا أحد فيها في الخدمة ليُبلَّغ بإنذار ${number(n)} على الأقل`,
  HANDOVER: (n, { time }) => `لم يُقبَل تسليم مناوبة منذ ${time(n, 'minute')}`,
  SEAL: (n, { number }) => `بلغ عدد الأختام المكسورة ${number(n)} على الأقل`,
};

const ar: Wording = {
  conditions: {
    SENSOR_STATUS: ({ of, statuses }, { any, nameOf }) =>
      of === 'SENSOR'
        ? `كانت حالة مستشعر ${any(statuses.map((status) => `«${nameOf('status', status)}»`))}`
        : 'لم يعمل أي مستشعر في مكان ما',
    SENSOR_ISSUE: ({ code }) => `أبلغ مستشعر عن عطل حرج${code === null ? '' : ` فيه «${code}»`}`,
    SENSOR_PLAUSIBILITY: ({ checks }, { nameOf }) =>
      `كانت بيانات مستشعر غير معقولة (${checks.map((check) => nameOf('check', check)).join('، ')})`,
    TRAFFIC: (condition, words) => {
      const { measure, comparison, threshold, of, minutes, per } = condition;
      const limit =
        of === 'NUMBER'
          ? `${words.number(threshold)}${AR_UNITS[measure]}`
          : `${shareOf(condition, words)} من ${of === 'LIMIT' ? 'حد السرعة' : 'المعتاد في تلك الساعة من الأسبوع'}`;
      const where = per === 'LOCATION' ? 'في موقع' : 'عند مستشعر';
      return `كانت قيمة ${AR_MEASURES[measure]} خلال ${words.time(minutes, 'minute')} ${where} ${comparison === 'BELOW' ? 'أقل من' : 'أعلى من'} ${limit}`;
    },
    EVENT_RATE: (condition, words) => {
      const { comparison, count, minutes } = condition;
      const events = `عدد الأحداث (${kindsOf(condition, words, 'مستشعر واحد')}) خلال ${words.time(minutes, 'minute')}`;
      return comparison === 'AT_LEAST'
        ? `بلغ ${events} ${words.number(count)} على الأقل`
        : `كان ${events} أقل من ${words.number(count)}`;
    },
    INCIDENT_UNATTENDED: (condition, words) =>
      `بقي حادث خطورته ${words.nameOf('severity', condition.minSeverity)} أو أشد${incidentTypesOf(condition, words)} ${condition.lacking === 'OWNER' ? 'بلا مسؤول' : 'دون إقرار'}`,
    HIT: ({ listId, minPriority }, { nameOf }) =>
      `شوهدت مركبة ${listId === null ? 'مراقَبة' : 'من القائمة المحددة'} أولويتها ${nameOf('severity', minPriority)} أو أعلى`,
    HOTLIST: ({ listId, states }, { any }) =>
      `${listId === null ? 'وُجدت قائمة مطلوبين' : 'كانت قائمة المطلوبين المحددة'} ${any(states.map((state) => AR_TROUBLES[state]))}`,
    CERTIFICATE: ({ days }, { time }) => `كانت صلاحية شهادة ستنتهي خلال ${time(days, 'day')}`,
    INTAKE: ({ what, count, minutes }, { number, time }) => {
      const within = time(minutes, 'minute');
      if (what === 'MISSED') return `فُقدت رسالة من اتصال خلال آخر ${within}`;
      return what === 'FOLLOW_UPS'
        ? `بلغ عدد الأحداث التي تنتظر معالجتها منذ ${within} ${number(count)} على الأقل`
        : `بلغ عدد الرسائل المرفوضة من اتصال خلال ${within} ${number(count)} على الأقل`;
    },
    SYSTEM: ({ part, threshold = SYSTEM_THRESHOLDS[part] }, words) => AR_PARTS[part](threshold, words),
  },
  locations: (count) => `عدد المواقع: ${count}`,
  sensors: (count) => `عدد المستشعرات: ${count}`,
  types: (names) => `الأنواع: ${names}`,
  within: (named) => ` (ما حُدِّد فقط – ${named})`,
  lasting: (duration) => ` لمدة ${duration}`,
  everyDay: 'كل يوم',
  onWorkdays: 'في أيام العمل',
  onDays: (days) => `أيام ${days}`,
  hours: (days, from, until) => ` ${days} من ${from} إلى ${until}`,
  ending: (threshold) => ` وينتهي عند ${threshold}.`,
  sentence: ({ condition, within, lasting, when, severity, ending }) =>
    `إذا ${condition}${within}${lasting}${when}، يُطلَق إنذار خطورته ${severity}.${ending}`,
};

const WORDINGS: Readonly<Record<NoticeLanguage, Wording>> = { en, tr, ar };

/** English has short units, as in the rest of Gantry; for others, `Intl` knows the plural forms. */
const EN_TIMES = { second: 's', minute: 'min', hour: 'h', day: 'd' } as const;

function wordsOf(language: NoticeLanguage, nameOf: NameOf): Words {
  const listOf = (type: Intl.ListFormatType) => (items: readonly string[]) =>
    new Intl.ListFormat(language, { type }).format(items);
  const number = (value: number) => value.toLocaleString(language, { maximumFractionDigits: 6 });
  return {
    nameOf,
    number,
    time: (value, unit) =>
      language === 'en'
        ? `${number(value)} ${EN_TIMES[unit]}`
        : value.toLocaleString(language, { style: 'unit', unit, unitDisplay: 'long' }),
    all: listOf('conjunction'),
    any: listOf('disjunction'),
  };
}

function durationOf(seconds: number, { time }: Words): string {
  if (seconds % 3_600 === 0) return time(seconds / 3_600, 'hour');
  return seconds % 60 === 0 ? time(seconds / 60, 'minute') : time(seconds, 'second');
}

function hoursOf(
  hours: NonNullable<AlarmRuleInput['hours']>,
  wording: Wording,
  language: NoticeLanguage,
): string {
  const { days, from, until } = hours;
  const weekday = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });
  const names = days.map((day) => weekday.format(Date.UTC(2024, 0, day)));
  const on =
    days.length === 7
      ? wording.everyDay
      : days.join() === '1,2,3,4,5'
        ? wording.onWorkdays
        : wording.onDays(names.join(language === 'ar' ? '، ' : ', '));
  return wording.hours(on, from, until);
}

/**
 * A rule as a sentence: When … for 5 min on workdays from 06:00 until 22:00, an alarm of severity HIGH fires.
 * @param nameOf the names of codes in that language; without it, the codes themselves
 */
export function describeRule(
  rule: Pick<AlarmRuleInput, 'condition' | 'scope' | 'forSeconds' | 'hours' | 'severity' | 'clear'>,
  language: NoticeLanguage = 'en',
  nameOf: NameOf = (_, code) => code,
): string {
  const { condition, scope, forSeconds, hours, severity, clear } = rule;
  const wording = WORDINGS[language];
  const words = wordsOf(language, nameOf);
  const { locationIds, sensorIds, sensorTypes } = scope;
  const named = [
    ...(locationIds.length > 0 ? [wording.locations(locationIds.length)] : []),
    ...(sensorIds.length > 0 ? [wording.sensors(sensorIds.length)] : []),
    ...(sensorTypes.length > 0
      ? [wording.types(sensorTypes.map((type) => nameOf('sensorType', type)).join(', '))]
      : []),
  ];
  const say = wording.conditions[condition.source] as (condition: AlarmCondition, words: Words) => string;
  return wording.sentence({
    condition: say(condition, words),
    within: named.length === 0 ? '' : wording.within(words.all(named)),
    lasting: forSeconds === 0 ? '' : wording.lasting(durationOf(forSeconds, words)),
    when: hours ? hoursOf(hours, wording, language) : '',
    severity: nameOf('severity', severity),
    ending: clear ? wording.ending(words.number(clear.threshold)) : '',
  });
}
