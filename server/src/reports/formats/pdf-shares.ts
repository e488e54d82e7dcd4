/**
 * Shares `room` rows out among groups, each of which gets as many as it needs or as many as any other.
 * @param needs how many rows each has
 */
export function shareOut(needs: ReadonlyMap<string, number>, room: number): Map<string, number> {
  const shares = new Map<string, number>();
  let left = room;
  const byNeed = [...needs].sort(([, a], [, b]) => a - b);
  for (const [n, [id, need]] of byNeed.entries()) {
    const share = Math.min(need, Math.floor(left / (byNeed.length - n)));
    shares.set(id, share);
    left -= share;
  }
  return shares;
}
