import type { Study } from '@gantry/contract/studies';
import type { TFunction } from 'i18next';

interface Options {
  readonly interval?: '15min' | '60min' | 'day';
  readonly windows?: readonly { readonly window: 'AM'; readonly from?: string; readonly until?: string }[];
  readonly method?: 'LINEAR';
  readonly units?: string;
  readonly hours?: readonly string[];
  readonly days?: readonly number[];
  readonly vehicleClass?: 'CAR';
  readonly binEdges?: readonly (readonly number[])[];
}

/** The kinds whose interval has an effect. */
const WITH_INTERVAL: ReadonlySet<Study['kind']> = new Set(['VOLUME', 'TURNING_MOVEMENTS']);

/** What was chosen for a study besides its place and days, as names and values. */
export function optionFacts(
  { kind, options }: Pick<Study, 'kind' | 'options'>,
  t: TFunction<'studies'>,
  traffic: TFunction<'traffic'>,
): (readonly [string, string | null])[] {
  const { interval, windows, method, units, hours, days, vehicleClass, binEdges } = options as Options;
  const list = (values: readonly string[] | undefined) =>
    values ? `\u2066${values.join(', ')}\u2069` : null;
  return [
    [traffic('interval.label'), WITH_INTERVAL.has(kind) && interval ? traffic(`interval.${interval}`) : null],
    [
      t('counts.windows'),
      list(
        windows
          ?.filter(({ from }) => from !== undefined)
          .map(({ window, from, until }) => `${t(`windows.${window}`)} ${from}–${until}`),
      ),
    ],
    [t('howLabels.method'), method ? t(`methods.${method}`) : null],
    [t('signing.options.units'), units ? (units === 'MPH' ? 'mph' : 'km/h') : null],
    [t('signing.options.hours'), list(hours)],
    [t('signing.options.weekdays'), list(days?.map(String))],
    [t('signing.options.vehicleClass'), vehicleClass ? t(`classes.${vehicleClass}`) : null],
    [t('signing.options.classes'), list(binEdges?.map((edge) => edge.join('–')))],
  ];
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/** Figures of a study, which are kept as JSON, with their times as dates again. */
export function revived(figures: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(figures), (_, value) =>
    typeof value === 'string' && TIME.test(value) ? new Date(value) : value,
  );
}
