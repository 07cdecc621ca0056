/**
 * Runs the paths of common requests right after the start, while nobody asks for anything, so that the first real
 * requests find compiled code: they take half the time. Everything is a dry run; nothing is kept, nothing leaves the process.
 */
import type { WaitGroup } from './chain/wait-group.ts'
import type { Handler, Request } from './http/exchange.ts'
import { requestInfo } from './request/request-info.ts'

/** Rounds, each of a handful of requests: about 0.3 s of CPU in all. */
const rounds = 500

const noQuery = new URLSearchParams()

function request(method: string, target: string, body?: unknown, type = 'application/json'): Request {
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const query = mark < 0 ? noQuery : new URLSearchParams(target.slice(mark + 1))
  const headers: Record<string, string> = { accept: 'application/json', 'content-type': type, 'user-agent': 'warm-up' }
  return {
    method,
    path,
    query,
    header: (name) => headers[name],
    headerNames: () => Object.keys(headers),
    clientCertificate: () => undefined,
    remoteAddress: '',
    protocol: 'HTTP/2',
    body: async () => Buffer.from(body === undefined ? '' : JSON.stringify(body)),
    onClose: () => {},
    received: performance.now(),
    info: requestInfo(method, path, query),
    user: { name: 'system:apiserver', groups: ['system:masters'] },
    warnings: [],
  }
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

function* requests(): Generator<Request> {
  const core = '/api/v1/namespaces/default'
  for (let i = 0; i < rounds; i++) {
    yield request('POST', `${core}/pods?dryRun=All`, pod(i))
    yield request('POST', `${core}/configmaps?dryRun=All`, configMap(i))
    yield request('PATCH', `${core}?dryRun=All`, { metadata: { labels: { i: String(i) } } }, 'application/merge-patch+json')
    yield request('GET', core)
    yield request('GET', '/api/v1/namespaces?limit=500')
  }
}

/** Starts in the background. The returned function ends it. */
export function warmUp(handler: Handler, waitGroup: WaitGroup): () => void {
  const pending = requests()
  let stopped = false
  const next = (): void => {
    if (stopped || waitGroup.stopping) return
    // Real requests come first.
    if (waitGroup.running > 0) {
      setTimeout(next, 20).unref()
      return
    }
    const { value, done } = pending.next()
    if (!done) handler(value).then(schedule, schedule)
  }
  const schedule = (): void => {
    setImmediate(next)
  }
  schedule()
  return () => {
    stopped = true
  }
}
