import { execFileSync } from 'node:child_process';

/** The SBOM (CycloneDX, JSON) of what npm installed, or would install, in a folder. Peers are left out: they are for types only. */
export function describeInstallation(folder: string, ...options: readonly string[]): string {
  const text = execFileSync(
    'npm',
    ['sbom', '--omit=peer', '--sbom-format=cyclonedx', '--sbom-type=application', ...options],
    { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  // Our own packages come from files, whose folders say nothing elsewhere.
  return text.replaceAll(/"file:[^"]*\//g, '"file:');
}
