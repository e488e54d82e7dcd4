import { execFileSync } from 'node:child_process';

const openssl = (folder: string | undefined, args: readonly string[]): void =>
  void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });

/** Node.js cannot make certificates, so tests with certificates are skipped where there is no OpenSSL. */
export const hasOpenssl = ((): boolean => {
  try {
    openssl(undefined, ['version']);
    return true;
  } catch {
    return false;
  }
})();

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Makes certificates, `<name>.pem`, and their keys, `<name>.key`, in the folder. */
export const certificatesIn = (folder: string) => ({
  makeAuthority(name: string): void {
    const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
    openssl(folder, ['req', '-x509', ...KEY, ...files, '-days', '2', '-subj', `/CN=${name}`]);
  },
  /** For this machine, signed by the authority. @param names of the host, besides its usual ones */
  makeCertificate(name: string, authority: string, names = ''): void {
    const alternatives = `subjectAltName=DNS:localhost,IP:127.0.0.1${names}`;
    const files = ['-keyout', `${name}.key`, '-out', `${name}.csr`];
    openssl(folder, ['req', ...KEY, ...files, '-subj', `/CN=${name}`, '-addext', alternatives]);
    openssl(folder, [
      ...['x509', '-req', '-in', `${name}.csr`, '-CA', `${authority}.pem`, '-CAkey', `${authority}.key`],
      ...['-CAcreateserial', '-days', '2', '-copy_extensions', 'copy', '-out', `${name}.pem`],
    ]);
  },
});
