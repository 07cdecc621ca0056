/**
 * Sends random and broken requests to a server for `FUZZ_SECONDS` (60 in CI, 10 elsewhere). It must answer each with a
 * Status or a text below 500, or with one of the known errors; it must not hang or crash, and all stored objects must
 * be readable. `FUZZ_SEED` repeats the requests of a run, but not the order in which they arrive.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { allResources } from '../../src/api/registry.ts'
import { sendBroken } from './broken-http.ts'
import { checkAnswer, type FuzzAnswer } from './check-answer.ts'
import { Random } from './random.ts'
import { Corpus, collectionPath, type FuzzRequest, isWatch, keyOf, randomRequest } from './requests.ts'
import { samples } from './samples.ts'

const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 32))
const seconds = Number(process.env.FUZZ_SECONDS ?? (process.env.CI === 'true' ? 30 : 10))
const hangMs = 30_000
const workers = 16
/** The run ends early after this many different findings. */
const maxFindings = 20

interface Server {
  readonly port: number
  readonly process: ChildProcess
  readonly logged: string[]
  readonly output: () => string
}

async function startServer(t: TestContext): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'server.ts'), { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  t.after(() => child.kill('SIGKILL'))
  const logged: string[] = []
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const port = await new Promise<number>((resolve, reject) => {
    child.on('message', (message: { port?: number; logged?: string }) => {
      if (message.logged !== undefined) logged.push(message.logged)
      if (message.port !== undefined) resolve(message.port)
    })
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}:\n${output}`)))
  })
  return { port, process: child, logged, output: () => output }
}

/** Sends one request; rejects if it takes too long or the connection breaks. */
type Send = (request: FuzzRequest) => Promise<FuzzAnswer>

/** Watches are closed after this time. */
const watchMs = 50

function http2Sender(port: number): Send {
  let session: ClientHttp2Session | undefined
  const openSession = (): ClientHttp2Session => {
    if (session && !session.closed && !session.destroyed) return session
    session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    session.on('error', () => {})
    session.unref()
    return session
  }
  return ({ method, path, headers, body }) =>
    new Promise((resolve, reject) => {
      const stream = openSession().request(
        { ':method': method, ':path': path, ...headers },
        { endStream: body === undefined },
      )
      const chunks: Buffer[] = []
      let status = 0
      let contentType = ''
      const timer = setTimeout(() => {
        reject(new Error(`no answer in ${hangMs} ms`))
        stream.close(constants.NGHTTP2_CANCEL)
      }, hangMs)
      let watchTimer: NodeJS.Timeout | undefined
      stream.on('response', (received) => {
        status = Number(received[':status'])
        // Compressed bodies are not checked.
        contentType = received['content-encoding'] ? '' : String(received['content-type'] ?? '')
        if (status === 200 && isWatch({ method, path, headers }))
          watchTimer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), watchMs)
      })
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('error', (error) => {
        clearTimeout(timer)
        if (status === 0) reject(error)
      })
      stream.on('close', () => {
        clearTimeout(timer)
        clearTimeout(watchTimer)
        if (status === 0) reject(new Error(`the stream was reset with ${stream.rstCode}`))
        else resolve({ status, contentType, bytes: Buffer.concat(chunks) })
      })
      if (body !== undefined) stream.end(body)
    })
}

function http1Sender(t: TestContext, port: number): Send {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  t.after(() => agent.destroy())
  return (request) =>
    new Promise((resolve, reject) => {
      const { method, path, headers, body } = request
      const sent = httpsRequest({
        port,
        host: '127.0.0.1',
        method,
        path,
        headers: { ...headers, ...(body && { 'content-length': String(body.length) }) },
        agent,
      })
      const timer = setTimeout(() => sent.destroy(new Error(`no answer in ${hangMs} ms`)), hangMs)
      sent.on('error', (error) => {
        clearTimeout(timer)
        reject(error)
      })
      sent.on('response', (response) => {
        const chunks: Buffer[] = []
        const done = (): void => {
          clearTimeout(timer)
          clearTimeout(moment)
          resolve({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-encoding'] ? '' : (response.headers['content-type'] ?? ''),
            bytes: Buffer.concat(chunks),
          })
        }
        const moment =
          response.statusCode === 200 && isWatch(request) ? setTimeout(() => response.destroy(), watchMs) : undefined
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', done)
        response.on('close', done)
      })
      sent.end(body)
    })
}

const describeRequest = ({ method, path, headers, body }: FuzzRequest): string => {
  const { authorization: _, ...rest } = headers
  const lines = [`${method} ${path.slice(0, 500)}`, JSON.stringify(rest)]
  if (body && body.length > 1500) lines.push(`${body.toString().slice(0, 1500)}… (${body.length} bytes)`)
  else if (body) lines.push(body.toString())
  return lines.join('\n    ')
}

/**
 * The log line of a controller whose request was rejected: `replicaset-controller: default/a: pods "a-x" is forbidden:
 * …`.
 */
const refusalLog = new RegExp(
  String.raw`^(?:[\w-]+|the garbage collector [^:]*): .*(?:forbidden: User "` +
    String.raw`|\bis forbidden: |" not found$|" already exists$|\bis invalid: )`,
  's',
)

/** Identifies a finding: those that differ only in names and numbers are the same. */
const signature = (what: string): string =>
  what
    .replace(/"[^"]*"/g, '"…"')
    .replace(/\d+/g, '0')
    .slice(0, 120)

test(`random requests for ${seconds} s are answered properly (FUZZ_SEED=${seed})`, {
  timeout: (seconds + 100) * 1000,
}, async (t) => {
  console.log(`FUZZ_SEED=${seed} FUZZ_SECONDS=${seconds}`)
  const server = await startServer(t)
  const corpus = new Corpus()
  const findings = new Map<string, string>()
  const addFinding = (what: string, request?: FuzzRequest): void => {
    const key = signature(what)
    if (!findings.has(key)) findings.set(key, `${what}${request ? `\n  ${describeRequest(request)}` : ''}`)
  }
  const counts = new Map<number, number>()
  const deadline = performance.now() + seconds * 1000
  const isOver = (): boolean =>
    performance.now() > deadline ||
    findings.size >= maxFindings ||
    server.process.exitCode !== null ||
    server.process.signalCode !== null

  const first = http2Sender(server.port)
  await first({
    method: 'POST',
    path: '/api/v1/namespaces',
    headers: { authorization: 'Bearer fuzz' },
    body: Buffer.from('{"metadata":{"name":"fuzz"}}'),
  })
  // The user with few rights may read everything and change roles, so that all its writes of roles are checked for
  // privilege escalation.
  const rules = [
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['create', 'update', 'patch'] },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests', 'certificatesigningrequests/approval'],
      verbs: ['*'],
    },
    { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch', 'patch'] },
  ]
  const subjects = [{ kind: 'User', name: 'few', apiGroup: 'rbac.authorization.k8s.io' }]
  for (const [kind, object] of [
    ['clusterroles', { metadata: { name: 'few' }, rules }],
    [
      'clusterrolebindings',
      {
        metadata: { name: 'few' },
        roleRef: { kind: 'ClusterRole', name: 'few', apiGroup: 'rbac.authorization.k8s.io' },
        subjects,
      },
    ],
  ] as const) {
    const headers = { authorization: 'Bearer fuzz', 'content-type': 'application/json' }
    const { status } = await first({
      method: 'POST',
      path: `/apis/rbac.authorization.k8s.io/v1/${kind}`,
      headers,
      body: Buffer.from(JSON.stringify(object)),
    })
    assert.equal(status, 201)
  }
  for (const sample of samples) corpus.add(`${sample.apiVersion} ${sample.kind}`, sample)
  const work = async (id: number): Promise<void> => {
    const r = new Random(seed + id * 7919)
    const senders = [http2Sender(server.port), http1Sender(t, server.port)]
    while (!isOver()) {
      const request = randomRequest(r, corpus)
      try {
        const answer = await r.pick(senders)(request)
        counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1)
        const problem = checkAnswer(request, answer)
        if (problem) addFinding(problem, request)
        if (answer.status === 201 && answer.contentType === 'application/json') {
          const object = JSON.parse(answer.bytes.toString()) as {
            apiVersion?: string
            kind?: string
            metadata?: { resourceVersion?: string }
          }
          if (object.metadata?.resourceVersion) corpus.add(`${object.apiVersion} ${object.kind}`, object)
        }
      } catch (error) {
        addFinding((error as Error).message, request)
      }
    }
  }
  const sendBrokenBytes = async (): Promise<void> => {
    const r = new Random(seed - 1)
    while (!isOver()) {
      const problem = await sendBroken(r, server.port)
      if (problem) addFinding(problem)
    }
  }
  await Promise.all([...Array.from({ length: workers }, (_, id) => work(id)), sendBrokenBytes()])

  assert.equal(
    server.process.exitCode ?? server.process.signalCode,
    null,
    `the server ended:\n${server.output()}\n${[...findings.values()].join('\n')}`,
  )
  await checkStoredObjects(http1Sender(t, server.port), addFinding)
  // The server logs unexpected errors. Controllers may log rejected requests: random requests remove roles, set quotas
  // and delete objects that a controller is working on.
  for (const line of server.logged) if (!refusalLog.test(line)) addFinding(`logged: ${line}`)
  t.diagnostic(
    `${[...counts.values()].reduce((sum, n) => sum + n, 0)} requests: ${[...counts]
      .sort(([a], [b]) => a - b)
      .map(([status, n]) => `${status}: ${n}`)
      .join(', ')}`,
  )
  assert.equal(findings.size, 0, `FUZZ_SEED=${seed}: ${findings.size} findings\n${[...findings.values()].join('\n')}`)
})

