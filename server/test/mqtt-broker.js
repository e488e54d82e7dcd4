import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { Aedes } from 'aedes';

// A real MQTT broker in a process of its own: node mqtt-broker.js <port> [<user> <password>]. It keeps sessions in
// memory. With MQTT_BROKER_TLS, a folder of certificates, it speaks TLS and requires a certificate of its clients.

const [port, user, password] = process.argv.slice(2);
const folder = process.env.MQTT_BROKER_TLS;
const broker = await Aedes.createBroker();
if (user !== undefined) {
  broker.authenticate = (_, name, given, done) => done(null, name === user && String(given) === password);
}
const file = (name) => readFileSync(join(folder, name));
const server =
  folder === undefined
    ? createServer(broker.handle)
    : createTlsServer(
        {
          key: file('broker.key'),
          cert: file('broker.pem'),
          ca: file('authority.pem'),
          requestCert: true,
          rejectUnauthorized: true,
        },
        broker.handle,
      );
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
