import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { Mapper } from '../src/mapper.ts';
import { mappingProgram } from './mapping-program.ts';

const mapper = new Mapper(mappingProgram);
/** For expressions that only a time limit stops: with the limits of the product, each would take a second. */
const hasty = new Mapper(mappingProgram, { timeMs: 200, killMs: 600 });
afterAll(() => {
  mapper[Symbol.dispose]();
  hasty[Symbol.dispose]();
});
const INPUT = { body: { a: 1 } };
const map = (expression: string, input: unknown = INPUT) => mapper.map(expression, input);

const LOOP = '($f := function($n) { $f($n + 1) }; $f(0))';
const STOPPED = { refusal: 'The mapping took more than 0.2 s of processor time and was stopped' };
const TOO_LARGE = /is larger than 1 MB$|too long|maximum sequence length|Invalid string length|was stopped$/;

describe('a mapping', () => {
  it('computes a value from an input', async () => {
    expect(await map('{"plate": body.a & "x", "all": [1..3]}')).toEqual({
      value: { plate: '1x', all: [1, 2, 3] },
    });
    expect(await map('body.nothing')).toEqual({ value: undefined });
  });

  it('keeps no state between evaluations', async () => {
    await map('($kept := 1; $kept)');
    expect(await map('$kept')).toEqual({ value: undefined });
  });

  it.each([
    ['a.b[', 'The mapping is invalid at character 4: Expected "]" before end of expression'],
    ['$sum(', /^The mapping is invalid at character 5: /],
    ['foo bar', /^The mapping is invalid at character 7: Syntax error: "bar"/],
    ['('.repeat(19_000), /^The mapping is invalid/],
    ['$now()', null],
  ])('is compiled when it is saved: %#', async (expression, expected) => {
    const found = await mapper.check(expression);
    if (expected === null || typeof expected === 'string') expect(found).toBe(expected);
    else expect(found).toMatch(expected);
  });

  it('that loops is stopped after a second of processor time', async () => {
    expect(await map(LOOP)).toEqual({
      refusal: 'The mapping took more than 1 s of processor time and was stopped',
    });
    expect(await map('body.a')).toEqual({ value: 1 });
  });

  it.each([
    ['loops', LOOP],
    ['loops in $eval', `($s := '${LOOP}'; $eval($s))`],
    ['has loops in loops', '$map([1..9999], function($i) { $map([1..9999], function($j) { $i * $j }) })'],
    ['has a slow regular expression', `$match("${'a'.repeat(60)}b", /^(a+)+$/)`],
    ['replaces by a slow regular expression', `$replace("${'a'.repeat(60)}b", /(a|aa)+$/, "x")`],
  ])('that %s is stopped', async (_, expression) => {
    expect(await hasty.map(expression, INPUT)).toEqual(STOPPED);
    expect(await hasty.map('body.a', INPUT)).toEqual({ value: 1 });
  });

  it.each([
    ['$time("20/11/2026 14:51", "dd/MM/yyyy HH:mm")', '2026-11-20T13:51:00.000Z'],
    ['$time("20/11/2026 14:51", "dd/MM/yyyy HH:mm", "Asia/Tokyo")', '2026-11-20T05:51:00.000Z'],
    ['$time("20/11/2026 14:51", "dd/MM/yyyy HH:mm", "utc+3")', '2026-11-20T11:51:00.000Z'],
    ['$time("2026-11-20T14:51:24 +0300", "yyyy-MM-ddTHH:mm:ss ZZZ")', '2026-11-20T11:51:24.000Z'],
    ['$time("Nov 20 26, 2:51 PM", "MMM d yy, h:mm a")', '2026-11-20T13:51:00.000Z'],
    ['$time(1795175484)', '2026-11-20T11:51:24.000Z'],
    ['$time("20.11.2026 14:51:24", null, "Europe/Istanbul")', '2026-11-20T11:51:24.000Z'],
    ['$time(body.nothing, "dd/MM/yyyy")', undefined],
    // The night in which clocks are set forward, and the one in which they are set back, received at 01:30 UTC.
    ['$time("29/03/2026 02:30", "dd/MM/yyyy HH:mm")', '2026-03-29T01:30:00.000Z'],
    ['$time("25/10/2026 02:30", "dd/MM/yyyy HH:mm")', '2026-10-25T01:30:00.000Z'],
    ['$time("25/10/2026 02:59", "dd/MM/yyyy HH:mm")', '2026-10-25T00:59:00.000Z'],
  ])('reads times: %s', async (expression, expected) => {
    const zone = { name: 'Europe/Berlin', receivedAt: Date.UTC(2026, 9, 25, 1, 30) };
    const received = /2026-11|11\/2026|Nov|1795|20.11/.test(expression)
      ? Date.UTC(2026, 10, 21)
      : zone.receivedAt;
    expect(await mapper.map(expression, INPUT, { ...zone, receivedAt: received })).toEqual({
      value: expected,
    });
  });

  it.each([
    [
      '$time("x", "YYYY-MM-DD")',
      /^The mapping failed at character \d+: \$time: "YYYY" in the pattern "YYYY-MM-DD" is not known: use yyyy, MM, dd/,
    ],
    ['$time("x", "HH:mm")', /needs a year, a month and a day/],
    ['$time("x", 5)', /the pattern must be a text such as/],
    ['$time("x", "dd.MM.yyyy \'at HH:mm")', /has a quote that is not closed/],
    [
      '$time("x", "dd.MM.yyyy", "Mars/Olympus")',
      /\$time: "Mars\/Olympus" is not a time zone: use a name such as Europe\/Berlin/,
    ],
  ])('is refused with a wrong pattern or zone: %s', async (expression, expected) => {
    expect(await map(expression)).toEqual({ refusal: expect.stringMatching(expected) });
  });

  it('names what it cannot read in the message', async () => {
    expect(await map('{"time": $time("31/12/2026", "yyyy-MM-dd")}')).toEqual({
      value: {},
      flaws: ['$time: "31/12/2026" does not fit the pattern "yyyy-MM-dd": 2026-01-31 would'],
    });
    expect(await map('{"plate": body.a, "time": body.tiem, "speed": body.x.y, "key": $sum(body.z)}')).toEqual(
      {
        value: { plate: 1 },
        flaws: [
          'time has no value, because the message has none at body.tiem',
          'speed has no value, because the message has none at body.x.y',
        ],
      },
    );
    expect(await map('[1..2].{"a": $, "b": nothing}')).toMatchObject({
      flaws: ['b has no value, because the message has none at nothing'],
    });
    expect(await map('body.a = 1 ? {"a": 1} : {"b": nothing}')).toEqual({ value: { a: 1 } });
  });

  it.each([
    ['evaluates itself', '($e := "$eval($e)"; $eval($e))', /was stopped$|Stack overflow/],
    ['recurses', '($f := function($n) { 1 + $f($n + 1) }; $f(0))', /Stack overflow/],
    ['multiplies arrays', '[1..3000].[1..3000]', TOO_LARGE],
    ['doubles a text', '$reduce([1..60], function($a, $i) { $a & $a }, "xxxxxxxx")', TOO_LARGE],
    ['doubles an array', '$reduce([1..40], function($a, $i) { $append($a, $a) }, [1, 2, 3])', TOO_LARGE],
    ['pads a text', '$pad("x", 500000000)', TOO_LARGE],
    ['pads many texts', '[1..100].$pad("x", 900000)', TOO_LARGE],
    ['makes a text of 2 MB', '$join([$pad("x", 900000), $pad("y", 900000), $pad("z", 900000)])', TOO_LARGE],
    ['makes base64', '$base64encode($reduce([1..28], function($a, $i) { $a & $a }, "x"))', TOO_LARGE],
    ['makes a long array', '[1..9999999]', TOO_LARGE],
    ['makes deep objects', '$reduce([1..100], function($a, $i) { {"a": $a} }, 1)', /levels deep/],
    ['makes a function', 'function($x) { $x }', /contains a function/],
    ['makes functions', '{"a": [$sum]}', /contains a function/],
    ['fails by itself', '$error("no plate")', 'The mapping failed at character 7: no plate'],
  ])('that %s is stopped or refused', async (_, expression, expected) => {
    expect(await map(expression)).toEqual({ refusal: expect.stringMatching(expected) });
    expect(await map('body.a')).toEqual({ value: 1 });
  });

  it('cannot reach anything outside the input', async () => {
    const reached = await map(
      '[$sum.constructor, $lookup(body, "constructor"), $lookup(body, "__proto__"), $match("a", /a/).constructor, process, require, globalThis]',
    );
    expect(reached).toEqual({ value: [] });
    await map('body ~> |$|{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}|');
    expect(await map('$lookup({}, "polluted")')).toEqual({ value: undefined });
  });

  it('of a message of several megabytes is refused', async () => {
    expect(await map('1', { body: 'x'.repeat(6_000_000) })).toEqual({
      refusal: 'The message is too large for a mapping: more than 5 MB',
    });
  });

  it('does not block the service while it is evaluated', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    await hasty.map(`$match("${'a'.repeat(61)}b", /^(a+)+$/)`, INPUT);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
  });

  it('returns its own result among 50 concurrent ones', async () => {
    const values = await Promise.all(
      Array.from({ length: 50 }, (_, n) => map(`body.n * ${n}`, { body: { n } })),
    );
    expect(values).toEqual(values.map((_, n) => ({ value: n * n })));
  });

  it('that loops is not retried repeatedly, and does not delay others', async () => {
    const endless = LOOP.replace('$f(0)', '$f(-1)');
    const looping = Array.from({ length: 50 }, () => hasty.map(endless, INPUT));
    const other = hasty.map('body.a', INPUT);
    await expect(Promise.race([looping[1], other])).resolves.toEqual({ value: 1 });
    const refusals = (await Promise.all(looping)).map((each) => ('refusal' in each ? each.refusal : ''));
    expect(refusals.filter((each) => each === STOPPED.refusal)).toHaveLength(3);
    expect(refusals.filter((each) => /was stopped 3 times in a row/.test(each))).toHaveLength(47);
    // It is valid nevertheless, and a check does not end the pause.
    expect(await hasty.check(endless)).toBe(null);
    expect(await hasty.map(endless, INPUT)).toMatchObject({ isTemporary: true });
    expect(await hasty.map('body.a', INPUT)).toEqual({ value: 1 });
  });

  it('is tried again later when too many wait, or when its process was killed', async () => {
    using own = new Mapper(mappingProgram);
    const many = await Promise.allSettled(Array.from({ length: 1100 }, () => own.map('1', {})));
    expect(many.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(90);
    const lost = own.map(LOOP, {});
    await expect.poll(() => childrenOfThis().length).toBeGreaterThan(0);
    own[Symbol.dispose]();
    await expect(lost).rejects.toThrow(/ended/);
  });
});

/** The processes of mappings that this process started. */
const childrenOfThis = (): string[] =>
  execFileSync('ps', ['-o', 'args=', '--ppid', String(process.pid)], { encoding: 'utf8' })
    .split('\n')
    .filter((args) => args.includes('mapping-program'));
