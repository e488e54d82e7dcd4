import type { Severity } from '@gantry/contract/events';
import { severities } from '@gantry/contract/values';
import { useEffect, useSyncExternalStore } from 'react';
import { createStored } from '../preferences/stored.ts';
import { playTone } from './tones.ts';

/** Which alerts are heard at this browser. */
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
let busyUntil = 0;
const listeners = new Set<() => void>();

function changed(): void {
  for (const listener of listeners) listener();
}

/** Whether the browser lets this tab be heard: only after the user has pressed something in it. */
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

/** Asks the browser to let this tab be heard. It does so only while the user presses something. */
async function unlock(): Promise<void> {
  if (!context) {
    context = new AudioContext();
    context.addEventListener('statechange', changed);
  }
  await context.resume().catch(() => undefined);
}

/** Keeps the choice. Switched on by a press, the tab can be heard from then on. */
export function setSound(choice: SoundChoice): void {
  stored.set(choice);
  if (choice.on) void unlock();
}

/** Lets the user hear how a severity sounds. */
export async function trySound(severity: Severity): Promise<void> {
  await unlock();
  if (context) playTone(context, severity);
}

const NAME = 'gantry.sound';
/** Without locks a tab waits up to this long for another one that plays the same alert, in milliseconds. */
const CLAIM_MS = 200;

let speaks = false;
const claimed = new Set<string>();
const claims = 'BroadcastChannel' in globalThis ? new BroadcastChannel(NAME) : null;
claims?.addEventListener('message', ({ data }) => claimed.add(String(data)));

/**
 * Has this tab be heard for all tabs of the browser if it is the first of those that can be: it holds a lock. A tab that was
 * loaded again can be heard after the next press in it.
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

/** Plays the tone of an alert, in one tab of the browser, unless its severity is muted. */
export async function soundAlert(id: string, severity: Severity): Promise<void> {
  const { on, muted } = stored.get();
  if (!on || muted.includes(severity) || !isAudible() || !context) return;
  if (!('locks' in navigator)) {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * CLAIM_MS));
    if (claimed.has(id)) return;
    claims?.postMessage(id);
  } else if (!speaks) return;
  // Many at once are heard as one; what is more urgent than that is heard all the same.
  if (context.currentTime < busyUntil && severity !== 'CRITICAL') return;
  busyUntil = context.currentTime + playTone(context, severity);
}
