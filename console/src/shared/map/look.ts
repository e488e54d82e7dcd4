import type { Tone } from '../../ui/badge.tsx';
import type { PointLook, Rank } from './point.ts';

const ranks: Readonly<Record<Tone, Rank>> = { calm: 0, good: 0, low: 1, medium: 2, high: 3, critical: 4 };
/** Normal states have no mark, so that others stand out without relying on colour. */
export const marks: Readonly<Record<Rank, string>> = { 0: '', 1: '–', 2: '~', 3: '×', 4: '!' };

/** How a point of this tone is drawn on the map. */
export function lookOf(tone: Tone, text: string): PointLook {
  const rank = ranks[tone];
  return { rank, mark: marks[rank], text };
}

/** The look for the most severe of several tones. @param text describes all of them */
export function worstOf(tones: readonly Tone[], text: string): PointLook {
  return lookOf(
    tones.reduce((worst, tone) => (ranks[tone] > ranks[worst] ? tone : worst), 'calm'),
    text,
  );
}
