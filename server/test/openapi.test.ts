import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { describe, expect, it } from 'vitest';
import { appRouter } from '../src/api/router.ts';
import type { JsonSchema } from '../src/http/docs/procedures.ts';
import { describeProcedures } from '../src/http/docs/procedures.ts';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
// biome-ignore lint/suspicious/noExplicitAny: a test reads answers as a client without types does
const document: any = (await gantry.fetch('/openapi.json')).body;

interface Field {
  readonly at: string;
  readonly schema: JsonSchema;
}

/** Whether a schema admits numbers. */
const isNumeric = ({ type, anyOf, enum: words }: JsonSchema): boolean => {
  if (Array.isArray(anyOf)) return (anyOf as JsonSchema[]).some(isNumeric);
  return words === undefined && (type === 'number' || type === 'integer');
};

/** All numeric fields of objects within a value. */
const numbersIn = (value: unknown, at = ''): Field[] => {
  if (typeof value !== 'object' || value === null) return [];
  const { properties } = value as JsonSchema;
  const here = Object.entries((properties ?? {}) as Record<string, JsonSchema>)
    .filter(([, schema]) => typeof schema === 'object' && isNumeric(schema))
    .map(([name, schema]) => ({ at: `${at}.${name}`, schema }));
  return [...here, ...Object.entries(value).flatMap(([name, each]) => numbersIn(each, `${at}/${name}`))];
};

describe('the OpenAPI document', () => {
  it('defines the shared schemas once, and refers to them', () => {
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['Event', 'Sensor', 'ListedSensor', 'SensorStatus', 'Incident', 'Problem']),
    );
    expect(JSON.stringify(document)).toContain('"$ref":"#/components/schemas/Event"');
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/v1/events', '/images/{sha256}', '/reports/{id}/file', '/ready', '/metrics']),
    );
  });

  it('describes what each number measures or counts', () => {
    const silent = numbersIn(document).filter(({ schema }) => schema.description === undefined);
    expect([...new Set(silent.map(({ at }) => at.split('.').at(-1)))]).toEqual([]);
  });

  it('says what token a procedure needs', () => {
    const { paths } = document;
    expect(paths['/trpc/auth.me'].get.description).toBe('Needs a token.');
    expect(paths['/trpc/sensors.delete'].post.description).toContain(
      'Needs a token with the permission Manage Sensors.',
    );
    const needsLogin = 'Needs the token of a login, not an API token';
    expect(paths['/trpc/auth.refreshToken'].post.description).toContain(`${needsLogin}.`);
    expect(paths['/trpc/users.delete'].post.description).toContain(
      `${needsLogin}, with the permission Manage Users.`,
    );
  });

  it('requires the input of exactly those queries that are refused without one', async () => {
    const token = await gantry.tokenFor('ADMIN');
    const wrong: string[] = [];
    await Promise.all(
      Object.entries<Record<string, JsonSchema>>(document.paths).map(async ([path, { get }]) => {
        const [input] = (get?.parameters ?? []) as { required: boolean }[];
        if (!input || !path.startsWith('/trpc/') || /\.on[A-Z]/.test(path)) return;
        const { status } = await gantry.call(path.slice('/trpc/'.length), undefined, { token });
        if ((status === 400) !== input.required) wrong.push(`${path}: ${status}`);
      }),
    );
    expect(wrong).toEqual([]);
    expect(document.paths['/trpc/sensors.create'].post.requestBody.required).toBe(true);
    expect(document.paths['/trpc/system.timezone.updateTimezoneSettings'].post.requestBody.required).toBe(
      false,
    );
  });

  it('describes the header for the key of an event', () => {
    const headers = Object.entries<Record<string, JsonSchema>>(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { parameters }]) =>
        ((parameters ?? []) as JsonSchema[])
          .filter((parameter) => parameter.in === 'header')
          .map(({ name }) => `${method} ${path} ${String(name)}`),
      ),
    );
    expect(headers).toEqual(['post /v1/events Idempotency-Key']);
  });

  it('has no findings of Redocly', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      // OpenAPI matches fixed paths before those with parameters.
      rules: { 'no-ambiguous-paths': 'off' },
    });
    const findings = await lintDocument({
      document: makeDocumentFromString(JSON.stringify(document), 'openapi.json'),
      externalRefResolver: new BaseResolver(),
      config,
    });
    const said = findings.map(
      ({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`,
    );
    expect(said.slice(0, 20)).toEqual([]);
  });

  it('has no findings of Spectral', async () => {
    const linter = new spectral.Spectral();
    linter.setRuleset(new spectral.Ruleset({ extends: [[rulesets.oas as never, 'recommended']] } as never));
    const findings = await linter.run(document);
    const said = findings.map(({ code, message, path }) => `${code} ${message} ${path.join('/')}`);
    expect(said.slice(0, 20)).toEqual([]);
  });
});

describe('the examples', () => {
  it('exist for every procedure with an input, and are valid', async () => {
    const token = await gantry.tokenFor('ADMIN');
    const documents = describeProcedures(appRouter);
    const examples = Object.fromEntries(documents.map(({ path, example }) => [path, example]));
    const sensor = await gantry.ok('sensors.create', examples['sensors.create'], { token });
    const refused: string[] = [];
    const operations = Object.entries<Record<string, JsonSchema>>(document.paths)
      .filter(([path]) => path.startsWith('/trpc/'))
      .map(([path, methods]) => ({ procedure: path.slice('/trpc/'.length), ...methods }));
    for (const operation of operations) {
      const { procedure } = operation as { procedure: string };
      const takesInput = JSON.stringify(operation).includes('"example":{"json"');
      if (takesInput && !examples[procedure]) refused.push(`${procedure}: no example`);
      // Streams do not end, some procedures would end the session, and others need a code of a device or a provider, a
      // link, a folder for backups, or a channel.
      if (
        /\.on[A-Z]|^auth\.(?:logout|changePassword|resetPassword|refreshToken|completeOidcLogin)$/.test(
          procedure,
        )
      )
        continue;
      if (
        /^secondFactor\.(?:confirm|renewRecoveryCodes|disable)$|^(?:backups|contacts)\.create$/.test(
          procedure,
        )
      )
        continue;
      const input = JSON.parse(
        JSON.stringify(examples[procedure] ?? null).replaceAll('0'.repeat(64), sensor.apiKey),
      );
      // A silence of the past is refused.
      if (procedure === 'silences.create')
        Object.assign(input, { startsAt: undefined, endsAt: new Date(Date.now() + 60_000).toISOString() });
      // Looks are drawn from a time that has some.
      if (procedure === 'audit.drawSample') input.until = new Date(Date.now() + 86_400_000).toISOString();
      if (procedure === 'sensors.create') input.deviceId = 'another';
      if (procedure === 'auth.login') input.password = 'Correct-horse-1';
      const { status, message } = await gantry.refusal(procedure, input ?? undefined, { token });
      // No object has the id of the example, and this machine may not be able to resolve the name of the receiver.
      const isUnknown =
        status === 404 ||
        /(?:event|sensor|location) has this|no such (?:event|active user)|no (?:active user|user|incident) with the id|example\.com/i.test(
          message,
        );
      if (status !== 200 && !isUnknown) refused.push(`${procedure}: ${status} ${message}`);
    }
    expect(refused).toEqual([]);
  });
});
