/** The effects of filters on requests and responses, and their order, as seen by clients. */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { ask } from '../audit/requests.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const origins = ['--cors-allowed-origins=^https://(www\\.)?example\\.com$,//other\\.example:']
const origin = 'https://www.example.com'
const path = '/api/v1/namespaces/default/configmaps'

test('every response has an audit id and is not cacheable', async (t) => {
  const cluster = await testCluster(t, {
    tokens: [{ token: 'jane', user: { name: 'jane', groups: ['system:masters'] } }],
  })
  for (const [method, target, headers, status] of [
    ['GET', path, { authorization: 'Bearer jane' }, 200],
    ['GET', path, { authorization: 'Bearer wrong' }, 401],
    ['GET', '/nothing', { authorization: 'Bearer jane' }, 404],
    ['GET', `${path}?timeout=x`, { authorization: 'Bearer jane' }, 400],
    ['PUT', '/api/v1/nothing', { authorization: 'Bearer jane' }, 404],
  ] as const) {
    const answered = await ask(cluster, method, target, headers)
    assert.equal(answered.status, status, target)
    assert.match(String(answered.headers['audit-id']), /^[0-9a-f-]{36}$/)
    assert.equal(answered.headers['cache-control'], 'no-cache, private')
  }
})

test('pages of allowed origins may use the API, with preflight requests without credentials', async (t) => {
  const cluster = await testCluster(t, { apiServerFlags: [...origins, '--anonymous-auth=false'] })
  const preflight = await ask(cluster, 'OPTIONS', path, { origin, 'access-control-request-method': 'POST' })
  assert.equal(preflight.status, 204)
  const allowed = Object.fromEntries(
    Object.entries(preflight.headers).filter(([name]) => name.startsWith('access-control-')),
  )
  assert.deepEqual(allowed, {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
    'access-control-allow-headers':
      'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
    'access-control-expose-headers': 'Date',
    'access-control-allow-credentials': 'true',
  })
  const refused = await ask(cluster, 'GET', path, { origin })
  assert.deepEqual(
    [refused.status, refused.headers['access-control-allow-origin']],
    [401, origin],
    'a page may read why',
  )
  for (const other of ['https://example.com.evil.test', 'http://www.example.com', 'null', '']) {
    const { status, headers } = await ask(cluster, 'OPTIONS', path, { origin: other })
    assert.deepEqual([status, headers['access-control-allow-origin']], [401, undefined], other)
  }
})

test('an origin expression without the end of the host is rejected at the start', async (t) => {
  const start = (...apiServerFlags: string[]): Promise<unknown> => testCluster(t, { apiServerFlags })
  await assert.rejects(start('--cors-allowed-origins=example.com'), {
    message: new RegExp(
      '^--cors-allowed-origins has an invalid regular expression: regular expression does not pin to ' +
        'start/end of host in the origin header, help: ',
    ),
  })
  await assert.rejects(start('--cors-allowed-origins=^(a$'), { message: /error parsing regexp: missing closing \)/ })
  await assert.rejects(start('--goaway-chance=0.03'), {
    message: '--goaway-chance can not be less than 0 or greater than 0.02',
  })
  await assert.rejects(start('--strict-transport-security-directives=max'), {
    message: /^--strict-transport-security-directives invalid, allowed values: /,
  })
  await assert.rejects(start('--min-request-timeout=-1'), {
    message: '--min-request-timeout can not be negative value',
  })
})

test('--strict-transport-security-directives sends the header with every response', async (t) => {
  const cluster = await testCluster(t, {
    apiServerFlags: ['--strict-transport-security-directives=max-age=31536000,includeSubDomains'],
  })
  for (const authorization of ['', 'Bearer wrong']) {
    assert.equal(
      (await ask(cluster, 'GET', '/version', { authorization })).headers['strict-transport-security'],
      'max-age=31536000; includeSubDomains',
    )
  }
})

test('--goaway-chance closes connections, while open watches continue', async (t) => {
  const cluster = await testCluster(t, { apiServerFlags: ['--goaway-chance=0.02'] })
  const { ca, cert, key } = cluster.client
  const session = connect(cluster.url, { ca, cert, key })
  session.on('error', () => {})
  t.after(() => session.destroy())
  let goawayCode: number | undefined
  session.on('goaway', (code) => {
    goawayCode = code
  })
  const watch = session.request({ ':path': `${path}?watch=1` })
  let events = ''
  watch.setEncoding('utf8').on('data', (text: string) => {
    events += text
  })
  await new Promise((resolve) => watch.once('response', resolve))
  const failures: number[] = []
  while (goawayCode === undefined) {
    const stream = session.request({ ':path': '/version' })
    let status = 0
    stream.on('response', (headers) => {
      status = Number(headers[':status'])
    })
    stream.on('error', () => {})
    await new Promise((resolve) => stream.resume().on('close', resolve))
    if (status !== 200 && !session.closed) failures.push(status)
  }
  assert.equal(goawayCode, 0)
  assert.deepEqual(failures, [])
  await cluster.call('POST', path, { metadata: { name: 'after' } })
  await waitFor('the watch still sends events', () => events.includes('"after"'))
})

test('concurrent requests per connection are limited by the flag', async (t) => {
  const cluster = await testCluster(t, { apiServerFlags: ['--http2-max-streams-per-connection=7'] })
  const { ca, cert, key } = cluster.client
  const session = connect(cluster.url, { ca, cert, key })
  t.after(() => session.destroy())
  await new Promise((resolve) => session.once('remoteSettings', resolve))
  assert.equal(session.remoteSettings.maxConcurrentStreams, 7)
})

test('a request with a timeout parameter is answered within that time', async (t) => {
  const cluster = await testCluster(t, {
    tokens: [{ token: 'jane', user: { name: 'jane', groups: ['system:masters'] } }],
  })
  const headers = { authorization: 'Bearer jane', 'content-type': 'application/json' }
  // A future version is waited for, longer than this client wants to.
  const { status, text } = await ask(cluster, 'GET', `${path}?resourceVersion=1000000&timeout=100ms`, headers)
  assert.equal(status, 504)
  assert.equal(
    (JSON.parse(text) as { message: string }).message,
    'Timeout: request did not complete within the allotted timeout',
  )
  const wrong = await ask(cluster, 'GET', `${path}?timeout=5`, headers)
  assert.equal(
    (JSON.parse(wrong.text) as { message: string }).message,
    'invalid timeout specified in the request URL - time: missing unit in duration "5"',
  )
})

test('watches without a timeout end after --min-request-timeout', async (t) => {
  const cluster = await testCluster(t, {
    apiServerFlags: ['--min-request-timeout=1'],
    tokens: [{ token: 'jane', user: { name: 'jane', groups: ['system:masters'] } }],
  })
  assert.equal((await ask(cluster, 'GET', `${path}?watch=1`, { authorization: 'Bearer jane' })).status, 200)
})
