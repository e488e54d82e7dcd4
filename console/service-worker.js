// Lets the console start without a connection, with the files of the build to which this worker belongs. It keeps
// nothing but files of the console: answers of the API, images and reports never pass through it.
// build.js puts in the version and the files.

const CACHE = 'gantry-shell-$VERSION';
const FILES = $FILES;

/** Files are the same whatever the headers of a request say. */
const KEPT = { cacheName: CACHE, ignoreVary: true };

/** A page is asked for so long before the kept one is shown, in milliseconds. */
const PATIENCE_MS = 4_000;
/** What a proxy answers that cannot reach the service. */
const UNREACHED = [502, 504];

/** Where the service itself answers a browser that goes there: logins at a provider, acknowledgements, documents, files. */
const OF_SERVICE = /^\/(?:ack|docs|images|live|login\/oidc|metrics|ready|trpc|v1)(?:\/|$)|\/file$|\.[a-z]+$/;

addEventListener('install', (event) => event.waitUntil(install()));
addEventListener('activate', (event) => event.waitUntil(activate()));
addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate') {
    if (!OF_SERVICE.test(pathname)) event.respondWith(servePage(request));
  } else if (pathname.startsWith('/assets/')) event.respondWith(serveAsset(request));
  // Without the cache of the browser, it is asked for to find out whether the service can be reached.
  else if (pathname === '/icon.svg' && request.cache !== 'no-store') event.respondWith(serveAsset(request));
});

async function install() {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES.map((file) => new Request(file, { cache: 'no-cache' })));
  await skipWaiting();
}

/** Removes the files of earlier builds. A page of one that needs another file of it is loaded again. */
async function activate() {
  const names = await caches.keys();
  await Promise.all(
    names
      .filter((name) => name.startsWith('gantry-shell-') && name !== CACHE)
      .map((name) => caches.delete(name)),
  );
  await clients.claim();
}

/** The page of the service, or the kept one if it cannot be reached: an upgraded console is never hidden by an old one. */
async function servePage(request) {
  const kept = await caches.match('/', KEPT);
  const asked = fetch(request).then((answer) => (UNREACHED.includes(answer.status) && kept ? kept : answer));
  if (!kept) return asked;
  const patience = new Promise((resolve) => setTimeout(() => resolve(kept), PATIENCE_MS));
  return Promise.race([asked.catch(() => kept), patience]);
}

/** A file whose name contains a hash of its content. */
async function serveAsset(request) {
  const kept = await caches.match(request, KEPT);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) {
    const cache = await caches.open(CACHE);
    await cache.put(request, answer.clone());
  }
  return answer;
}
