import { describe, expect, it } from 'vitest';
import { channelOf, channelText } from '../src/pages/locations/channel.ts';

describe('a channel', () => {
  it.each([
    ['*', '*'],
    ['RECEDING', 'RECEDING'],
    ['S:L', 'S:L'],
    ['Lane 2, left', 'Lane 2, left'],
    ['lane=2', { lane: '2' }],
    ['direction=92.5, lane=left', { direction: 92.5, lane: 'left' }],
    [
      'direction=NB, lane=2, movement=S:L',
      { direction: 'NB', lane: '2', movement: { from: 'S', turn: 'L' } },
    ],
    ['movement=S', { movement: { from: 'S' } }],
  ])('%s is entered as it is shown', (text, channel) => {
    expect(channelOf(text)).toEqual(channel);
    expect(channelText(channel as Parameters<typeof channelText>[0])).toBe(text);
  });
});
