import { generateKeyPairSync } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { canonicalText, SealingKey } from '../src/evidence/seals.ts';
import { verifyPackage } from '../src/evidence/verify-package.ts';
import {
  imageOf,
  type Json,
  keep,
  Parts,
  pack,
  readEntries,
  sha256,
  Verifiers,
  verdictOf,
  verify,
} from './evidence-package.ts';
import { sharedGantry } from './harness.ts';

// What is changed in a package, and where it is found: by the service and by a program written from docs/evidence.md alone.

const gantry = await sharedGantry();
const { sealingKey, config } = gantry.app.context;
const verifiers = await Verifiers.begin(gantry);
const verified = await verifiers.open('COURT1');
// The checkpoint of the day is that of the seals of this case.
await rm(join(config.DATA_DIR, 'seals'), { recursive: true, force: true });
await verifiers.verify(verified);
const court = await verifiers.export(verified);
const parts = new Parts(await readEntries(court));

/** Another package, whose parts may be put into this one. */
const other = new Parts(await readEntries(await verifiers.export(await verifiers.openVerified('COURT2'))));

const image = parts.named('originals/');
const eventId = verified.eventId ?? expect.fail('no event');
const sealOf = (kind: string): Json =>
  parts.json('seal.json').proofs.find((proof: Json) => proof.kind === kind) ??
  expect.fail(`no proof of ${kind}`);
const stranger = new SealingKey(generateKeyPairSync('ed25519').privateKey);

const fresh = () => new Parts(parts.entries);
const changed = (edit: (copy: Parts) => unknown) => () => {
  const copy = fresh();
  edit(copy);
  return copy.pack();
};
/** As somebody with the private key would do it. */
const forged = (edit: (copy: Parts) => unknown) =>
  changed((copy) => {
    edit(copy);
    copy.resign(sealingKey);
  });
const replaceBytes = (edit: (bytes: Buffer) => unknown) => () => {
  const bytes = Buffer.from(court);
  const result = edit(bytes);
  return Buffer.isBuffer(result) ? result : bytes;
};
const directoryAt = (bytes: Buffer) => bytes.readUInt32LE(bytes.length - 6);
const lastLog = parts.json('log.json').entries.length as number;
/** Changes the details of an entry of the log, and the hashes of those after it. */
const rewriteLog = (copy: Parts, seq: number) =>
  copy.change('log.json', (log) => {
    let prev: string | null = null;
    for (const [index, entry] of log.entries.entries()) {
      const said = JSON.parse(entry.text);
      if (index + 1 === seq) said.details = { ...said.details, reason: 'Another one' };
      if (prev !== null) said.prev = prev;
      entry.text = canonicalText(said);
      entry.hash = prev = sha256(entry.text);
    }
  });
const changeRecord = (copy: Parts, name: 'events' | 'certificates', edit: (record: Json) => void) =>
  copy.change(`${name}.json`, (said) => {
    const record = JSON.parse(said[name][0].record);
    edit(record);
    said[name][0].record = canonicalText(record);
  });
const changeSealText = (copy: Parts, edit: (text: Json) => void, alsoHash = true) =>
  copy.change('seal.json', (said) => {
    const seal = said.seals.find((each: Json) => each.seq === sealOf('EVENT').seq);
    const text = JSON.parse(seal.text);
    edit(text);
    seal.text = canonicalText(text);
    if (alsoHash) seal.hash = sha256(seal.text);
  });
const renameFile = (copy: Parts, from: string, to: string) => {
  copy.entry(from).name = to;
  copy.change('manifest.json', ({ files }) => {
    files.find(({ name }: Json) => name === from).name = to;
  });
};
const [eventSeal, logSeal] = [sealOf('EVENT'), sealOf('CASE_LOG')];
const certificateId = parts.json('certificates.json').certificates[0].id as string;
const withFile = parts.json('manifest.json').files.find(({ role }: Json) => role === 'CERTIFICATE') as Json;
const bomb = deflateRawSync(Buffer.alloc(20_000_000));

type Mutation = readonly [what: string, make: () => Buffer, faults: readonly string[]];

