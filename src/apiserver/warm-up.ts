/**
 * Runs the paths of common requests right after the start, while nobody asks for anything, so that the first real
 * requests find compiled code. They come over an HTTP/2 session that lies in memory; every write is a dry run: nothing is
 * kept, nothing leaves the process.
 */
import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants, performServerHandshake } from 'node:http2'
import { duplexPair } from 'node:stream'
import type { WaitGroup } from './chain/lifetime/wait-group.ts'
import { boundsOf } from './http/bounds/index.ts'
import type { Handler } from './http/exchange.ts'
import { answerStreams, type Http2Peer } from './http/http2/exchange.ts'

/** How often each is asked: about 0.8 s of CPU in all. */
const rounds = 400
/** Watches come rarely, but differ from all others in many places: code that has not met one before is compiled anew for the first. */
const watchRounds = 40
/** A pod has to wait for its namespace's service account, and is refused where nobody makes one. */
const mostRefusals = 3
/** The start is not over when the server listens: whoever waits for it, and the cluster's own parts, come first. */
const pauseMs = 200

const itself: Http2Peer = { clientCertificate: undefined, remoteAddress: '', begin: (request) => request.start(), end() {}, close() {} }

interface Ask {
  /** Watches do not end by themselves. */
  readonly isWatch?: boolean
  readonly method: string
  readonly path: string
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

const configMap = (i: number): unknown => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `warm-up-${i}` }, data: { k: 'v' } })

const namespace = '/api/v1/namespaces/default'

const labels = (i: number): unknown => ({ 'kubernetes.io/metadata.name': 'default', 'warm-up': String(i) })

const asks: readonly ((i: number) => Ask)[] = [
  (i) => ({ method: 'POST', path: `${namespace}/pods?dryRun=All`, body: pod(i) }),
  (i) => ({ method: 'POST', path: `${namespace}/configmaps?dryRun=All`, body: configMap(i) }),
  (i) => ({ method: 'PUT', path: `${namespace}?dryRun=All`, body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', labels: labels(i) } } }),
  (i) => ({ method: 'PATCH', path: `${namespace}?dryRun=All`, body: { metadata: { labels: labels(i) } }, type: 'application/merge-patch+json' }),
  // Of one that every cluster has. A body would hide what the query asks for.
  () => ({ method: 'DELETE', path: '/apis/rbac.authorization.k8s.io/v1/clusterroles/view?dryRun=All' }),
  () => ({ method: 'GET', path: namespace }),
  () => ({ method: 'GET', path: '/api/v1/namespaces?limit=500' }),
  () => ({ method: 'GET', path: '/api/v1/namespaces?watch=1&resourceVersion=0', isWatch: true }),
]

/** Resolves when the answer was read: whether it was what was asked for. */
async function ask(session: ClientHttp2Session, { method, path, body, type = 'application/json', isWatch }: Ask): Promise<boolean> {
  const headers = { ':method': method, ':path': path, accept: 'application/json', 'user-agent': 'warm-up' }
  const stream = session.request(body === undefined ? headers : { ...headers, 'content-type': type }, { endStream: body === undefined })
  if (body !== undefined) stream.end(JSON.stringify(body))
  stream.resume()
  let status = 0
  stream.on('response', (answer) => {
    status = answer[':status'] ?? 0
    if (isWatch) stream.close(constants.NGHTTP2_CANCEL)
  })
  await once(stream, 'close')
  return status < 400
}

/** Starts in the background, after a pause. `handler` is not asked while requests are under way in the group. The returned function ends it. */
export function warmUp(handler: Handler, waitGroup: WaitGroup): () => void {
  let end = (): void => clearTimeout(pause)
  const pause = setTimeout(() => {
    end = begin(handler, waitGroup)
  }, pauseMs).unref()
  return () => end()
}

function begin(handler: Handler, waitGroup: WaitGroup): () => void {
  const [near, far] = duplexPair()
  const server = performServerHandshake(far)
  server.on('stream', answerStreams(handler, itself, boundsOf()))
  const client = connect('http://warm-up', { createConnection: () => near })
  for (const session of [server, client]) session.on('error', () => {})
  let hasEnded = false
  const end = (): void => {
    if (hasEnded) return
    hasEnded = true
    // A session that is destroyed while it reads, which whoever ends this may be called from, sends for ever (Node 24).
    setImmediate(() => {
      client.destroy()
      server.destroy()
    })
  }
  const run = async (askOf: (i: number) => Ask): Promise<void> => {
    const most = askOf(0).isWatch ? watchRounds : rounds
    for (let i = 0, refusals = 0; i < most && refusals < mostRefusals && !hasEnded && !waitGroup.stopping; ) {
      // Real requests come first.
      if (waitGroup.running > 0) await new Promise((resolve) => setTimeout(resolve, 20).unref())
      else if (!(await ask(client, askOf(i++)))) refusals++
    }
  }
  Promise.all(asks.map(run)).then(end, end)
  return end
}
