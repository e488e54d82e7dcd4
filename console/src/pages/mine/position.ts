import type { Coordinates } from '@gantry/contract/coordinates';
import { useState } from 'react';

type Place = Pick<Coordinates, 'latitude' | 'longitude'>;

/** Whether the browser can say where it is: not over plain HTTP. */
export const canLocate = (): boolean => isSecureContext && 'geolocation' in navigator;

const OPTIONS: PositionOptions = { enableHighAccuracy: true, maximumAge: 15_000, timeout: 30_000 };

/** The position of the device at the time at which the user last asked for it. It does not leave the device. */
export function usePosition() {
  const [at, setAt] = useState<Place | null>(null);
  const [isAsking, setAsking] = useState(false);
  const [failure, setFailure] = useState<'denied' | 'unknown' | null>(null);
  return {
    at,
    isAsking,
    failure,
    ask() {
      setAsking(true);
      setFailure(null);
      navigator.geolocation.getCurrentPosition(
        ({ coords: { latitude, longitude } }) => {
          setAt({ latitude, longitude });
          setAsking(false);
        },
        ({ code, PERMISSION_DENIED }) => {
          setFailure(code === PERMISSION_DENIED ? 'denied' : 'unknown');
          setAsking(false);
        },
        OPTIONS,
      );
    },
  };
}

/** The mean radius of the Earth in metres (IUGG). */
const EARTH_M = 6_371_009;

/** The distance between two points along a great circle, in metres (haversine formula). */
export function distanceBetween(one: Place, other: Place): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const half = (from: number, to: number) => Math.sin(radians(to - from) / 2) ** 2;
  const [here, there] = [radians(one.latitude), radians(other.latitude)];
  const a =
    half(one.latitude, other.latitude) +
    Math.cos(here) * Math.cos(there) * half(one.longitude, other.longitude);
  return 2 * EARTH_M * Math.asin(Math.min(1, Math.sqrt(a)));
}

/** A distance of so many metres, in metres below one kilometre, in the user's language. */
export function distanceText(metres: number, language: string): string {
  const [value, unit, digits] =
    metres < 995
      ? ([Math.round(metres / 10) * 10, 'meter', 0] as const)
      : ([metres / 1000, 'kilometer', metres < 9_950 ? 1 : 0] as const);
  return value.toLocaleString(language, { style: 'unit', unit, maximumFractionDigits: digits });
}

/** The address that opens the directions to a place in the map of the device. Safari on iOS knows no `geo:`. */
export function directionsTo(
  { latitude, longitude }: Place,
  name: string,
  userAgent = navigator.userAgent,
): string {
  const point = `${latitude},${longitude}`;
  if (/\b(?:iPhone|iPad|iPod)\b/.test(userAgent)) return `maps:?daddr=${point}&q=${encodeURIComponent(name)}`;
  return `geo:${point}?q=${point}(${encodeURIComponent(name).replace(/[()]/g, '')})`;
}