const ofBytes: readonly Mutation[] = [
  ['the first byte of an image', changed((copy) => copy.flip(image)), [`CONTENT ${image}`]],
  ['the last byte of an image', changed((copy) => copy.flip(image, -1)), [`CONTENT ${image}`]],
  ['a byte of case.pdf', changed((copy) => copy.flip('case.pdf', 500)), ['CONTENT case.pdf']],
  ['a byte of case.json', changed((copy) => copy.flip('case.json', 40)), ['CONTENT case.json']],
  ['a byte of events.json', changed((copy) => copy.flip('events.json', 40)), ['CONTENT events.json']],
  [
    'a byte of certificates.json',
    changed((copy) => copy.flip('certificates.json', 40)),
    ['CONTENT certificates.json'],
  ],
  ['a byte of log.json', changed((copy) => copy.flip('log.json', 40)), ['CONTENT log.json']],
  ['a byte of seal.json', changed((copy) => copy.flip('seal.json', 40)), ['CONTENT seal.json']],
  ['a byte of README.txt', changed((copy) => copy.flip('README.txt', 40)), ['CONTENT README.txt']],
  [
    'a byte of the file of a certificate',
    changed((copy) => copy.flip(withFile.name, 9)),
    [`CONTENT ${withFile.name}`],
  ],
  [
    'a byte of manifest.json',
    changed((copy) =>
      copy.change('manifest.json', (said) => {
        said.redacted = true;
      }),
    ),
    ['SIGNATURE manifest.json'],
  ],
  ['a byte of manifest.sig', changed((copy) => copy.flip('manifest.sig', 5)), ['SIGNATURE manifest.json']],
  [
    'a shorter manifest.sig',
    changed((copy) => {
      copy.entry('manifest.sig').content = Buffer.alloc(10);
    }),
    ['SIGNATURE manifest.json'],
  ],
  ['a byte of manifest.sha256', changed((copy) => copy.flip('manifest.sha256')), ['SUMS manifest.sha256']],
  [
    'a byte of manifest.sha256.sig',
    changed((copy) => copy.flip('manifest.sha256.sig')),
    ['SIGNATURE manifest.sha256'],
  ],
  [
    'another key',
    changed((copy) => {
      copy.entry('key.pem').content = Buffer.from(stranger.pem);
    }),
    ['SIGNATURE manifest.json'],
  ],
  [
    'no key',
    changed((copy) => {
      copy.entry('key.pem').content = Buffer.from('key');
    }),
    ['KEY key.pem'],
  ],
  [
    'an image and its line in manifest.sha256',
    changed((copy) => {
      copy.flip(image);
      const sums = copy.entry('manifest.sha256');
      sums.content = Buffer.from(
        sums.content
          .toString()
          .replace(sha256(parts.entry(image).content), sha256(copy.entry(image).content)),
      );
    }),
    [`CONTENT ${image}`, 'SUMS manifest.sha256'],
  ],
];

const ofTheArchive: readonly Mutation[] = [
  [
    'a file less',
    changed((copy) => copy.entries.splice(copy.entries.indexOf(copy.entry(image)), 1)),
    [`MISSING ${image}`],
  ],
  [
    'no manifest',
    () =>
      pack(
        parts.entries.filter(({ name }) => name !== 'manifest.json'),
        parts.time,
      ),
    ['MANIFEST manifest.json'],
  ],
  [
    'no signature',
    changed((copy) => copy.entries.splice(copy.entries.indexOf(copy.entry('manifest.sig')), 1)),
    ['SIGNATURE manifest.sig'],
  ],
  [
    'a file more',
    changed((copy) => copy.entries.unshift({ name: 'originals/more.jpg', content: Buffer.from('x') })),
    ['EXTRA originals/more.jpg'],
  ],
  [
    'a name that is there twice',
    changed((copy) => copy.entries.push({ name: image, content: Buffer.from('x') })),
    [`ARCHIVE ${image}`],
  ],
  [
    'a name that differs in case',
    changed((copy) => copy.entries.push({ name: 'CASE.json', content: Buffer.from('x') })),
    ['ARCHIVE CASE.json'],
  ],
  [
    'a name that leads out of the folder',
    changed((copy) => copy.entries.push({ name: '../case.json', content: Buffer.from('x') })),
    ['ARCHIVE ../case.json'],
  ],
  [
    'an absolute name',
    changed((copy) => copy.entries.push({ name: '/etc/passwd', content: Buffer.from('x') })),
    ['ARCHIVE /etc/passwd'],
  ],
  ['files in another order', changed((copy) => copy.entries.reverse()), ['ARCHIVE']],
  [
    'a compressed file that becomes very large',
    () => compressed('copies/bomb.jpg', bomb, 20_000_000),
    ['ARCHIVE copies/bomb.jpg'],
  ],
  ['two names for the same bytes', overlapping, ['ARCHIVE copies/again.jpg']],
  ['a byte after the end', replaceBytes((bytes) => Buffer.concat([bytes, Buffer.of(0)])), ['ARCHIVE']],
  ['a byte before the beginning', replaceBytes((bytes) => Buffer.concat([Buffer.of(0), bytes])), ['ARCHIVE']],
  ['an end that is cut off', replaceBytes((bytes) => bytes.subarray(0, -1)), ['ARCHIVE']],
  ['another name in the header', replaceBytes((bytes) => bytes.writeUInt8(0x58, 30)), ['ARCHIVE README.txt']],
  ['a checksum', wrongChecksum, ['ARCHIVE README.txt']],
  ['the time of all files', () => pack(parts.entries, parts.time + 1), ['ARCHIVE']],
  [
    'a link instead of a file',
    replaceBytes((bytes) => bytes.writeUInt32LE(0xa1ff0000, directoryAt(bytes) + 38)),
    ['ARCHIVE README.txt'],
  ],
  ['the count of files', replaceBytes((bytes) => bytes.writeUInt16LE(1, bytes.length - 12)), ['ARCHIVE']],
  ['a comment', replaceBytes((bytes) => bytes.writeUInt16LE(1, bytes.length - 2)), ['ARCHIVE']],
  ['nothing but an end', () => court.subarray(-22), ['ARCHIVE']],
  ['no archive', () => Buffer.from('%PDF-1.7'), ['ARCHIVE']],
];

