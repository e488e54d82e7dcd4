import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { directionsTo, distanceBetween, distanceText } from '../src/pages/mine/position.ts';

const place = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
});

/** The distance by the angle between two vectors from the centre of the Earth. */
function byVectors(
  one: { latitude: number; longitude: number },
  other: { latitude: number; longitude: number },
): number {
  const vector = ({ latitude, longitude }: typeof one) => {
    const [phi, lambda] = [latitude, longitude].map((degrees) => (degrees * Math.PI) / 180) as [
      number,
      number,
    ];
    return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)] as const;
  };
  const [a, b] = [vector(one), vector(other)];
  const cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  return 6_371_009 * Math.atan2(Math.hypot(...cross), a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

describe('the distance to an incident', () => {
  it('is that of the angle between two vectors, everywhere on Earth', () => {
    fc.assert(
      fc.property(place, place, (one, other) => {
        expect(Math.abs(distanceBetween(one, other) - byVectors(one, other))).toBeLessThan(1);
      }),
    );
  });

  it('is said in metres, and in kilometres from one on', () => {
    const said = [0, 4, 996, 1_040, 9_940, 12_345].map((metres) => distanceText(metres, 'en'));
    expect(said).toEqual(['0 m', '0 m', '1 km', '1 km', '9.9 km', '12 km']);
  });
});

describe('the directions to an incident', () => {
  it('open the map of the phone, with a name that cannot end the address', () => {
    const at = { latitude: 41.01, longitude: -28.97 };
    expect(directionsTo(at, 'Fire (A2) & smoke', 'Android')).toBe(
      'geo:41.01,-28.97?q=41.01,-28.97(Fire%20A2%20%26%20smoke)',
    );
    expect(directionsTo(at, 'Fire', 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0)')).toBe(
      'maps:?daddr=41.01,-28.97&q=Fire',
    );
  });
});
