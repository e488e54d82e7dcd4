import { useTranslation } from 'react-i18next';

/** The sentences with which the service says why a figure is limited, and the texts that stand for them. */
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
] as const;

/** A reason of the service in the language of the page; a sentence that is not known here stays in English. */
export function Reason({ text }: { readonly text: string }) {
  const { t } = useTranslation('studies');
  for (const [pattern, key] of sentences) {
    const found = pattern.exec(text);
    if (found) return t(`reasons.${key}`, { share: '', hour: '', hours: '', ...found.groups });
  }
  return (
    <bdi lang="en" className="inline">
      {text}
    </bdi>
  );
}