/** An archive with one more file, which is compressed. */
function compressed(name: string, content: Buffer, bytes: number): Buffer {
  const last = { name, content };
  const archive = pack([...parts.entries, last], parts.time);
  const header = archive.lastIndexOf('PK\x01\x02', undefined, 'latin1');
  archive.writeUInt16LE(8, header + 10);
  archive.writeUInt32LE(bytes, header + 24);
  return archive;
}

function overlapping(): Buffer {
  const archive = pack(
    [...parts.entries, { name: 'copies/again.jpg', content: Buffer.alloc(0) }],
    parts.time,
  );
  archive.writeUInt32LE(0, archive.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 42);
  return archive;
}

/** The checksum of the first file changed in both of its headers. */
function wrongChecksum(): Buffer {
  const archive = Buffer.from(court);
  const wrong = archive.readUInt32LE(14) ^ 1;
  archive.writeUInt32LE(wrong >>> 0, 14);
  archive.writeUInt32LE(wrong >>> 0, directoryAt(archive) + 16);
  return archive;
}

const ofTheKeyHolder: readonly Mutation[] = [
  [
    'the speed of an event',
    forged((copy) =>
      changeRecord(copy, 'events', (record) => {
        record.vehicleSpeed = 58;
      }),
    ),
    [`EVENT ${eventId}`],
  ],
  [
    'the plate of an event',
    forged((copy) =>
      changeRecord(copy, 'events', (record) => {
        record.plate = 'OTHER';
      }),
    ),
    [`EVENT ${eventId}`],
  ],
  [
    'the record of another event',
    forged((copy) =>
      copy.change('events.json', (said) => {
        said.events[0].record = other.json('events.json').events[0].record;
      }),
    ),
    [`EVENT ${eventId}`, ...[1, 2].map((n) => `IMAGE originals/${sha256(imageOf('COURT1', n))}.jpg`)],
  ],
  [
    'an event that is said not to be sealed',
    forged((copy) =>
      copy.change('events.json', (said) => {
        said.events[0].sealed = false;
      }),
    ),
    [`EVENT ${eventId}`],
  ],
  [
    'an image of another case',
    forged((copy) => {
      const theirs = other.entry(other.named('originals/'));
      copy.entry(image).content = theirs.content;
      renameFile(copy, image, theirs.name);
    }),
    [`IMAGE ${other.named('originals/')}`],
  ],
  [
    'an image under the name of the former one',
    forged((copy) => {
      copy.entry(image).content = imageOf('OTHER', 1);
    }),
    [`IMAGE ${image}`, `IMAGE ${image}`],
  ],
  [
    'an image that nobody added',
    forged((copy) =>
      copy.change(
        'manifest.json',
        ({ files }) => delete files.find(({ name }: Json) => name === image).eventId,
      ),
    ),
    [`IMAGE ${image}`],
  ],
  [
    'a package that calls itself redacted',
    forged((copy) =>
      copy.change('manifest.json', (said) => {
        said.redacted = true;
      }),
    ),
    [1, 2].map((n) => `IMAGE originals/${sha256(imageOf('COURT1', n))}.jpg`),
  ],
  [
    'an entry of the log',
    forged((copy) =>
      copy.change('log.json', ({ entries }) => {
        entries[1].text = entries[1].text
          .replace('SPEEDING', 'RED_LIGHT')
          .replace('itemAdded', 'noted')
          .replace('checked', 'noted');
      }),
    ),
    ['LOG entry 2', `LOG entry ${lastLog}`, 'CASE case.json'],
  ],
  [
    'an entry of the log and all hashes after it',
    forged((copy) => rewriteLog(copy, 2)),
    [`LOG entry ${lastLog}`],
  ],
  [
    'an entry of the log that is left out',
    forged((copy) => copy.change('log.json', ({ entries }) => void entries.splice(1, 1))),
    ['LOG entry 2', `LOG entry ${lastLog}`, 'CASE case.json'],
  ],
  [
    'the last entry of the log that is left out',
    forged((copy) => copy.change('log.json', ({ entries }) => void entries.pop())),
    [`LOG entry ${lastLog}`, 'CASE case.json'],
  ],
  [
    'the log of another case',
    forged((copy) => {
      copy.entry('log.json').content = other.entry('log.json').content;
    }),
    ['LOG entry 1', `LOG entry ${lastLog}`, 'CASE case.json'],
  ],
  [
    'one person twice',
    forged((copy) =>
      copy.change('case.json', (said) => {
        said.secondBy = said.firstBy;
      }),
    ),
    ['CASE case.json'],
  ],
  [
    'no second person',
    forged((copy) =>
      copy.change('case.json', (said) => {
        said.secondBy = null;
      }),
    ),
    ['CASE case.json'],
  ],
  [
    'the number of the case',
    forged((copy) =>
      copy.change('case.json', (said) => {
        said.number = '2020-000001';
      }),
    ),
    ['CASE case.json'],
  ],
  [
    'the validity of a certificate',
    forged((copy) =>
      changeRecord(copy, 'certificates', (record) => {
        record.validUntil = '2050-01-01T00:00:00.000Z';
      }),
    ),
    [`CERTIFICATE ${certificateId}`],
  ],
  [
    'the file of a certificate',
    forged((copy) => {
      copy.entry(withFile.name).content = Buffer.from('%PDF-1.4\n%%EOF');
    }),
    [`CERTIFICATE ${withFile.certificateId}`, `IMAGE ${withFile.name}`],
  ],
  [
    'the root of a seal',
    forged((copy) =>
      changeSealText(copy, (text) => {
        text.root = '00'.repeat(32);
      }),
    ),
    [`SEAL seal ${eventSeal.seq}`, `SEAL EVENT ${eventId}`, `EVENT ${eventId}`, ...checkpointFault()],
  ],
  [
    'the text of a seal without its hash',
    forged((copy) =>
      changeSealText(
        copy,
        (text) => {
          text.count += 1;
        },
        false,
      ),
    ),
    [`SEAL seal ${eventSeal.seq}`, `SEAL EVENT ${eventId}`, `EVENT ${eventId}`, ...checkpointFault()],
  ],
  [
    'the signature of a seal',
    forged((copy) =>
      copy.change('seal.json', ({ seals }) => {
        seals.find((seal: Json) => seal.seq === eventSeal.seq).signature =
          Buffer.alloc(64).toString('base64');
      }),
    ),
    [`SEAL seal ${eventSeal.seq}`, `SEAL EVENT ${eventId}`, `EVENT ${eventId}`, ...checkpointFault()],
  ],
  [
    'a leaf',
    forged((copy) =>
      copy.change('seal.json', ({ proofs }) => {
        proofs.find((proof: Json) => proof.kind === 'EVENT').leaf = '00'.repeat(32);
      }),
    ),
    [`SEAL EVENT ${eventId}`, `EVENT ${eventId}`],
  ],
  [
    'the place of a leaf',
    forged((copy) =>
      copy.change('seal.json', ({ proofs }) => {
        proofs.find((proof: Json) => proof.kind === 'CASE_LOG').index += 1;
      }),
    ),
    [`SEAL CASE_LOG ${logSeal.id}`, `LOG entry ${lastLog}`],
  ],
  [
    'a path',
    forged((copy) =>
      copy.change(
        'seal.json',
        ({ proofs }) =>
          void proofs.find((proof: Json) => proof.kind === 'CASE_LOG').path.push('00'.repeat(32)),
      ),
    ),
    [`SEAL CASE_LOG ${logSeal.id}`, `LOG entry ${lastLog}`],
  ],
  [
    'the key of the seals',
    forged((copy) =>
      copy.change('seal.json', ({ keys }) => {
        keys[0].publicKey = stranger.pem;
      }),
    ),
    allSealFaults(),
  ],
  [
    'a checkpoint',
    forged((copy) =>
      copy.change('seal.json', ({ checkpoints }) => {
        checkpoints[0].hash = '00'.repeat(32);
      }),
    ),
    checkpointFault(),
  ],
  [
    'a link of the chain',
    forged((copy) =>
      copy.change('seal.json', ({ checkpoints }) => {
        checkpoints[0].chain[0] = checkpoints[0].chain[0].replace(/"count":\d+/, '"count":9');
      }),
    ),
    checkpointFault(),
  ],
  [
    'the format',
    forged((copy) =>
      copy.change('manifest.json', (said) => {
        said.format = 'gantry-package/2';
      }),
    ),
    ['MANIFEST manifest.json'],
  ],
  [
    'the key that the manifest names',
    forged((copy) =>
      copy.change('manifest.json', (said) => {
        said.keyId = '00'.repeat(16);
      }),
    ),
    ['KEY key.pem'],
  ],
];

