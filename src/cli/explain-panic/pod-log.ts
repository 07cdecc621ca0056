/** Streams the log of a pod's container through the API. */
import { Connection } from '../../client/connection/connection.ts'
import { ConnectionLost } from '../../client/connection/connection-lost.ts'
import { loadAccess } from '../../client/connection/load-access.ts'
import { pods } from '../../client/kinds.ts'
import { objectPath } from '../../client/resource.ts'
import { openStream, readBody } from '../../client/rest/response.ts'
import { clusterEnvironment } from '../../kubeconfig/find-cluster.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { StatusError } from '../../machinery/status-error.ts'

export interface PodLogOptions {
  readonly pod: string
  readonly container?: string
  readonly previous?: boolean
  readonly namespace?: string
  readonly kubeconfig?: string
  readonly context?: string
}

/** Timeout for reading a log, in ms. */
const readTimeoutMs = 600_000
/** Timeout until the response begins, in ms. */
const responseTimeoutMs = 30_000

/** Yields the text of the log. Throws ExplainedErrors. */
export async function* podLog({
  pod,
  container,
  previous,
  namespace,
  kubeconfig,
  context,
}: PodLogOptions): AsyncGenerator<string> {
  const { namespace: defaultNamespace, ...access } = await loadAccess({
    kubeconfig,
    context,
    environment: await clusterEnvironment({ kubeconfig, context }),
  })
  const podNamespace = namespace ?? defaultNamespace
  const query = new URLSearchParams({
    ...(container && { container }),
    ...(previous && { previous: 'true' }),
  }).toString()
  const path = `${objectPath(pods, podNamespace, pod, 'log')}${query && `?${query}`}`
  const connection = new Connection(access)
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), responseTimeoutMs)
  try {
    const request = {
      method: 'GET',
      path,
      accept: 'application/json, */*',
      timeoutMs: readTimeoutMs,
      signal: abort.signal,
    }
    const response = await openStream(connection, request)
    clearTimeout(timer)
    const decoder = new TextDecoder()
    for await (const piece of readBody(request, response)) yield decoder.decode(piece, { stream: true })
  } catch (error) {
    if (error instanceof StatusError) throw new ExplainedError(rejection(error, pod, podNamespace), { cause: error })
    if (abort.signal.aborted || error instanceof ConnectionLost) {
      // The message already names the pod, so the name of the request is removed.
      const why = abort.signal.aborted
        ? `${access.url} did not respond within ${responseTimeoutMs / 1000} s`
        : reasonOf(error).replace(`GET ${path}: `, '')
      throw new ExplainedError(`cannot read the log of pod ${pod}: ${why}; is the cluster running?`, { cause: error })
    }
    throw error
  } finally {
    clearTimeout(timer)
    connection.close()
  }
}

function rejection({ code, message }: StatusError, pod: string, namespace: string): string {
  const next = nextStep(code, message)
  return (
    `cannot read the log of pod ${pod} in the namespace ${namespace}: ` +
    `${message.trim().replace(/\.$/, '')}${next && `; ${next}`}`
  )
}

function nextStep(code: number, message: string): string {
  if (/container name must be specified/.test(message)) return 'choose one with -c NAME'
  if (/previous terminated container/.test(message))
    return 'the container was not restarted: omit --previous to read its current log'
  if (code === 404) return 'check the namespace (-n) with kubectl get pods -A'
  if (code === 401 || code === 403)
    return 'use a kubeconfig with permission to get pods/log: --kubeconfig FILE, --context NAME'
  if (code >= 500) return 'the node may be down: check it with kubectl get nodes'
  return ''
}
