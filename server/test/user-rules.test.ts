import { mayDo, type Permission, permissions, type Role, role } from '@gantry/contract/permissions';
import {
  createUserInput,
  email,
  normalizePassword,
  password,
  passwordFlaws,
  passwordRules,
  updateUserInput,
} from '@gantry/contract/users';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generatePassword } from '../src/accounts/passwords.ts';
import {
  changesOf,
  describeChanges,
  endsAdministration,
  endsSessions,
  type UserFields,
} from '../src/accounts/users-store.ts';

const LENGTH = 'Use at least 8 characters';
const UPPER = 'Use at least one uppercase letter';
const LOWER = 'Use at least one lowercase letter';
const NUMBER = 'Use at least one number';
const SPECIAL = 'Use at least one special character';

const classes = {
  [UPPER]: 'ABCXYZÄÉΩ',
  [LOWER]: 'abcxyzäéω',
  [NUMBER]: '0123456789',
  [SPECIAL]: '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~§€',
} as const;
const sentences = [UPPER, LOWER, NUMBER, SPECIAL] as const;
const some = (sentence: keyof typeof classes, minLength: number) =>
  fc.array(fc.constantFrom(...classes[sentence]), { minLength, maxLength: 10 });
const shuffled = (characters: string[]) =>
  fc
    .shuffledSubarray(characters, { minLength: characters.length, maxLength: characters.length })
    .map((mixed) => mixed.join(''));

describe('a password', () => {
  it.each<[string, string[]]>([
    ['Abcdef1!', []],
    ['Abcde1!', [LENGTH]],
    ['abcdef1!', [UPPER]],
    ['ABCDEF1!', [LOWER]],
    ['Abcdefg!', [NUMBER]],
    ['Abcdefg1', [SPECIAL]],
    ['Abcdef1 ', [SPECIAL]],
    ['Passwort mit Leerzeichen 1_', []],
    ['Ünicode1§', []],
    ['aB1!😀😀😀', [LENGTH]],
    ['aB1!😀😀😀😀', []],
    ['', [LENGTH, UPPER, LOWER, NUMBER, SPECIAL]],
  ])('%j has the message %j', (candidate, flaws) => {
    expect(passwordFlaws(candidate)).toEqual(flaws);
    const messages = password.safeParse(candidate).error?.issues.map(({ message }) => message) ?? [];
    expect(messages).toEqual(flaws);
  });

  it('is valid with one of each kind and eight characters, in any order', () => {
    const good = fc
      .tuple(some(UPPER, 2), some(LOWER, 2), some(NUMBER, 2), some(SPECIAL, 2))
      .chain((kinds) => shuffled(kinds.flat()));
    fc.assert(fc.property(good, (candidate) => passwordFlaws(candidate).length === 0));
  });

  it.each(sentences)('has the message "%s" and no other when only that is missing', (missing) => {
    const lacking = fc
      .tuple(...sentences.map((kind) => (kind === missing ? fc.constant<string[]>([]) : some(kind, 3))))
      .chain((kinds) => shuffled(kinds.flat()));
    fc.assert(
      fc.property(lacking, (candidate) => {
        expect(passwordFlaws(candidate)).toEqual([missing]);
      }),
    );
  });

  it('is valid exactly when it breaks no rule, and each broken rule is reported once', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), (candidate) => {
        const counted = normalizePassword(candidate);
        const broken = passwordRules.filter(({ pattern }) => !pattern.test(counted));
        expect(password.safeParse(candidate).error?.issues ?? []).toHaveLength(broken.length);
      }),
    );
  });

  it('may have at most 200 characters', () => {
    expect(password.safeParse(`Aa1!${'x'.repeat(196)}`).success).toBe(true);
    expect(password.safeParse(`Aa1!${'x'.repeat(197)}`).success).toBe(false);
  });

  it.each(['Abcdef1!\u0000', 'Abcdef1!\ud800'])(
    'with characters that no database can store is refused: %j',
    (candidate) => {
      expect(password.safeParse(candidate).success).toBe(false);
    },
  );
});

