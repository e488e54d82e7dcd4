/**
 * Divides `room` rows among groups. Each gets as many as it needs or, if there is not enough room, an equal share of
 * what the smaller groups leave.
 * @param needs the number of rows of each group
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