/** Checks that all objects can be listed in each format and read one by one. */
async function checkStoredObjects(send: Send, found: (what: string, request?: FuzzRequest) => void): Promise<void> {
  const get = async (path: string, accept: string): Promise<FuzzAnswer> => {
    const request: FuzzRequest = { method: 'GET', path, headers: { authorization: 'Bearer fuzz', accept } }
    const answer = await send(request)
    const problem =
      answer.status === 200
        ? checkAnswer(request, answer)
        : `status ${answer.status} after the run: ${answer.bytes.toString().slice(0, 1000)}`
    if (problem) found(problem, request)
    return answer
  }
  for (const definition of allResources) {
    if (definition.verbs && !definition.verbs.includes('list')) continue
    const path = collectionPath(definition, '')
    for (const accept of [
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      'application/yaml',
    ])
      await get(path, accept)
    const { status, bytes } = await get(path, 'application/json')
    if (status !== 200) continue
    const { items } = JSON.parse(bytes.toString()) as { items: { metadata: { name: string; namespace?: string } }[] }
    for (const item of items.slice(0, 50)) {
      const one = await get(
        `${collectionPath(definition, item.metadata.namespace ?? '')}/${encodeURIComponent(item.metadata.name)}`,
        'application/json',
      )
      if (one.status !== 200) continue
      const { kind, apiVersion, ...rest } = JSON.parse(one.bytes.toString()) as Record<string, unknown>
      if (JSON.stringify(rest) !== JSON.stringify(item))
        found(`${keyOf(definition)} differs between get and list: ${kind} ${apiVersion} ${item.metadata.name}`)
    }
  }
}
