/** A duration in its two largest units: 1 d 2 h, 5 min 10 s. */
export function formatDuration(seconds: number): string {
  const units = [
    { name: 'd', size: 86_400 },
    { name: 'h', size: 3_600 },
    { name: 'min', size: 60 },
    { name: 's', size: 1 },
  ];
  const first = units.findIndex(({ size }) => seconds >= size);
  if (first === -1) return '0 s';
  const [large, small] = units.slice(first, first + 2);
  const whole = Math.floor(seconds / (large?.size ?? 1));
  const rest = small ? Math.floor((seconds % (large?.size ?? 1)) / small.size) : 0;
  return `${whole} ${large?.name}${rest > 0 ? ` ${rest} ${small?.name}` : ''}`;
}
