import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../src/platform/config.ts';
import { isPublicAddress, parseAllowedHost } from '../src/platform/hosts.ts';
import { AddressRules, UnusableAddress } from '../src/platform/outbound.ts';

const rules = new AddressRules([]);

describe('an internal address', () => {
  it.each([
    // Loopback, in every spelling that a URL accepts.
    'http://127.0.0.1/',
    'http://127.0.0.1./',
    'http://127.1/',
    'http://127.0.1/',
    'http://127.255.255.254/',
    'http://2130706433/',
    'http://017700000001/',
    'http://0177.0.0.1/',
    'http://0177.0.0.01/',
    'http://0x7f000001/',
    'http://0x7f.0.0.1/',
    'http://0x7f.1/',
    'http://0X7F.0x0.0x0.0x1/',
    'http://%31%32%37.0.0.1/',
    'http://１２７.0.0.1/',
    'http://①②⑦.0.0.1/',
    'http://127。0。0。1/',
    'http:127.0.0.1/',
    'http:\\\\127.0.0.1\\',
    'HTTP://127.0.0.1:8080/hook?x=1#y',
    'https://127.0.0.1/',
    'http://127.0.0.1\\@example.org/',
    ' http://127.0.0.1/ ',
    'http://12\n7.0.0.1/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::127.0.0.1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[0:0:0:0:0:FFFF:7F00:0001]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[64:ff9b:1::a00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2002:a00:1::1]/',
    'http://[2001:0:7f00:1::]/',
    // This host, private, link-local, carrier-grade NAT.
    'http://0/',
    'http://0.0.0.0/',
    'http://0.1.2.3/',
    'http://[::]/',
    'http://10.0.0.1/',
    'http://10.255.255.255/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.168.0.1/',
    'http://3232235521/',
    'http://[::ffff:192.168.0.1]/',
    'http://169.254.0.1/',
    'http://100.64.0.1/',
    'http://100.127.255.254/',
    'http://[fe80::1]/',
    'http://[febf::1]/',
    'http://[fec0::1]/',
    'http://[fc00::1]/',
    'http://[fd12:3456:789a::1]/',
    // Metadata of clouds.
    'http://169.254.169.254/latest/meta-data/',
    'http://0251.0376.0251.0376/',
    'http://2852039166/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'http://192.0.0.192/',
    'http://168.63.129.16/',
    // Multicast, broadcast, documentation, benchmarks, reserved.
    'http://224.0.0.1/',
    'http://239.255.255.250/',
    'http://255.255.255.255/',
    'http://240.0.0.1/',
    'http://192.0.2.1/',
    'http://198.51.100.1/',
    'http://203.0.113.1/',
    'http://198.18.0.1/',
    'http://192.88.99.1/',
    'http://192.0.0.1/',
    'http://[ff02::1]/',
    'http://[2001:db8::1]/',
    'http://[3fff::1]/',
    'http://[100::1]/',
    'http://[4000::1]/',
    'http://[5f00::1]/',
  ])('is refused: %j', (url) => {
    expect(() => rules.parse(url)).toThrow(/is not on the public internet/);
  });

  it.each([
    ['127.0.0.1'],
    ['93.184.216.34', '10.0.0.1'],
    ['::1'],
    ['::ffff:10.0.0.1'],
    ['fe80::1%eth0'],
    ['nonsense'],
  ])('is refused when a name resolves to it: %j', async (...addresses) => {
    const resolving = new AddressRules([], async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
    const url = resolving.parse('http://innocent.example.org/');
    await expect(resolving.resolve(url)).rejects.toThrow(/is not on the public internet/);
  });

  it('is refused when a name of this machine resolves to it', async () => {
    for (const host of ['localhost', 'LOCALHOST', 'localhost.']) {
      const url = rules.parse(`http://${host}/`);
      await expect(rules.resolve(url), host).rejects.toThrow(UnusableAddress);
    }
  });
});

describe('an address on the public internet', () => {
  it.each([
    ['http://93.184.216.34/', 'http://93.184.216.34/'],
    ['https://93.184.216.34:8443/hook?a=b', 'https://93.184.216.34:8443/hook?a=b'],
    ['http://1572395042/', 'http://93.184.216.34/'],
    ['http://172.15.255.255/', 'http://172.15.255.255/'],
    ['http://172.32.0.1/', 'http://172.32.0.1/'],
    ['http://100.63.255.255/', 'http://100.63.255.255/'],
    ['http://100.128.0.1/', 'http://100.128.0.1/'],
    ['http://169.253.1.1/', 'http://169.253.1.1/'],
    ['http://11.0.0.1/', 'http://11.0.0.1/'],
    ['http://126.255.255.255/', 'http://126.255.255.255/'],
    ['http://[2606:4700:4700::1111]/', 'http://[2606:4700:4700::1111]/'],
    ['http://[::ffff:8.8.8.8]/', 'http://[::ffff:808:808]/'],
    ['http://[64:ff9b::808:808]/', 'http://[64:ff9b::808:808]/'],
    ['http://example.org', 'http://example.org/'],
    ['https://BÜCHER.example/Pfad', 'https://xn--bcher-kva.example/Pfad'],
  ])('is accepted: %s', (url, href) => {
    expect(rules.parse(url).href).toBe(href);
  });

  it('is accepted when all addresses of its name are public', async () => {
    const addresses = [
      { address: '93.184.216.34', family: 4 },
      { address: '2606:4700:4700::1111', family: 6 },
    ];
    const resolving = new AddressRules([], async () => addresses);
    expect(await resolving.resolve(resolving.parse('http://example.org/'))).toEqual(addresses);
  });
});

describe('an invalid address', () => {
  it.each([
    ['', 'Use an address such as'],
    ['example.org', 'Use an address such as'],
    ['/hook', 'Use an address such as'],
    ['http://', 'Use an address such as'],
    ['http://[::1%25eth0]/', 'Use an address such as'],
    ['http://256.1.1.1/', 'Use an address such as'],
    ['http://exa mple.org/', 'Use an address such as'],
    ['http://example.org:99999/', 'Use an address such as'],
    ['http://example.org:0/', 'Use a port between 1 and 65535'],
    ['ftp://example.org/', 'http or https'],
    ['file:///etc/passwd', 'http or https'],
    ['javascript:alert(1)', 'http or https'],
    ['gopher://example.org/', 'http or https'],
    ['data:text/plain,x', 'http or https'],
    ['http://user:password@example.org/', 'user name and password'],
    ['http://user@example.org/', 'user name and password'],
    ['http://:@127.0.0.1/', 'not on the public internet'],
    ['http://example.org@127.0.0.1/', 'user name and password'],
  ])('is refused: %j, because %s', (url, reason) => {
    expect(() => rules.parse(url)).toThrow(reason);
  });

  it('is a name that cannot be resolved', async () => {
    const resolving = new AddressRules([], () => Promise.reject(new Error('ENOTFOUND')));
    await expect(resolving.resolve(resolving.parse('http://nowhere.example/'))).rejects.toThrow(
      'nowhere.example cannot be resolved',
    );
  });

  it('is not a public address unless it is an IP address', () => {
    for (const text of ['', 'example.org', '127.1', '2130706433', '1.2.3', '::1%lo'])
      expect(isPublicAddress(text), text).toBe(false);
  });
});

describe('WEBHOOK_ALLOW_HOSTS', () => {
  const exceptions = (text: string) =>
    new AddressRules(readConfig({ WEBHOOK_ALLOW_HOSTS: text }).WEBHOOK_ALLOW_HOSTS);

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8080/'],
    ['127.0.0.1', 'https://127.1/'],
    ['0x7f.1', 'http://127.0.0.1/'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/'],
    ['127.0.0.1:80', 'http://127.0.0.1/'],
    ['127.0.0.1:443', 'https://127.0.0.1/'],
    ['::1', 'http://[::1]/'],
    ['[::1]', 'http://[0:0::1]:99/'],
    ['[::1]:99', 'http://[::1]:99/'],
    [' 10.0.0.1 , LocalHost:1234 ', 'http://localhost:1234/'],
    [' 10.0.0.1 , LocalHost:1234 ', 'http://10.0.0.1/'],
  ])('%j accepts %s', async (text, url) => {
    const allowing = exceptions(text);
    const parsed = allowing.parse(url);
    expect((await allowing.resolve(parsed)).length).toBeGreaterThan(0);
  });

  it.each([
    ['127.0.0.1:8080', 'http://127.0.0.1:8081/'],
    ['127.0.0.1:8080', 'http://127.0.0.1/'],
    ['127.0.0.1:80', 'https://127.0.0.1/'],
    ['127.0.0.1', 'http://127.0.0.2/'],
    ['127.0.0.1', 'http://[::ffff:127.0.0.1]/'],
    ['localhost', 'http://127.0.0.1/'],
    ['', 'http://127.0.0.1/'],
  ])('%j does not accept %s', (text, url) => {
    expect(() => exceptions(text).parse(url)).toThrow(/is not on the public internet/);
  });

  it('accepts only the host itself, not parent or child domains', async () => {
    const loopback = async () => [{ address: '127.0.0.1', family: 4 }];
    const allowing = new AddressRules(['intranet.example'], loopback);
    await allowing.resolve(allowing.parse('http://INTRANET.example:99/'));
    for (const host of ['x.intranet.example', 'example', 'xintranet.example', 'intranet.example.'])
      await expect(allowing.resolve(allowing.parse(`http://${host}/`)), host).rejects.toThrow(
        UnusableAddress,
      );
  });

  it.each([
    'http://127.0.0.1',
    '127.0.0.1/8',
    'a b',
    'host:port',
    'host:123456',
    'user@host',
    '[::1',
    '*.example',
  ])('refuses %j', (text) => {
    expect(parseAllowedHost(text)).toBe(null);
    expect(() => readConfig({ WEBHOOK_ALLOW_HOSTS: text })).toThrow(ConfigError);
  });
});
