import { describe, expect, it } from 'vitest';
import { groupSizeBetween, parseMetrics } from '../src/metrics.ts';

const page = (
  sum: number,
  count: number,
): string => `# HELP gantry_commit_group_size Events committed together
# TYPE gantry_commit_group_size histogram
gantry_commit_group_size_bucket{le="1"} 3
gantry_commit_group_size_sum ${sum}
gantry_commit_group_size_count ${count}
process_resident_memory_bytes 1.5e+08
`;

describe('the metrics of a service', () => {
  it('are read by name', () => {
    const metrics = parseMetrics(page(10, 4));
    expect(metrics.get('process_resident_memory_bytes')).toBe(150_000_000);
    expect(metrics.get('gantry_commit_group_size_bucket{le="1"}')).toBe(3);
  });

  it('give the average size of the groups between two moments', () => {
    expect(groupSizeBetween(parseMetrics(page(10, 4)), parseMetrics(page(110, 6)))).toBe(50);
    expect(groupSizeBetween(parseMetrics(page(10, 4)), parseMetrics(page(10, 4)))).toBeNaN();
  });
});
