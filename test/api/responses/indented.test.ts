/** Indented JSON: objects, errors and documents are indented for curl, and with ?pretty. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { http2Client } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'

test('responses are indented for curl and with ?pretty, not for other clients', async (t) => {
  const server = await startTestServer(t)
  const client = http2Client(t, server)
  const isIndented = async (path: string, agent: string, as = client): Promise<boolean> => {
    const { bytes } = await as.request('GET', path, { headers: { 'user-agent': agent } })
    const text = bytes.toString()
    assert.deepEqual(JSON.parse(text), JSON.parse(text.trim()))
    return text.startsWith('{\n  "')
  }
  const nobody = http2Client(t, server, { token: 'wrong' })
  for (const path of [
    '/api/v1/namespaces/default',
    '/api/v1/namespaces/absent',
    '/api/v1/namespaces/default/absent',
    '/api',
    '/apis',
    '/apis/apps',
    '/apis/apps/v1',
  ]) {
    assert.deepEqual([await isIndented(path, 'curl/8.5'), await isIndented(path, 'kubectl/v1.33')], [true, false], path)
    assert.deepEqual(
      [await isIndented(`${path}?pretty=true`, 'kubectl'), await isIndented(`${path}?pretty=false`, 'curl/8.5')],
      [true, false],
      path,
    )
  }
  assert.deepEqual(
    [await isIndented('/api', 'curl/8.5', nobody), await isIndented('/api', 'kubectl', nobody)],
    [true, false],
  )
  for (const path of ['/version', '/']) assert.ok(await isIndented(path, 'kubectl'))
})

test('an indented document has another ETag', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const tagFor = async (agent: string, tag = ''): Promise<[number, unknown]> => {
    const { status, headers } = await client.request('GET', '/apis', {
      headers: { 'user-agent': agent, 'if-none-match': tag },
    })
    return [status, headers.etag]
  }
  const [, plain] = await tagFor('kubectl')
  const [, indented] = await tagFor('curl/8.5')
  assert.notEqual(plain, indented)
  assert.deepEqual((await tagFor('kubectl', `${plain}`))[0], 304)
  assert.deepEqual((await tagFor('curl/8.5', `${plain}`))[0], 200)
  assert.deepEqual((await tagFor('curl/8.5', `${indented}`))[0], 304)
})