describe('a generated password', () => {
  const generated = Array.from({ length: 2000 }, generatePassword);

  it('meets the rules and can be used in a terminal: 20 visible ASCII characters, no quotes', () => {
    for (const candidate of generated) {
      expect(password.safeParse(candidate).success).toBe(true);
      expect(candidate).toMatch(/^[!-~]{20}$/);
      expect(candidate).not.toMatch(/["'`\\$!]/);
    }
  });

  it('is never the same twice', () => {
    expect(new Set(generated).size).toBe(generated.length);
  });

  it('uses its whole alphabet at every position', () => {
    const seen = Array.from({ length: 20 }, (_, at) => new Set(generated.map((one) => one.charAt(at))).size);
    expect(Math.min(...seen)).toBeGreaterThan(60);
  });
});

describe('the permission table', () => {
  // Copied from the specification, row by row, and those that it leaves open.
  const table: [Permission, Record<Role, boolean>][] = [
    ['viewDashboard', { ADMIN: true, OPERATOR: true, ANALYST: true, FIELD: true, VIEWER: true }],
    ['manageSensors', { ADMIN: true, OPERATOR: true, ANALYST: false, FIELD: false, VIEWER: false }],
    ['viewReports', { ADMIN: true, OPERATOR: true, ANALYST: true, FIELD: false, VIEWER: true }],
    ['generateReports', { ADMIN: true, OPERATOR: true, ANALYST: true, FIELD: false, VIEWER: false }],
    ['manageIncidents', { ADMIN: true, OPERATOR: true, ANALYST: false, FIELD: true, VIEWER: false }],
    ['manageUsers', { ADMIN: true, OPERATOR: false, ANALYST: false, FIELD: false, VIEWER: false }],
    ['systemSettings', { ADMIN: true, OPERATOR: false, ANALYST: false, FIELD: false, VIEWER: false }],
    ['manageReports', { ADMIN: true, OPERATOR: true, ANALYST: false, FIELD: false, VIEWER: false }],
    ['deleteEvents', { ADMIN: true, OPERATOR: true, ANALYST: false, FIELD: false, VIEWER: false }],
    ['manageWatchlist', { ADMIN: true, OPERATOR: true, ANALYST: false, FIELD: false, VIEWER: false }],
    ['manageHotlists', { ADMIN: true, OPERATOR: true, ANALYST: false, FIELD: false, VIEWER: false }],
    ['verifyCases', { ADMIN: true, OPERATOR: true, ANALYST: false, FIELD: false, VIEWER: false }],
    ['decideCases', { ADMIN: true, OPERATOR: false, ANALYST: false, FIELD: false, VIEWER: false }],
    ['approveWorks', { ADMIN: true, OPERATOR: true, ANALYST: false, FIELD: false, VIEWER: false }],
    ['verifyHits', { ADMIN: true, OPERATOR: true, ANALYST: false, FIELD: false, VIEWER: false }],
  ];

  it.each(table)('defines who has %s', (permission, expected) => {
    const actual = Object.fromEntries(role.options.map((held) => [held, mayDo(held, permission)]));
    expect(actual).toEqual(expected);
  });

  it('has no permission that is not tested here', () => {
    expect(Object.keys(permissions).sort()).toEqual(table.map(([permission]) => permission).sort());
  });

  it('gives no role more than ADMIN', () => {
    const any = fc.constantFrom(...table.map(([permission]) => permission));
    fc.assert(fc.property(any, (permission) => mayDo('ADMIN', permission)));
  });
});

describe('an e-mail address', () => {
  it.each([
    ['Ada@Example.ORG', 'ada@example.org'],
    ['  ada@example.org\n', 'ada@example.org'],
  ])('%j is stored as %j', (given, kept) => {
    expect(email.parse(given)).toBe(kept);
  });

  it.each([
    '',
    'ada',
    'ada@',
    '@example.org',
    'ada@example',
    'ada @example.org',
    'a@b@example.org',
    'ada@example.org\u0000',
    'ädä@example.org',
    `${'a'.repeat(250)}@b.at`,
    'a'.repeat(5_000_000),
    `a@${'a.'.repeat(2_000_000)}`,
  ])('is refused: %.30j', (given) => {
    expect(email.safeParse(given).success).toBe(false);
  });

  it('may have at most 254 characters', () => {
    expect(email.safeParse(`${'a'.repeat(242)}@example.org`).success).toBe(true);
    expect(email.safeParse(`${'a'.repeat(243)}@example.org`).success).toBe(false);
  });
});

describe('the fields of a user', () => {
  const base = { email: 'a@example.org', password: 'Abcdef1!', firstName: 'Ada', lastName: 'Lovelace' };

  it('default to the role VIEWER, with names trimmed, and null for unknown values', () => {
    expect(createUserInput.parse({ ...base, firstName: ' Ada ', phone: '  ' })).toEqual({
      ...base,
      role: 'VIEWER',
      phone: null,
      department: null,
    });
  });

  it.each([
    ['https://example.org/ada.png', true],
    ['http://example.org/ada.png', true],
    ['data:image/png;base64,iVBORw0KGgo=', true],
    ['iVBORw0KGgoAAAANSUhEUg==', true],
    [null, true],
    ['', false],
    ['ftp://example.org/ada.png', false],
    ['javascript:alert(1)', false],
    ['data:text/html;base64,PGI+', false],
    ['data:image/svg+xml;base64,PHN2Zz4=', false],
    ['https://example.org/\u0000', false],
    ['https://example.org/\ud800', false],
    [`https://example.org/${'a'.repeat(700_000)}`, false],
  ])('accept the avatar %.60j: %s', (avatar, taken) => {
    expect(updateUserInput.safeParse({ id: '1', avatar }).success).toBe(taken);
  });
});

describe('a change', () => {
  const ada: UserFields = {
    firstName: 'Ada',
    lastName: 'Lovelace',
    role: 'ADMIN',
    phone: null,
    avatar: 'https://example.org/a.png',
    department: 'Control room',
    isActive: true,
  };

  it('is what differs, and nothing else', () => {
    expect(
      changesOf(ada, {
        firstName: 'Ada',
        lastName: 'Byron',
        phone: null,
        department: null,
        isActive: undefined,
      }),
    ).toEqual({ lastName: 'Byron', department: null });
    expect(changesOf(ada, ada)).toEqual({});
    expect(changesOf(ada, {})).toEqual({});
  });

  it('once applied leaves nothing to change', () => {
    const text = fc.option(fc.string());
    const wanted = fc.record<UserFields, never>({
      firstName: fc.string(),
      lastName: fc.string(),
      role: fc.constantFrom(...role.options),
      phone: text,
      avatar: text,
      department: text,
      isActive: fc.boolean(),
    });
    fc.assert(
      fc.property(wanted, (fields) => {
        expect(changesOf({ ...ada, ...changesOf(ada, fields) }, fields)).toEqual({});
      }),
    );
  });

  it.each([
    [{ role: 'ADMIN' as const }, true, false],
    [{ role: 'VIEWER' as const }, true, true],
    [{ isActive: false }, true, true],
    [{ isActive: true }, false, false],
    [{ firstName: 'Eva', avatar: null }, false, false],
    [{}, false, false],
  ])('to %j ends sessions: %s, ends administration: %s', (changes, sessions, administration) => {
    expect(endsSessions(changes)).toBe(sessions);
    expect(endsAdministration(changes)).toBe(administration);
  });

  it('is described with old and new values, but an avatar never is', () => {
    expect(describeChanges(ada, { role: 'FIELD', phone: '1', avatar: 'data:image/png;base64,AAAA' })).toEqual(
      {
        role: { from: 'ADMIN', to: 'FIELD' },
        phone: { from: null, to: '1' },
        avatar: 'set',
      },
    );
    expect(describeChanges(ada, { avatar: null })).toEqual({ avatar: 'removed' });
  });
});
