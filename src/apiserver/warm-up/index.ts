/**
 * Runs the paths of common requests right after the start, while nobody asks for anything, so that the first real
 * requests find compiled code; and again when a collection in a quiet moment has thrown some of it away. They come over
 * an HTTP/2 session that lies in memory; every write is a dry run: nothing is kept, nothing leaves the process.
 */
import { performServerHandshake } from 'node:http2'
import { duplexPair } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { boundsOf } from '../http/bounds/index.ts'
import type { Handler, Request, Response } from '../http/exchange.ts'
import { answerStreams, type Http2Peer } from '../http/http2/exchange.ts'
import type { WaitGroup } from '../http/wait-group.ts'
import { FrameClient, type FrameRequest } from './frame-client.ts'

/** How often each is asked: about 0.6 s of CPU in all. */
const firstRounds = 400
/** After a collection: enough for what many of them share. */
const laterRounds = 100
/**
 * Watches come rarely, but differ from all others in many places: code that has not met one before is compiled anew for
 * the first.
 */
const watchShare = 0.1
/** A pod has to wait for its namespace's service account, and is refused where nobody makes one. */
const mostRefusals = 3
/** The start is not over when the server listens: whoever waits for it, and the cluster's own parts, come first. */
const pauseMs = 200
/** Where others ask all the time, it is they who warm it up. */
const mostMs = 30_000

const itself: Http2Peer = {
  clientCertificate: undefined,
  remoteAddress: '',
  begin: (request) => request.start(),
  end() {},
  close() {},
}

interface Ask {
  /** Watches do not end by themselves. */
  readonly isWatch?: boolean
  readonly method: string
  readonly path: string
  readonly query?: string
  readonly body?: unknown
  readonly type?: string
}

const pod = (i: number): unknown => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `warm-up-${i}`, labels: { app: 'warm-up' }, annotations: { note: 'never kept' } },
  spec: {
    containers: [
      {
        name: 'main',
        image: 'example/app:1',
        command: ['sleep', '1000'],
        env: [{ name: 'A', value: '1' }],
        ports: [{ containerPort: 8080 }],
        resources: { requests: { cpu: '10m', memory: '16Mi' } },
        readinessProbe: { httpGet: { path: '/healthz', port: 8080 } },
      },
    ],
  },
})

const configMap = (i: number): unknown => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `warm-up-${i}` },
  data: { k: 'v' },
})

const namespace = '/api/v1/namespaces/default'

const labels = (i: number): unknown => ({ 'kubernetes.io/metadata.name': 'default', 'warm-up': String(i) })

const asks: readonly ((i: number) => Ask)[] = [
  (i) => ({ method: 'POST', path: `${namespace}/pods`, query: 'dryRun=All', body: pod(i) }),
  (i) => ({ method: 'POST', path: `${namespace}/configmaps`, query: 'dryRun=All', body: configMap(i) }),
  (i) => ({
    method: 'PUT',
    path: namespace,
    query: 'dryRun=All',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', labels: labels(i) } },
  }),
  (i) => ({
    method: 'PATCH',
    path: namespace,
    query: 'dryRun=All',
    body: { metadata: { labels: labels(i) } },
    type: 'application/merge-patch+json',
  }),
  // Of one that every cluster has. A body would hide what the query asks for.
  () => ({ method: 'DELETE', path: '/apis/rbac.authorization.k8s.io/v1/clusterroles/view', query: 'dryRun=All' }),
  () => ({ method: 'GET', path: namespace }),
  () => ({ method: 'GET', path: '/api/v1/namespaces', query: 'limit=500' }),
  () => ({ method: 'GET', path: '/api/v1/namespaces', query: 'watch=1&resourceVersion=0', isWatch: true }),
]

export interface WarmUp {
  /** Asks a few times more: what a collection has thrown away is compiled anew. */
  again(): void
  end(): void
}

export interface WarmUpOptions {
  readonly handler: Handler
  /** Nothing is asked while its requests are under way. */
  readonly waitGroup: WaitGroup
  /** Nothing is written where webhooks would be asked about it. */
  mayWrite(): boolean
}

/** Starts in the background, after a pause. */
export function warmUp(options: WarmUpOptions): WarmUp {
  const ending = new AbortController()
  let warm = delay<void>(pauseMs, undefined, { ref: false })
  const ask = (rounds: number): void => {
    warm = warm.then(() => askAll(options, rounds, ending.signal))
  }
  ask(firstRounds)
  return { again: () => ask(laterRounds), end: () => ending.abort() }
}

/** Never rejects: what is asked may fail, and end before its time. */
async function askAll(
  { handler, waitGroup, mayWrite }: WarmUpOptions,
  rounds: number,
  signal: AbortSignal,
): Promise<void> {
  const refusals = new Map<string, number>()
  const refusalsOf = (kind: string): number => refusals.get(kind) ?? 0
  const noted = (request: Request, answer: Response): Response => {
    if (answer.status >= 400) refusals.set(kindOf(request), refusalsOf(kindOf(request)) + 1)
    return answer
  }
  const noting: Handler = (request) => {
    const answer = handler(request)
    return answer instanceof Promise ? answer.then((later) => noted(request, later)) : noted(request, answer)
  }
  const [near, far] = duplexPair()
  const server = performServerHandshake(far)
  server.on('stream', answerStreams(noting, itself, boundsOf()))
  server.on('error', () => {})
  const client = new FrameClient(near)
  // A session that is destroyed while it reads, which whoever ends this may be called from, sends for ever (Node 24).
  const close = (): void => {
    setImmediate(() => {
      client.close()
      server.destroy()
    })
  }
  const until = performance.now() + mostMs
  const run = async (askOf: (i: number) => Ask): Promise<void> => {
    const first = askOf(0)
    const kind = kindOf(first)
    const most = first.isWatch ? rounds * watchShare : rounds
    for (let i = 0; i < most && refusalsOf(kind) < mostRefusals; ) {
      if (signal.aborted || waitGroup.stopping || performance.now() > until) return
      if (first.method !== 'GET' && !mayWrite()) return
      // Real requests come first.
      if (waitGroup.running > 0) await delay(20, undefined, { ref: false })
      else await client.ask(requestOf(askOf(i++)))
    }
  }
  signal.addEventListener('abort', close, { once: true })
  await Promise.all(asks.map(run))
  signal.removeEventListener('abort', close)
  close()
}

const kindOf = ({ method, path }: { readonly method: string; readonly path: string }): string => `${method} ${path}`

function requestOf({ method, path, query, body, type = 'application/json', isWatch }: Ask): FrameRequest {
  const target = query ? `${path}?${query}` : path
  const headers = {
    ':method': method,
    ':scheme': 'http',
    ':authority': 'warm-up',
    ':path': target,
    accept: 'application/json',
    'user-agent': 'warm-up',
  }
  if (body === undefined) return { headers, isWatch }
  const bytes = Buffer.from(JSON.stringify(body))
  return { headers: { ...headers, 'content-type': type, 'content-length': String(bytes.length) }, body: bytes }
}
