import { createServer } from 'node:http';
import { ingestAnswer } from '../answers.ts';
import { announce } from './announce.ts';

// The lower bound: the cost of receiving the bytes, parsing the JSON and answering, without any other work.

const ANSWER = ingestAnswer('01a1fd99-c7b1-756d-92e4-f66a14308627');
const HEADERS = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(ANSWER) };

announce(
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { json } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      response.writeHead(typeof json.apiKey === 'string' ? 200 : 400, HEADERS).end(ANSWER);
    });
  }),
);
