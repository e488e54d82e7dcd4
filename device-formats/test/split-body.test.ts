import { describe, expect, it } from 'vitest';
import { processorMs } from '../../server/test/processor-time.ts';
import { jpeg, png } from '../../server/test/sample-images.ts';
import { imageUrl } from '../src/image.ts';
import { readParts } from '../src/read-parts.ts';
import { splitBody } from '../src/split-body.ts';

const contentsOf = async (contentType: string | null, body: Buffer | string) => {
  const split = splitBody(contentType, Buffer.from(body));
  return { ...split, contents: readParts(split.parts).map(({ content }) => content) };
};

/** The parts of a multipart body, each `[headers, content]`. */
const multipart = (boundary: string, parts: readonly [string, Buffer | string][], end = true): Buffer =>
  Buffer.concat([
    ...parts.flatMap(([headers, content]) => [
      Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(end ? `--${boundary}--\r\n` : ''),
  ]);

describe('the body of a device', () => {
  it('is divided into texts and images, whatever types are declared', async () => {
    const plate = png();
    const body = multipart('boundary', [
      [
        'Content-Disposition: form-data; name="anpr.xml"; filename="anpr.xml"\r\nContent-Type: text/xml',
        '<a xmlns="x"><n:b>1</n:b></a>',
      ],
      [
        'Content-Disposition: form-data; name="empty.jpg"\r\nContent-Type: image/pjpeg\r\nContent-Length: 0',
        '',
      ],
      ['Content-Disposition: form-data; name="plate.jpg"\r\nContent-Type: image/jpeg', plate],
    ]);
    const { parts, contents, pictures, flaws } = await contentsOf(
      'multipart/form-data; boundary=boundary',
      body,
    );
    expect(flaws).toEqual([]);
    expect(parts.map(({ name }) => name)).toEqual(['anpr.xml', 'plate.jpg']);
    expect(contents[0]).toMatchObject({
      kind: 'xml',
      root: { name: 'a', children: [{ name: 'b', text: '1' }] },
    });
    expect(contents[1]).toEqual({ kind: 'image', address: imageUrl(pictures[0]?.sha256 ?? '') });
    expect(pictures[0]).toMatchObject({ mediaType: 'image/png', bytes: plate });
  });

  it('has its images in base64 replaced by addresses, also with escapes and line breaks', async () => {
    const image = jpeg({ comment: 'x'.repeat(200) });
    const base64 = image.toString('base64').replace(/(.{76})/g, '$1\n');
    const json = JSON.stringify({ plate: 'A', image: `data:image/jpeg;base64,${base64}` }).replaceAll(
      '/',
      '\\/',
    );
    const { contents, pictures } = await contentsOf('application/json', json);
    expect(pictures.map(({ bytes }) => bytes)).toEqual([image]);
    const address = imageUrl(pictures[0]?.sha256 ?? '');
    expect(contents).toEqual([{ kind: 'json', value: { plate: 'A', image: address } }]);
    const xml = await contentsOf('text/xml', `<m><i>\n${base64}</i><i2>${base64}</i2></m>`);
    expect(xml.pictures).toHaveLength(1);
    expect(xml.contents[0]).toMatchObject({ root: { children: [{ text: address }, { text: address }] } });
  });

  it('keeps a truncated image as it arrived, and says so', async () => {
    const image = jpeg({ comment: 'x'.repeat(200) });
    const cut = image.subarray(0, image.length - 2);
    const { pictures, flaws, contents } = await contentsOf(
      'application/json',
      JSON.stringify({ image: cut.toString('base64') }),
    );
    expect(pictures).toMatchObject([{ bytes: cut }]);
    expect(flaws).toEqual(['An image in the message is truncated']);
    expect(contents[0]).toEqual({ kind: 'json', value: { image: `/images/${pictures[0]?.sha256}` } });
  });

  it.each([
    'image/jpg',
    'image/pjpeg',
    'image/jpeg;charset=utf-8',
    '',
    'application/octet-stream',
    'image\\/jpeg',
  ])('takes an image out of a data: URL with the type %j', async (type) => {
    const image = jpeg({ comment: 'x'.repeat(200) });
    const { pictures, contents } = await contentsOf(
      'application/json',
      `{"image": "data:${type};base64,${image.toString('base64')}"}`,
    );
    expect(pictures).toMatchObject([{ bytes: image, mediaType: 'image/jpeg' }]);
    expect(contents[0]).toEqual({ kind: 'json', value: { image: `/images/${pictures[0]?.sha256}` } });
  });

  it('keeps all digits of integers that a number cannot hold, as texts', async () => {
    const text =
      '{"id": 9007199254740993, "t": 1795175484123456, "n": [-12345678901234567890, 1.2345678901234567, 1e20], "s": "12345678901234567890 \\" 12345678901234567890"}';
    expect((await contentsOf('application/json', text)).contents[0]).toEqual({
      kind: 'json',
      value: {
        id: '9007199254740993',
        t: 1_795_175_484_123_456,
        n: ['-12345678901234567890', 1.2345678901234567, 1e20],
        s: '12345678901234567890 " 12345678901234567890',
      },
    });
  });

  it('may be JSON followed by images', async () => {
    const images = [jpeg({ width: 5 }), jpeg({ width: 6 })];
    const { contents, pictures } = await contentsOf(
      'application/json',
      Buffer.concat([Buffer.from('{"Events":[{"a":"}"}]}\r\n'), ...images]),
    );
    expect(contents.map(({ kind }) => kind)).toEqual(['json', 'image', 'image']);
    expect(pictures.map(({ width }) => width)).toEqual([5, 6]);
  });

  it('may be a form, JSON lines, or in another character set', async () => {
    const form = await contentsOf('application/x-www-form-urlencoded', 'json=%7B%22a%22%3A1%7D&b=2');
    expect(form.contents).toEqual([
      { kind: 'json', value: { a: 1 } },
      { kind: 'text', text: '2' },
    ]);
    expect((await contentsOf(null, '{"a":1}\n{"a":2}\n')).contents).toEqual([
      { kind: 'json', value: [{ a: 1 }, { a: 2 }] },
    ]);
    const gbk = Buffer.concat([
      Buffer.from('<?xml version="1.0" encoding="GBK"?><p>'),
      Buffer.from([0xb6, 0xf5]),
      Buffer.from('A1</p>'),
    ]);
    expect((await contentsOf(null, gbk)).contents[0]).toMatchObject({ root: { text: '鄂A1' } });
  });

  it('is reported when it is in a character set that it does not declare', async () => {
    const gbk = Buffer.concat([Buffer.from('{"plate":"'), Buffer.from([0xb6, 0xf5]), Buffer.from('A1"}')]);
    const read = await contentsOf('application/json', gbk);
    expect(read.contents).toEqual([{ kind: 'json', value: { plate: '\ufffd\ufffdA1' } }]);
    expect(read.flaws).toEqual([
      'The text is neither UTF-8 nor in the character set that it declares, so that some of its characters were lost',
    ]);
    expect((await contentsOf('application/json; charset=gbk', gbk)).flaws).toEqual([]);
  });

  it.each([
    'multipart/form-data; boundary=--lines',
    "multipart/form-data; boundary='lines'",
    'multipart/form-data; boundary = lines',
    'multipart/form-data; charset=utf-8',
  ])('is divided at the boundary of its first line: %s', async (contentType) => {
    const body = multipart('lines', [['Content-Type: application/json', '{"a":1}']]);
    const { contents, flaws } = await contentsOf(contentType, body);
    expect(contents).toEqual([{ kind: 'json', value: { a: 1 } }]);
    expect(flaws).toEqual([]);
  });

  it('may declare UTF-16, whether it is UTF-16 or UTF-8', async () => {
    const type = 'application/xml; charset=utf-16';
    for (const text of ['B2', 'ÄB2', 'B22', '鄂B2']) {
      const xml = `<?xml version="1.0" encoding="utf-16"?><p>${text}</p>`;
      for (const [contentType, body] of [
        [null, Buffer.from(xml)],
        [type, Buffer.from(xml)],
        [type, Buffer.from(`\ufeff${xml}`)],
        [type, Buffer.from(xml, 'utf16le')],
        [null, Buffer.from(`\ufeff${xml}`, 'utf16le')],
      ] as const) {
        expect((await contentsOf(contentType, body)).contents).toMatchObject([
          { kind: 'xml', root: { text } },
        ]);
      }
    }
  });

  it('is not searched for a boundary of thousands of characters', async () => {
    const hyphens = '-'.repeat(4_000);
    for (const boundary of [`${hyphens}x${hyphens}`, `xy${hyphens}`]) {
      const body = Buffer.alloc(5_000_000, '-');
      for (const type of [boundary, `"${boundary}"`]) {
        const time = await processorMs(() => splitBody(`multipart/form-data; boundary=${type}`, body));
        expect(time).toBeLessThan(2_000);
      }
    }
    const parts = multipart('a'.repeat(150), [['Content-Type: text/plain', 'x']]);
    const { flaws } = splitBody(`multipart/mixed; boundary=${'a'.repeat(150)}`, parts);
    expect(flaws).toEqual([]);
  }, 60_000);

  it('has a limited number of images', async () => {
    // The smallest data that begins and ends like a JPEG.
    const tiny = Buffer.from([0xff, 0xd8, 0xff, 0xda, 0xff, 0xd9]);
    const behind = await contentsOf(null, Buffer.concat([Buffer.from('{}'), ...Array(5_000).fill(tiny)]));
    expect(behind.parts.length).toBeLessThanOrEqual(1_002);
    expect(behind.flaws.length).toBeLessThanOrEqual(1_001);
    expect(behind.flaws.at(-1)).toBe('The body has more than 1000 images');
    const images = Array.from({ length: 1_200 }, (_, n) => png({ width: 1 + n }));
    const inText = await contentsOf(null, JSON.stringify(images.map((image) => image.toString('base64'))));
    expect(inText.pictures.map(({ bytes }) => bytes)).toEqual(images.slice(0, 1_000));
    expect(inText.parts).toHaveLength(201);
  });

  it('may contain control characters and end with zeros', async () => {
    const value = { SrcName: 'Gate 1', n: 1 };
    for (const body of [
      '{"SrcName":"Gate\u00011","n":1}',
      '{"SrcName":"Gate\n1","n":1}',
      '{"SrcName":"Gate 1\0\0","n":1}\0',
    ]) {
      expect((await contentsOf('application/json', body)).contents).toEqual([{ kind: 'json', value }]);
    }
    expect((await contentsOf('text/xml', '<p>A1\0</p>\0')).contents).toMatchObject([
      { root: { text: 'A1' } },
    ]);
    // Binary data, and text of two bytes for each letter, cannot be read.
    for (const body of ['{\0"\0a\0"\0', 'x\0']) {
      expect((await contentsOf(null, body)).contents).toMatchObject([{ kind: 'unreadable' }]);
    }
  });

  it('may contain XML with empty elements', async () => {
    const { contents } = await contentsOf(null, '<a><b/><c x="1" /><d>1</d></a>');
    expect(contents).toMatchObject([
      {
        kind: 'xml',
        root: { children: [{ name: 'b' }, { name: 'c', attributes: { x: '1' } }, { text: '1' }] },
      },
    ]);
    for (const open of ['<a><b/>', '<a><b>', '<a><b></a>', '<a><b/><c>']) {
      expect((await contentsOf(null, open)).contents).toMatchObject([{ kind: 'unreadable' }]);
    }
  });

  it('is read as far as it goes when it is a multipart body that ends too early', async () => {
    const picture = jpeg({ comment: 'x'.repeat(200) });
    const type = 'multipart/form-data; boundary=b';
    const disposition = (name: string) => `Content-Disposition: form-data; name="${name}"`;
    const fields: [string, Buffer | string][] = [
      [disposition('anpr.xml'), '<a>1</a>'],
      [disposition('a.jpg'), picture],
    ];
    const incomplete = 'The multipart body is incomplete';
    const unended = await contentsOf(type, multipart('b', fields, false));
    expect(unended).toMatchObject({
      contents: [{ kind: 'xml' }, { kind: 'image' }],
      flaws: [incomplete],
    });
    const body = multipart('b', fields);
    const cut = await contentsOf(type, body.subarray(0, body.length - 100));
    expect(cut).toMatchObject({
      contents: [{ kind: 'xml' }, { kind: 'unreadable' }],
      flaws: [incomplete, 'a.jpg is truncated and was left out'],
    });
    for (let length = body.indexOf('</a>') + 10; length < body.length - 2; length++) {
      const { contents } = await contentsOf(type, body.subarray(0, length));
      expect([length, contents[0]?.kind]).toEqual([length, 'xml']);
    }
  });

  it.each([
    ['no boundary', 'multipart/form-data', 'x', /no boundary/],
    ['a boundary of nothing', 'multipart/form-data; boundary=', 'x', /no boundary/],
    ['a boundary that does not occur', 'multipart/form-data; boundary=b', 'x', /incomplete or its boundary/],
    [
      '10,000 parts',
      'multipart/form-data; boundary=b',
      multipart('b', Array(10_000).fill(['A: b', 'x'])),
      /more than 100 parts/,
    ],
  ])('is stored as it came when it is a multipart body with %s', async (_, type, body, reason) => {
    const { parts, flaws } = await contentsOf(type, body);
    expect(flaws).toEqual([expect.stringMatching(reason)]);
    expect(Buffer.from(parts[0]?.base64 ?? '', 'base64')).toEqual(Buffer.from(body));
  });

  it.each([
    ['a document type definition', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', /document type definition/],
    ['10,000 levels', '<a>'.repeat(10_000) + '</a>'.repeat(10_000), /more than 100 levels/],
    ['no end', '<a><b>1</b>', /incomplete/],
    ['JSON under its name', '<{"a":1}', /incomplete|no root/],
    ['deep JSON', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, /more than 100 levels/],
    ['truncated JSON', '{"a":1', /invalid or incomplete/],
  ])('is unreadable with %s', async (_, body, reason) => {
    const { contents } = await contentsOf('application/xml', body);
    expect(contents).toMatchObject([{ kind: 'unreadable', reason: expect.stringMatching(reason) }]);
  });
});
