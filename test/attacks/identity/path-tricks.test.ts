/**
 * Request targets that might be authorized as one path and answered as another.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { attackedServer } from '../support/attacked-server.ts'
import { head, rawTls } from '../support/raw.ts'

const secret = '/api/v1/namespaces/default/secrets/s'

/** The answer to a request line, which may be invalid. */
async function answerTo(server: Parameters<typeof rawTls>[0], method: string, target: string): Promise<string> {
  const { socket, received } = await rawTls(server)
  socket.write(head(method, target, 'Connection: close'))
  await waitFor(
    `an answer to ${method} ${target}`,
    () => /\r\n\r\n/.test(received()) && (socket.readableEnded || socket.destroyed || received().length > 12),
  )
  await waitFor(`the end of the answer to ${target}`, () => socket.readableEnded || socket.destroyed)
  return received()
}

test('other spellings of the path of a secret do not lead to it', async (t) => {
  const server = await attackedServer(t)
  const body = JSON.stringify({ metadata: { name: 's' }, stringData: { password: 'hidden' } })
  const { socket, received } = await rawTls(server)
  socket.write(
    head(
      'POST',
      '/api/v1/namespaces/default/secrets',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ) + body,
  )
  await waitFor('the secret is created', () => received().startsWith('HTTP/1.1 201'))
  socket.destroy()
  assert.match(await answerTo(server, 'GET', secret), /^HTTP\/1\.1 200 .*aGlkZGVu/s)
  for (const target of [
    '//api/v1/namespaces/default/secrets/s',
    '/api//v1/namespaces/default/secrets/s',
    '/api/v1//namespaces/default/secrets/s',
    '/api/v1/namespaces//default/secrets/s',
    '/api/v1/namespaces/default//secrets/s',
    '/api/v1/namespaces/default/secrets//s',
    '/./api/v1/namespaces/default/secrets/s',
    '/healthz/../api/v1/namespaces/default/secrets/s',
    '/healthz/%2e%2e/api/v1/namespaces/default/secrets/s',
    '/api/v1/namespaces/kube-public/../default/secrets/s',
    '/api/v1/namespaces/kube-public/%2e%2e/default/secrets/s',
    '/api/v1/namespaces/kube-public%2f..%2fdefault/secrets/s',
    '/api/v1/namespaces/kube-public/configmaps/..%2f..%2f..%2fsecrets%2fdefault%2fs',
    '/api/v1/namespaces/kube-public/secrets/..%2fdefault%2fs',
    '/api/v1/secrets/default%2fs',
    '/api/v1/namespaces//secrets/default%2fs',
    '/api/v1/namespaces/%2e/secrets/default%2fs',
    '/api/v1/namespaces/default/secrets/s%00',
    '/api/v1/namespaces/default/secrets/s%00x',
    '/api/v1/namespaces/default/Secrets/s',
    '/API/v1/namespaces/default/secrets/s',
    '/api/v1/namespaces/default/secrets/s%20',
    '/api/v1/namespaces/default/secrets;/s',
    '/api\\v1\\namespaces\\default\\secrets\\s',
    '/api/v1/namespaces/default/secrets/%73%00',
    'api/v1/namespaces/default/secrets/s',
  ]) {
    const answer = await answerTo(server, 'GET', target)
    assert.match(answer, /^HTTP\/1\.1 40[0-9] /, target)
    assert.doesNotMatch(answer, /aGlkZGVu/, target)
  }
})

test('unknown methods and NUL bytes are rejected', async (t) => {
  const server = await attackedServer(t)
  for (const [method, target] of [
    ['get', secret],
    ['Get', secret],
    ['GET', `${secret}\0`],
    ['GET', '/api/v1/namespaces/default/\0secrets/s'],
    ['GET\0', secret],
    ['BREW', secret],
  ] as const) {
    assert.match(await answerTo(server, method, target), /^HTTP\/1\.1 40[05] /, `${method} ${target}`)
  }
})

test('the scheme and host of an absolute target are ignored (RFC 9112, 3.2.2)', async (t) => {
  const server = await attackedServer(t)
  for (const target of ['https://elsewhere.example/version?x=1', 'http://x:80/version']) {
    assert.match(await answerTo(server, 'GET', target), /^HTTP\/1\.1 200 .*"gitVersion"/s, target)
  }
  assert.match(await answerTo(server, 'GET', 'https://elsewhere.example'), /^HTTP\/1\.1 200 .*"paths"/s)
})
