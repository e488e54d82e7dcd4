import { createServer } from 'node:net';
import { Aedes } from 'aedes';

// A real MQTT broker in a process of its own: node mqtt-broker.js <port> [<user> <password>]. It keeps sessions in memory.

const [port, user, password] = process.argv.slice(2);
const broker = await Aedes.createBroker();
if (user !== undefined) {
  broker.authenticate = (_, name, given, done) => done(null, name === user && String(given) === password);
}
const server = createServer(broker.handle);
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
