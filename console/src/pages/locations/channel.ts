import type { Assignment } from '@gantry/contract/points';
import type { api } from '../../shared/service/service.ts';

// Which part of what a sensor sends an assignment is about, as people enter it.

/** A channel as it is sent. */
type Channel = NonNullable<Parameters<typeof api.assignments.create.mutate>[0]['channel']>;
type Movement = NonNullable<Assignment['movement']>;

/** A movement by its leg and its turn; '' for none. */
export const movementOf = (from: string, turn: string): Movement =>
  ({ from, ...(turn && { turn }) }) as Movement;

/** A channel as text: a name, or its parts as `direction=RECEDING, lane=2, movement=S:L`. */
export const channelText = (channel: Assignment['channel']): string =>
  typeof channel === 'string'
    ? channel
    : Object.entries(channel)
        .map(
          ([part, value]) => `${part}=${typeof value === 'object' ? Object.values(value).join(':') : value}`,
        )
        .join(', ');

const PART = /^(direction|lane|movement)=(.*)$/;

/** Reads such a text. What is none of these parts is a name, which the service judges. */
export function channelOf(text: string): Channel {
  const parts = text.split(',').map((part) => PART.exec(part.trim()));
  if (parts.some((part) => part === null)) return text;
  const given = Object.fromEntries(
    parts.map((part) => {
      const [, name = '', value = ''] = part ?? [];
      const [from = '', turn = ''] = value.split(':');
      if (name === 'movement') return [name, movementOf(from, turn)];
      return [name, name === 'direction' && /^[\d.]+$/.test(value) ? Number(value) : value];
    }),
  );
  return given as Channel;
}
