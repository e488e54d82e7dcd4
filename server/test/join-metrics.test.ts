import { Counter, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { joinMetrics } from '../src/http/workers/workers.ts';

const render = (worker: string, calls: number): Promise<string> => {
  const registry = new Registry();
  registry.setDefaultLabels({ worker });
  const registers = [registry];
  const counter = new Counter({
    name: 'calls',
    help: 'Calls of\nall kinds',
    labelNames: ['kind'],
    registers,
  });
  counter.inc({ kind: '# HELP yourself' }, calls);
  new Histogram({ name: 'seconds', help: 'Time', buckets: [1], registers }).observe(calls);
  return registry.metrics();
};

describe('the metrics of several processes', () => {
  it('are merged, each described once, with the samples of all', async () => {
    const joined = joinMetrics([await render('1', 5), await render('2', 7)]);
    expect(joined).toBe(`# HELP calls Calls of\\nall kinds
# TYPE calls counter
calls{kind="# HELP yourself",worker="1"} 5
calls{kind="# HELP yourself",worker="2"} 7

# HELP seconds Time
# TYPE seconds histogram
seconds_bucket{le="1",worker="1"} 0
seconds_bucket{le="+Inf",worker="1"} 1
seconds_sum{worker="1"} 5
seconds_count{worker="1"} 1
seconds_bucket{le="1",worker="2"} 0
seconds_bucket{le="+Inf",worker="2"} 1
seconds_sum{worker="2"} 7
seconds_count{worker="2"} 1
`);
  });

  it('of one process are unchanged', async () => {
    const text = await render('1', 5);
    expect(joinMetrics([text])).toBe(text);
  });
});
