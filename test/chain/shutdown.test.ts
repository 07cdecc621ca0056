/**
 * A server that shuts down under load: acknowledged writes persist, requests in progress are finished, and it ends in
 * time.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { type Running, stop, temporaryFolder, up } from '../up/t8s-process.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
/** Large objects, for slow readers. */
const elsewhere = '/api/v1/namespaces/kube-public/configmaps'

async function running(t: TestContext, folder: string, flags: readonly string[] = []): Promise<Running> {
  writeFileSync(join(folder, 'tokens'), 'T,admin,1,"system:masters"\n')
  return up(t, [
    '--data-dir',
    join(folder, 'data'),
    '--secure-port',
    '0',
    '--token-auth-file',
    join(folder, 'tokens'),
    ...flags,
  ])
}

interface Client {
  readonly session: ClientHttp2Session
  open(path: string, method?: string, body?: string): ClientHttp2Stream
  /** Status and body; status 0 if the connection ended first. */
  ask(
    path: string,
    method?: string,
    body?: string,
  ): Promise<{ readonly status: number; readonly text: string; readonly retryAfter: string | undefined }>
}

function client(t: TestContext, { url, kubeconfig }: Running): Client {
  const [, data = ''] = /certificate-authority-data: (\S+)/.exec(readFileSync(kubeconfig, 'utf8')) ?? []
  const session = connect(url, { ca: Buffer.from(data, 'base64') })
  session.on('error', () => {})
  t.after(() => session.destroy())
  const open = (path: string, method = 'GET', body?: string): ClientHttp2Stream => {
    const stream = session.request(
      { ':method': method, ':path': path, authorization: 'Bearer T', 'content-type': 'application/json' },
      { endStream: body === undefined },
    )
    stream.on('error', () => {})
    if (body !== undefined) stream.end(body)
    return stream
  }
  return {
    session,
    open,
    async ask(path, method, body) {
      if (session.closed || session.destroyed) return { status: 0, text: '', retryAfter: undefined }
      const stream = open(path, method, body)
      let status = 0
      let retryAfter: string | undefined
      stream.on('response', (headers) => {
        status = Number(headers[':status'])
        retryAfter = headers['retry-after']?.toString()
      })
      let text = ''
      stream.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      await new Promise((resolve) => stream.on('close', resolve))
      return { status, text, retryAfter }
    },
  }
}

const configMap = (name: string, text = 'x'): string => JSON.stringify({ metadata: { name }, data: { text } })

test('SIGTERM during watches, slow lists and writes loses nothing that was acknowledged', async (t) => {
  const folder = temporaryFolder(t)
  const server = await running(t, folder, ['--shutdown-delay-duration=3s'])
  const one = client(t, server)
  for (let i = 0; i < 40; i++)
    assert.equal((await one.ask(elsewhere, 'POST', configMap(`big-${i}`, 'y'.repeat(100_000)))).status, 201)

  const ends: Promise<number>[] = []
  let begun = 0
  for (let i = 0; i < 50; i++) {
    const watch = one.open(`${configMaps}?watch=1&resourceVersion=0`)
    watch.on('response', () => begun++).resume()
    ends.push(new Promise((resolve) => watch.on('close', () => resolve(watch.rstCode))))
  }
  // Slow readers have connections of their own, so that they do not slow down others. Later they read as fast as they
  // can: the server does not wait for them for ever.
  let isSlow = true
  const lists = Array.from({ length: 10 }, () => {
    const list = client(t, server).open(elsewhere)
    let text = ''
    list.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (!isSlow) return
      list.pause()
      setTimeout(() => list.resume(), 2)
    })
    list.on('response', () => begun++)
    return new Promise<string>((resolve) => list.on('close', () => resolve(text)))
  })
  await waitFor('all watches and lists to begin', () => begun === 60)

  const acknowledged = new Set<string>()
  const writers = Array.from({ length: 4 }, async (_, w) => {
    const writer = client(t, server)
    for (let i = 0; ; i++) {
      const { status } = await writer.ask(configMaps, 'POST', configMap(`w-${w}-${i}`))
      if (status === 201) acknowledged.add(`w-${w}-${i}`)
      else return status
    }
  })
  await waitFor('acknowledged writes', () => acknowledged.size > 20)

  const stopped = performance.now()
  server.process.kill('SIGTERM')
  const before = acknowledged.size
  await waitFor('readyz to fail', async () => (await one.ask('/readyz')).status === 500)
  await waitFor('more writes', () => acknowledged.size > before)
  isSlow = false
  const { code } = await server.exited
  const tookMs = performance.now() - stopped
  assert.equal(code, 0)
  assert.ok(tookMs < 25_000, `ended after ${tookMs} ms`)
  assert.deepEqual(await Promise.all(ends), Array(50).fill(0), 'watches end, they are not cut off')
  for (const list of await Promise.all(lists))
    assert.equal((JSON.parse(list) as { kind: string }).kind, 'ConfigMapList')
  for (const status of await Promise.all(writers))
    assert.ok(status === 0 || status === 503, `a write was answered ${status}`)

  const restarted = await running(t, folder)
  const { text } = await client(t, restarted).ask(configMaps)
  const stored = new Set(
    (JSON.parse(text) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name),
  )
  assert.deepEqual(
    [...acknowledged].filter((name) => !stored.has(name)),
    [],
  )
  await stop(restarted)
})

test('--shutdown-send-retry-after rejects new requests and finishes those in progress', async (t) => {
  const server = await running(t, temporaryFolder(t), ['--shutdown-send-retry-after'])
  const slow = client(t, server)
  const other = client(t, server)
  assert.equal((await other.ask('/version')).status, 200)
  // A write with an incomplete body is in progress.
  const write = slow.open(configMaps, 'POST', undefined)
  write.destroy()
  const body = configMap('late')
  const late = slow.session.request({
    ':method': 'POST',
    ':path': configMaps,
    authorization: 'Bearer T',
    'content-type': 'application/json',
    'content-length': body.length,
  })
  let status = 0
  late.on('response', (headers) => {
    status = Number(headers[':status'])
  })
  late.on('error', () => {})
  late.write(body.slice(0, 5))
  await waitFor(
    'the write to be counted',
    async () =>
      Number(
        /^apiserver_current_inflight_requests\{request_kind="mutating"\} (\d+)$/m.exec(
          (await other.ask('/metrics')).text,
        )?.[1],
      ) > 0,
  )
  server.process.kill('SIGTERM')
  const refused = await waitFor('a rejection', async () => {
    const answer = await client(t, server).ask('/version')
    return answer.status === 429 && answer
  })
  assert.deepEqual(refused, {
    status: 429,
    text: 'The apiserver is shutting down, please try again later.\n',
    retryAfter: '5',
  })
  const probe = await client(t, server).ask('/livez')
  assert.equal(probe.status, 200)
  late.end(body.slice(5))
  await waitFor('the response', () => status !== 0)
  assert.equal(status, 201)
  assert.equal((await server.exited).code, 0)
})
