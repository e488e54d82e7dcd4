import { useTranslation } from 'react-i18next';
import { useAnchored } from '../../../ui/anchored.ts';
import { Button } from '../../../ui/button.tsx';
import { Popover } from '../../../ui/popover.tsx';
import { Select } from '../../../ui/select.tsx';

/** The parts of the day in which the peak hours of the morning and the afternoon are sought, as `06:30-10:30`. */
export interface Windows {
  readonly am: string | undefined;
  readonly pm: string | undefined;
}

/** Those of the service, named here so that the page can show them. */
const usual = { am: '06:30-10:30', pm: '14:00-20:00' } as const;

/** The windows as `traffic.getPeakHours` takes them. Midday lies between the peaks of both. */
export function peakWindows({ am = usual.am, pm = usual.pm }: Windows) {
  const bounds = (span: string) => ({ from: span.slice(0, 5), until: span.slice(6) });
  return [
    { window: 'AM' as const, ...bounds(am) },
    { window: 'MIDDAY' as const },
    { window: 'PM' as const, ...bounds(pm) },
    { window: 'DAY' as const },
  ];
}

const quarters = Array.from(
  { length: 97 },
  (_, at) => `${String(Math.floor(at / 4)).padStart(2, '0')}:${String((at % 4) * 15).padStart(2, '0')}`,
);

interface PeakWindowsProps {
  readonly windows: Windows;
  readonly onChange: (change: Readonly<Record<string, unknown>>) => void;
}

/** A button that shows the windows, and opens the fields for them. */
export function PeakWindows({ windows, onChange }: PeakWindowsProps) {
  const { t } = useTranslation('studies');
  const form = useAnchored();
  const { am = usual.am, pm = usual.pm } = windows;
  const label = t('counts.windows');
  const isUsual = am === usual.am && pm === usual.pm;
  return (
    <div className="flex flex-col gap-1">
      <span className="text-sm text-muted" aria-hidden="true">
        {label}
      </span>
      <Popover
        trigger={
          <Button icon="time" aria-label={`${label}: ${am}, ${pm}`}>
            <bdi dir="ltr" className="figures">
              {am.replace('-', '–')} · {pm.replace('-', '–')}
            </bdi>
          </Button>
        }
        anchored={form}
        label={label}
        align="start"
        className="flex max-w-[calc(100vw-1.5rem)] flex-col"
      >
        {(['am', 'pm'] as const).map((name) => (
          <WindowFields
            key={name}
            legend={t(name === 'am' ? 'windows.AM' : 'windows.PM')}
            span={name === 'am' ? am : pm}
            onChange={(span) => onChange({ [name]: span === usual[name] ? undefined : span })}
          />
        ))}
        <Button disabled={isUsual} onClick={() => onChange({ am: undefined, pm: undefined })}>
          {t('counts.usualWindows')}
        </Button>
      </Popover>
    </div>
  );
}

interface WindowFieldsProps {
  readonly legend: string;
  readonly span: string;
  readonly onChange: (span: string) => void;
}

/** Only ends after the start are offered, of which an hour fits between both. */
export function WindowFields({ legend, span, onChange }: WindowFieldsProps) {
  const { t } = useTranslation('range');
  const [from = '', until = ''] = span.split('-');
  const hour = 4;
  const ends = quarters.slice(quarters.indexOf(from) + hour);
  const optionsOf = (times: readonly string[]) => times.map((value) => ({ value, label: value }));
  return (
    <fieldset className="flex flex-wrap gap-3">
      <legend className="mb-1 font-medium">{legend}</legend>
      <Select
        label={t('from')}
        value={from}
        options={optionsOf(quarters.slice(0, -hour))}
        onChange={(next) => {
          const least = quarters[quarters.indexOf(next) + hour] ?? until;
          onChange(`${next}-${until < least ? least : until}`);
        }}
      />
      <Select
        label={t('until')}
        value={ends.includes(until) ? until : (ends[0] ?? until)}
        options={optionsOf(ends)}
        onChange={(next) => onChange(`${from}-${next}`)}
      />
    </fieldset>
  );
}
