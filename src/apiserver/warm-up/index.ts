/**
 * Sends common requests right after the start, while the server is idle, so that the first real requests run compiled
 * code; and once more after a garbage collection while idle has dropped some of it. The requests use an HTTP/2 session
 * in memory; every write is a dry run: nothing is stored, nothing leaves the process.
 */
import { performServerHandshake } from 'node:http2'
import { duplexPair } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { boundsOf } from '../http/bounds/index.ts'
import type { Handler, Request, Response } from '../http/exchange.ts'
import { answerStreams, type Http2Peer } from '../http/http2/exchange.ts'
import type { WaitGroup } from '../http/wait-group.ts'
import { FrameClient, type FrameRequest } from './frame-client.ts'

/** Requests of each kind: about 0.6 s of CPU in total. */
const firstRounds = 400
/** Requests of each kind after a garbage collection: enough for shared code. */
const laterRounds = 100
/**
 * The share of watches. Watches are rare, but take other branches than all other requests: the first one would
 * recompile the code.
 */
const watchShare = 0.1
/** Rejections of a kind before it is skipped: pods are rejected where nobody creates service accounts. */
const maxRejections = 3
/** Waits after the server listens, because its first clients and the cluster's components come first. */
const pauseMs = 200
/** Waits at most this long for the programs that start with the server. */
const maxWaitMs = 5_000
/** Gives up after this time: then steady requests have warmed up the server. */
const maxDurationMs = 30_000

const localPeer: Http2Peer = {
  clientCertificate: undefined,
  remoteAddress: '',
  begin: (request) => request.start(),
  end() {},
  close() {},
}

interface WarmUpRequest {
  /** Watches must be cancelled. */
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

const requests: readonly ((i: number) => WarmUpRequest)[] = [
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
  // Every cluster has this role. A body would override the query.
  () => ({ method: 'DELETE', path: '/apis/rbac.authorization.k8s.io/v1/clusterroles/view', query: 'dryRun=All' }),
  () => ({ method: 'GET', path: namespace }),
  () => ({ method: 'GET', path: '/api/v1/namespaces', query: 'limit=500' }),
  () => ({ method: 'GET', path: '/api/v1/namespaces', query: 'watch=1&resourceVersion=0', isWatch: true }),
]

export interface WarmUp {
  /** Sends some more requests, after a garbage collection has dropped compiled code. */
  repeat(): void
  end(): void
}

export interface WarmUpOptions {
  readonly handler: Handler
  /** No requests are sent while real requests are in progress. */
  readonly waitGroup: WaitGroup
  /** Returns false if webhooks would be called for writes. */
  mayWrite(): boolean
  /** Resolves when the programs that start with the server have started. Default: it waits for none. */
  readonly after?: Promise<void> | undefined
}

/** Starts in the background, after a pause. */
export function warmUp(options: WarmUpOptions): WarmUp {
  const ending = new AbortController()
  const pause = (ms: number): Promise<void> => delay<void>(ms, undefined, { ref: false })
  let warm = Promise.race([options.after, pause(maxWaitMs)]).then(() => pause(pauseMs))
  const send = (rounds: number): void => {
    warm = warm.then(() => sendAll(options, rounds, ending.signal))
  }
  send(firstRounds)
  return { repeat: () => send(laterRounds), end: () => ending.abort() }
}

/** Never rejects: requests may fail or be aborted. */
async function sendAll(
  { handler, waitGroup, mayWrite }: WarmUpOptions,
  rounds: number,
  signal: AbortSignal,
): Promise<void> {
  const rejections = new Map<string, number>()
  const rejectionsOf = (kind: string): number => rejections.get(kind) ?? 0
  const countRejection = (request: Request, answer: Response): Response => {
    if (answer.status >= 400) rejections.set(kindOf(request), rejectionsOf(kindOf(request)) + 1)
    return answer
  }
  const countingHandler: Handler = (request) => {
    const answer = handler(request)
    return answer instanceof Promise
      ? answer.then((later) => countRejection(request, later))
      : countRejection(request, answer)
  }
  const [near, far] = duplexPair()
  const server = performServerHandshake(far)
  server.on('stream', answerStreams(countingHandler, localPeer, boundsOf()))
  server.on('error', () => {})
  const client = new FrameClient(near)
  // `end` may be called while the session reads: destroying it then would make it send forever (Node 24).
  const close = (): void => {
    setImmediate(() => {
      client.close()
      server.destroy()
    })
  }
  const until = performance.now() + maxDurationMs
  const run = async (requestFor: (i: number) => WarmUpRequest): Promise<void> => {
    const first = requestFor(0)
    const kind = kindOf(first)
    const most = first.isWatch ? rounds * watchShare : rounds
    for (let i = 0; i < most && rejectionsOf(kind) < maxRejections; ) {
      if (signal.aborted || waitGroup.stopping || performance.now() > until) return
      if (first.method !== 'GET' && !mayWrite()) return
      // Real requests come first.
      if (waitGroup.running > 0) await delay(20, undefined, { ref: false })
      else await client.request(requestOf(requestFor(i++)))
    }
  }
  signal.addEventListener('abort', close, { once: true })
  await Promise.all(requests.map(run))
  signal.removeEventListener('abort', close)
  close()
}

const kindOf = ({ method, path }: { readonly method: string; readonly path: string }): string => `${method} ${path}`

function requestOf({ method, path, query, body, type = 'application/json', isWatch }: WarmUpRequest): FrameRequest {
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
