/** Whether a page of the origin may call the API from a browser. */
export type OriginCheck = (origin: string) => boolean;

const LOCAL_DEVELOPMENT = ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'];

/**
 * The rule of the specification: the web application, its www variant, preview deployments, and local development on
 * port 3000.
 */
export function allowOrigins(webOrigin: string | undefined, previewOrigins: readonly string[]): OriginCheck {
  const exact = new Set([...LOCAL_DEVELOPMENT, ...(webOrigin === undefined ? [] : withVariant(webOrigin))]);
  const patterns = previewOrigins.map(patternOf);
  return (origin) => exact.has(origin) || patterns.some((pattern) => pattern.test(origin));
}

/** The origin itself and its variant with or without www. */
function withVariant(origin: string): string[] {
  const { protocol, host } = new URL(origin);
  return [origin, `${protocol}//${host.startsWith('www.') ? host.slice(4) : `www.${host}`}`];
}

/** A pattern such as https://*.preview.example.org, anchored at both ends; `*` is one label of the host name. */
function patternOf(preview: string): RegExp {
  const escaped = preview.toLowerCase().replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace('*', '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?')}$`);
}
