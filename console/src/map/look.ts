import type { Tone } from '../ui/badge.tsx';
import type { PointLook, Rank } from './point.ts';

const ranks: Readonly<Record<Tone, Rank>> = { calm: 0, good: 0, low: 1, medium: 2, high: 3, critical: 4 };
/** What is normal has no mark, so that what is not stands out without its colour, too. */
const marks: Readonly<Record<Rank, string>> = { 0: '', 1: '–', 2: '~', 3: '×', 4: '!' };

/** How something of this tone is drawn on the map. */
export function lookOf(tone: Tone, text: string): PointLook {
  const rank = ranks[tone];
  return { rank, mark: marks[rank], text };
}

/** The look of something that is as bad as the worst of several. @param text says what all of them are */
export function worstOf(tones: readonly Tone[], text: string): PointLook {
  return lookOf(
    tones.reduce((worst, tone) => (ranks[tone] > ranks[worst] ? tone : worst), 'calm'),
    text,
  );
}
