import { execFileSync } from 'node:child_process';

/**
 * The SBOM (CycloneDX, JSON) of what npm installs in a folder by its package-lock.json. Peers are left out, because they are
 * for types only; npm refuses to describe what is installed without them.
 */
export function describeInstallation(folder: string): string {
  const text = execFileSync(
    'npm',
    ['sbom', '--package-lock-only', '--omit=peer', '--sbom-format=cyclonedx', '--sbom-type=application'],
    { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  // Our own packages come from files, whose folders say nothing elsewhere.
  return text.replaceAll(/"file:[^"]*\//g, '"file:');
}
