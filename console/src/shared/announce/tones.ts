import type { Severity } from '@gantry/contract/events';

/** A note: its pitch in hertz, and its start and length in seconds. */
interface Note {
  readonly pitch: number;
  readonly at: number;
  readonly length: number;
}

interface Tone {
  readonly wave: OscillatorType;
  readonly loudness: number;
  readonly notes: readonly Note[];
}

/** Returns `count` notes that cycle through `pitches`, each `length` seconds long and followed by a short rest. */
function inTurn(pitches: readonly number[], count: number, length: number): readonly Note[] {
  return Array.from({ length: count }, (_, at) => ({
    pitch: pitches[at % pitches.length] ?? 440,
    at: at * (length + 0.04),
    length,
  }));
}

/** The tone of each severity: the more urgent, the higher, longer and louder. */
const tones: Readonly<Record<Severity, Tone>> = {
  LOW: { wave: 'sine', loudness: 0.12, notes: inTurn([440], 1, 0.18) },
  MEDIUM: { wave: 'sine', loudness: 0.16, notes: inTurn([523, 659], 2, 0.18) },
  HIGH: { wave: 'triangle', loudness: 0.22, notes: inTurn([784], 3, 0.16) },
  CRITICAL: { wave: 'square', loudness: 0.16, notes: inTurn([988, 659], 8, 0.14) },
};

/** Plays the tone of a severity. @returns how long it lasts, in seconds */
export function playTone(context: AudioContext, severity: Severity): number {
  const { wave, loudness, notes } = tones[severity];
  const start = context.currentTime + 0.02;
  for (const { pitch, at, length } of notes) {
    const [from, until] = [start + at, start + at + length];
    const source = new OscillatorNode(context, { type: wave, frequency: pitch });
    const gain = new GainNode(context, { gain: 0 });
    // Without a ramp at both ends the note would click.
    gain.gain.setValueAtTime(0, from);
    gain.gain.linearRampToValueAtTime(loudness, from + 0.015);
    gain.gain.setValueAtTime(loudness, until - 0.03);
    gain.gain.linearRampToValueAtTime(0, until);
    source.connect(gain).connect(context.destination);
    source.start(from);
    source.stop(until);
  }
  const last = notes.at(-1);
  return last ? last.at + last.length : 0;
}
