import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';

/** The sentences with which the service says why a figure is limited, or what a flag is about, and the texts that stand for them. */
export const sentences = [
  [/^The window is not over$/, 'windowNotOver'],
  [/^The day is not over$/, 'dayNotOver'],
  [/^The year is not over$/, 'yearNotOver'],
  [/^No four successive quarter hours are whole and valid$/, 'noHour'],
  [/^No vehicle was counted$/, 'noVehicle'],
  [/^No data$/, 'noData'],
  [/^All data were rejected$/, 'rejected'],
  [/^A part of the volume is an estimate$/, 'estimate'],
  [/^An hour has no data$/, 'hourMissing'],
  [/^Only (?<share>\d+) % of the day is known$/, 'dayPart'],
  [/^Only (?<share>\d+) % of the day is known: data of (?<hours>[\d.]+) h were rejected$/, 'dayPartRejected'],
  [/^Only (?<share>\d+) % of the hour from (?<hour>\d\d:\d\d) is known$/, 'hourPart'],
  [/^A gap in the hour from (?<hour>\d\d:\d\d) is too long for its usual volume \(R2\)$/, 'hourGap'],
  [/^No vehicle has a speed$/, 'noSpeed'],
  [/^Percentiles need at least (?<least>\d+) speeds, and there are (?<n>\d+)$/, 'fewSpeeds'],
  [/^Small sample: (?<n>\d+) speeds$/, 'smallSample'],
  [/^Means need at least two speeds in each study$/, 'twoSpeeds'],
  [/^One of the studies has no speed with a limit$/, 'noLimit'],
  [/^V85 needs at least (?<least>\d+) speeds in each study$/, 'fewForV85'],
  [/^All values of each study are equal, so nothing is known about chance$/, 'allEqual'],
  [/^(?<n>\d+) days are complete, and the mean needs (?<least>\d+)$/, 'fewDays'],
  [/^In month (?<months>[\d, ]+), an hour of the week is not known$/, 'hourOfWeek'],
  [/^In month (?<months>[\d, ]+), a weekday has no complete day$/, 'weekdayMissing'],
  [/^(?<share>\d+) % of the hours are valid, and design hours need 95 %$/, 'fewHours'],
  [/^The annual average is not known$/, 'noAverage'],
  [/^The usual volume of (?<n>\d+) of (?<least>\d+) hours is not known$/, 'usualUnknown'],
  [/^The service was down: data that arrived later count$/, 'downtime'],
  [/^MAINTENANCE$/, 'maintenance'],
  [/^ERROR$/, 'broken'],
  [/^HOLIDAY: (?<name>.*)$/, 'holiday'],
  [/^SCHOOL_BREAK: (?<name>.*)$/, 'schoolBreak'],
  [/^EVENT: (?<name>.*)$/, 'event'],
  [/^SPECIAL: (?<name>.*)$/, 'special'],
  [/^No headway is known/, 'noHeadway'],
  [/^The lane of some vehicles is not known/, 'noLanes'],
  [/^Nothing is known$/, 'nothingKnown'],
  [/^The number of lanes is not known/, 'lanesUnknown'],
  [/^No vehicle has a speed[;,]/, 'noSpeedNoField'],
  [/^This year is still being computed: ask again in some minutes$/, 'beingComputed'],
] as const;

const UNNAMED = { share: '', hour: '', hours: '', n: '', least: '', months: '', name: '' };

/** Returns the text for a reason of the service in the language of the page; null if the sentence is not known here. */
function useKnownReason(): (reason: string) => string | null {
  const { t } = useTranslation('studies');
  return useCallback(
    (reason) => {
      for (const [pattern, key] of sentences) {
        const found = pattern.exec(reason);
        if (found) return t(`reasons.${key}`, { ...UNNAMED, ...found.groups });
      }
      return null;
    },
    [t],
  );
}

/** As `Reason`, for files. */
export function useReasonText(): (reason: string) => string {
  const known = useKnownReason();
  return useCallback((reason) => known(reason) ?? reason, [known]);
}

/** A reason of the service in the language of the page; a sentence that is not known here stays in English. */
export function Reason({ text }: { readonly text: string }) {
  const known = useKnownReason()(text);
  return (
    known ?? (
      <bdi lang="en" className="inline">
        {text}
      </bdi>
    )
  );
}
