import { PACKAGE_FORMAT } from '../../evidence/verify-package.ts';
import type { PackageContents } from './contents.ts';

/** The text of README.txt: what the package is, and how it is checked. A line that begins with "$ " is a command. */
export function readmeOf(
  { case: { number }, fileName, madeBy }: PackageContents,
  {
    key,
    madeAt,
    redacted,
  }: { readonly key: { readonly id: string }; readonly madeAt: number; readonly redacted: boolean },
): string {
  return `Evidence package of case ${number}
${redacted ? 'Redacted: images are copies in which something was made unrecognisable.' : 'With the original images.'}
Made ${new Date(madeAt).toISOString()} by ${madeBy.name}. Format: ${PACKAGE_FORMAT}.

case.pdf is the case for readers. manifest.json lists all files with their SHA-256, and manifest.sig is its signature.

HOW TO CHECK IT

Unpack it into an empty folder (unzip ${fileName}), go into the folder, and enter these commands.

1. All files are those that manifest.sha256 names: each line ends with OK.

   $ sha256sum -c manifest.sha256

2. manifest.sha256 is signed with key.pem: "Signature Verified Successfully" (OpenSSL 3.0 or newer).

   $ openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in manifest.sha256 -sigfile manifest.sha256.sig

3. So is manifest.json.

   $ openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in manifest.json -sigfile manifest.sig

Then compare the key, because anybody can sign with a key of their own. The first 32 digits of

   $ openssl pkey -pubin -in key.pem -outform DER | sha256sum

must be the id of a key that the service publishes at /.well-known/gantry-seal.json: ask the authority, not the sender of this package.
The package was signed with ${key.id}.

Files that manifest.sha256 does not name, except for itself and the two signatures, do not belong to the package.

These commands show that nothing was changed since the package was made. The program gantry-verify.mjs, which the service offers at
/evidence/gantry-verify.mjs, also shows that events, certificates and log are as they were sealed when they were recorded. It needs Node.js 20 or
newer and nothing else:

   node gantry-verify.mjs ${fileName}
`;
}
