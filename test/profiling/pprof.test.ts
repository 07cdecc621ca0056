/** `/debug/pprof/` as `go tool pprof` uses it, and its access control. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { temporaryFolder, up } from '../up/t8s-process.ts'

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
}

interface Server {
  readonly folder: string
  get(path: string, token?: string, signal?: AbortSignal): Promise<Answer>
}

async function server(t: TestContext, ...flags: string[]): Promise<Server> {
  const folder = temporaryFolder(t)
  const tokens = join(folder, 'tokens')
  writeFileSync(tokens, 's3cret,admin,1,"system:masters"\nother,jane,2\n')
  const args = [
    '--data-dir',
    join(folder, 'data'),
    '--secure-port',
    '0',
    '--token-auth-file',
    tokens,
    '--controllers',
    '',
    '--no-scheduler',
    ...flags,
  ]
  const { url } = await up(t, args)
  return {
    folder,
    async get(path, token = 's3cret', signal = undefined) {
      const sent = request(new URL(path, url), {
        headers: { authorization: `Bearer ${token}` },
        rejectUnauthorized: false,
        agent: false,
        signal,
      })
      const [response] = (await once(sent.end(), 'response')) as [IncomingMessage]
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        bytes: Buffer.concat(await response.toArray()),
      }
    },
  }
}

/** Returns the output of `go tool pprof` for a profile. */
function pprof({ folder }: Server, { bytes }: Answer, ...flags: string[]): string {
  const file = join(folder, `profile-${Math.random()}.pb.gz`)
  writeFileSync(file, bytes)
  return execFileSync('go', ['tool', 'pprof', ...flags, file], {
    encoding: 'utf8',
    env: { ...process.env, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

test('go tool pprof reads profiles of the CPU and of memory', async (t) => {
  const running = await server(t)
  const profile = running.get('/debug/pprof/profile?seconds=2')
  let isOver = false
  void profile.then(() => {
    isOver = true
  })
  // Work for the profile.
  while (!isOver) await running.get('/openapi/v2')
  const cpu = await profile
  assert.equal(cpu.status, 200)
  assert.equal(cpu.headers['content-type'], 'application/octet-stream')
  assert.equal(cpu.headers['content-disposition'], 'attachment; filename="profile"')
  const top = pprof(running, cpu, '-top')
  assert.match(top, /^Type: cpu$/m)
  assert.match(top, /^Duration: 2\.?\d*s, Total samples = /m)
  assert.match(top, /flat%/)
  const raw = pprof(running, cpu, '-raw')
  assert.match(raw, /^PeriodType: cpu nanoseconds\nPeriod: 10000000$/m)
  assert.match(raw, /\/\.build\/[\w-]+\.js:\d+/, 'files and lines')
  assert.doesNotMatch(raw, /\((idle|root)\)/)

  const [allocs] = await Promise.all([running.get('/debug/pprof/allocs?seconds=1'), running.get('/openapi/v2')])
  assert.match(pprof(running, allocs, '-top'), /^Type: alloc_space$/m)
  const heap = await running.get('/debug/pprof/heap?seconds=1&gc=1')
  assert.equal(heap.headers['content-disposition'], 'attachment; filename="heap"')
  assert.match(pprof(running, heap, '-top'), /^Type: inuse_space$/m)
})

test('paths, parameters and errors are those of net/http/pprof', async (t) => {
  const running = await server(t)
  const index = await running.get('/debug/pprof/')
  assert.match(`${index.headers['content-type']}`, /^text\/html/)
  assert.match(index.bytes.toString(), /href="profile"/)
  assert.equal((await running.get('/debug/pprof')).headers.location, '/debug/pprof/')
  assert.match((await running.get('/debug/pprof/cmdline')).bytes.toString(), /\0up\0/)
  assert.match((await running.get('/debug/pprof/symbol')).bytes.toString(), /^num_symbols: 0\n$/)
  for (const name of ['goroutine', 'nothing', 'trace', 'constructor']) {
    const { status, headers, bytes } = await running.get(`/debug/pprof/${name}`)
    assert.deepEqual([status, headers['x-go-pprof'], bytes.toString()], [404, '1', 'Unknown profile\n'])
  }
  const bad = await running.get('/debug/pprof/heap?seconds=-1')
  assert.deepEqual(
    [bad.status, bad.bytes.toString()],
    [400, 'invalid value for "seconds" - must be a positive integer\n'],
  )

  const two = await Promise.all([1, 2].map(() => running.get('/debug/pprof/profile?seconds=2')))
  const refused = two.find(({ status }) => status === 500)
  assert.ok(two.some(({ status }) => status === 200))
  assert.equal(refused?.bytes.toString(), 'Could not enable CPU profiling: cpu profiling already in use\n')
})

test('a client that disconnects ends its profile', async (t) => {
  const running = await server(t)
  const left = new AbortController()
  // It is refused while a probe below, whose connection was ready first, takes its own profile.
  const asked = (async () => {
    while (true) await running.get('/debug/pprof/profile?seconds=600', 's3cret', left.signal)
  })()
  await waitFor(
    'the profile is under way',
    async () => (await running.get('/debug/pprof/profile?seconds=1')).status === 500,
  )
  left.abort()
  await assert.rejects(asked)
  await waitFor(
    'another one can be taken',
    async () => (await running.get('/debug/pprof/profile?seconds=1')).status === 200,
  )
})

test('profiles need permission, and --profiling=false has none', async (t) => {
  const running = await server(t, '--profiling=false')
  assert.equal((await running.get('/debug/pprof/')).status, 404)
  assert.equal((await running.get('/debug/pprof/profile?seconds=1')).status, 404)
  const { status, bytes } = await running.get('/debug/pprof/profile', 'other')
  assert.equal(status, 403)
  assert.match(bytes.toString(), /User \\"jane\\" cannot get path \\"\/debug\/pprof\/profile\\"/)
})
