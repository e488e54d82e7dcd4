import type { Severity } from '@gantry/contract/events';
import { severities } from '@gantry/contract/values';
import { useEffect, useSyncExternalStore } from 'react';
import { createStored } from '../../ui/stored.ts';

/** The sound settings of this browser. */
export interface SoundChoice {
  /** Off until the user switches it on. */
  readonly on: boolean;
  readonly muted: readonly Severity[];
}

function isChoice(value: unknown): boolean {
  const { on, muted } = (value ?? {}) as Partial<SoundChoice>;
  return (
    typeof on === 'boolean' &&
    Array.isArray(muted) &&
    muted.every((severity) => severities.includes(severity))
  );
}

const stored = createStored<SoundChoice>('watchlist.sound', { on: false, muted: [] }, isChoice);
export const useSoundChoice = stored.use;

let context: AudioContext | null = null;
/** The tone that was played last, and the time of the audio context at which it ends. */
let latest: { readonly severity: Severity; readonly until: number } | null = null;
const listeners = new Set<() => void>();

function changed(): void {
  for (const listener of listeners) listener();
}

/** Whether the browser allows this tab to play sound, which requires a click or a key press in it. */
function isAudible(): boolean {
  return context?.state === 'running';
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useAudible(): boolean {
  return useSyncExternalStore(subscribe, isAudible);
}

/** Asks the browser to allow sound in this tab. It does so only in response to a click or a key press. */
async function unlock(): Promise<void> {
  if (!context) {
    context = new AudioContext();
    context.addEventListener('statechange', changed);
  }
  await context.resume().catch(() => undefined);
}

/** Stores the sound settings. The click that switches sound on also allows this tab to play it. */
export function setSound(choice: SoundChoice): void {
  stored.set(choice);
  if (choice.on) void unlock();
}

/** Plays the tone of a severity as a sample, whatever the sound settings. */
export async function trySound(severity: Severity): Promise<void> {
  await unlock();
  if (context) playTone(context, severity);
}

const NAME = 'gantry.sound';
/**
 * Without the Web Locks API, each tab waits a random time up to this, in milliseconds, before it plays an alert, and
 * does not play it if another tab has claimed it meanwhile.
 */
const CLAIM_MS = 200;

let speaks = false;
const claimed = new Set<string>();
const claims = 'BroadcastChannel' in globalThis ? new BroadcastChannel(NAME) : null;
claims?.addEventListener('message', ({ data }) => claimed.add(String(data)));

/**
 * Elects one tab of the browser to play the sounds for all of them: the first tab that is allowed to play sound holds a
 * lock. A tab that was reloaded is allowed to play sound again after the next click or key press in it.
 */
export function useSpeaker(): void {
  const { on } = useSoundChoice();
  const audible = useAudible();
  useEffect(() => {
    if (!on || audible) return;
    const press = () => void unlock();
    document.addEventListener('pointerdown', press);
    document.addEventListener('keydown', press);
    return () => {
      document.removeEventListener('pointerdown', press);
      document.removeEventListener('keydown', press);
    };
  }, [on, audible]);
  useEffect(() => {
    if (!on || !audible || !('locks' in navigator)) return;
    const stop = new AbortController();
    const hold = () =>
      new Promise<void>((resolve) => {
        speaks = true;
        stop.signal.addEventListener('abort', () => {
          speaks = false;
          resolve();
        });
      });
    navigator.locks.request(NAME, { signal: stop.signal }, hold).catch(() => undefined);
    return () => stop.abort();
  }, [on, audible]);
}

/** Plays the tone of an alert in one tab of the browser, unless sound is off or the severity is muted. */
export async function soundAlert(id: string, severity: Severity): Promise<void> {
  const { on, muted } = stored.get();
  if (!on || muted.includes(severity) || !isAudible() || !context) return;
  if (!('locks' in navigator)) {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * CLAIM_MS));
    if (claimed.has(id)) return;
    claims?.postMessage(id);
  } else if (!speaks) return;
  // While a tone is playing, only more urgent alerts play another one, and critical ones in any case.
  const playing = latest && context.currentTime < latest.until ? latest.severity : null;
  if (playing && severity !== 'CRITICAL' && severities.indexOf(severity) <= severities.indexOf(playing))
    return;
  latest = { severity, until: context.currentTime + playTone(context, severity) };
}

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
function playTone(context: AudioContext, severity: Severity): number {
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