function checkpointFault(): string[] {
  return parts.json('seal.json').checkpoints.map(({ date }: Json) => `CHECKPOINT ${date}`);
}

/** What follows if no seal is right. */
function allSealFaults(): string[] {
  const { keys, seals, proofs } = parts.json('seal.json');
  const { certificates } = parts.json('certificates.json');
  return [
    `SEAL key ${keys[0].id}`,
    ...seals.map(({ seq }: Json) => `SEAL seal ${seq}`),
    ...proofs.map(({ kind, id }: Json) => `SEAL ${kind} ${id}`),
    ...checkpointFault(),
    `EVENT ${eventId}`,
    ...certificates.map(({ id }: Json) => `CERTIFICATE ${id}`),
    `LOG entry ${lastLog}`,
  ];
}

describe('the table of mutations', () => {
  it('begins with a package that nobody changed', async () => {
    expect(await verdictOf(court)).toEqual({
      ...{ verified: true, faults: [], keyId: sealingKey.id, sealedEvents: 1, events: 1 },
    });
    expect(checkpointFault()).toHaveLength(1);
    expect(pack(parts.entries, parts.time)).toEqual(court);
    expect(fresh().resign(sealingKey).pack()).toEqual(court);
  });

  it.each([
    ['bytes', ofBytes],
    ['the archive', ofTheArchive],
    ['what somebody with the private key could sign', ofTheKeyHolder],
  ])('finds and locates each of %s', async (_, mutations) => {
    const verdicts = await verify(mutations.map(([, make]) => make()));
    const found = mutations.map(([what], index) => [
      what,
      verdicts[index]?.verified,
      verdicts[index]?.faults,
    ]);
    expect(found).toEqual(mutations.map(([what, , faults]) => [what, false, [...faults].sort()]));
  });

  it('has more than forty', () => {
    expect(ofBytes.length + ofTheArchive.length + ofTheKeyHolder.length).toBeGreaterThan(60);
  });

  it('finds a changed byte wherever it is', async () => {
    const at = Array.from({ length: 150 }, (_, n) => Math.floor((n * court.length) / 150));
    // All bytes outside of the contents are in question, too.
    const directory = directoryAt(court);
    const more = Array.from(
      { length: 60 },
      (_, n) => directory + Math.floor((n * (court.length - directory)) / 60),
    );
    for (const index of [...at, ...more]) {
      const copy = Buffer.from(court);
      copy[index] = (copy[index] ?? 0) ^ 4;
      const { verified: isVerified, faults } = verifyPackage(await keep(copy));
      expect([index, isVerified, faults.length > 0]).toEqual([index, false, true]);
    }
  });

  it('is of use only with a known key', async () => {
    const copy = fresh();
    copy.entry('key.pem').content = Buffer.from(stranger.pem);
    copy.resign(stranger, (manifest) => {
      manifest.keyId = stranger.id;
    });
    const forgery = copy.pack();
    expect(await verdictOf(forgery)).toMatchObject({ verified: true, keyId: stranger.id });
    expect(await verdictOf(forgery, [sealingKey.id])).toMatchObject({ verified: false });
    expect(await verdictOf(court, [sealingKey.id])).toMatchObject({ verified: true });
    // Seals of a key that nobody knows are none, either.
    expect(await verdictOf(forgery, [stranger.id])).toMatchObject({ verified: false });
  });
});
