/** The log of a pod's container through the API, piece by piece. */
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

/** A log takes as long to read. Milliseconds. */
const readTimeoutMs = 600_000
/** A server that is not there is given up after this. Milliseconds. */
const answerTimeoutMs = 30_000

/** Throws ExplainedErrors that say what to do. */
export async function* podLog({
  pod,
  container,
  previous,
  namespace,
  kubeconfig,
  context,
}: PodLogOptions): AsyncGenerator<string> {
  const { namespace: usual, ...access } = await loadAccess({
    kubeconfig,
    context,
    environment: await clusterEnvironment({ kubeconfig, context }),
  })
  const place = namespace ?? usual
  const query = new URLSearchParams({
    ...(container && { container }),
    ...(previous && { previous: 'true' }),
  }).toString()
  const path = `${objectPath(pods, place, pod, 'log')}${query && `?${query}`}`
  const connection = new Connection(access)
  const giveUp = new AbortController()
  const late = setTimeout(() => giveUp.abort(), answerTimeoutMs)
  try {
    const request = {
      method: 'GET',
      path,
      accept: 'application/json, */*',
      timeoutMs: readTimeoutMs,
      signal: giveUp.signal,
    }
    const answer = await openStream(connection, request)
    clearTimeout(late)
    const decoder = new TextDecoder()
    for await (const piece of readBody(request, answer)) yield decoder.decode(piece, { stream: true })
  } catch (error) {
    if (error instanceof StatusError) throw new ExplainedError(refusal(error, pod, place), { cause: error })
    if (giveUp.signal.aborted || error instanceof ConnectionLost) {
      // Which request that was is said already.
      const why = giveUp.signal.aborted
        ? `${access.url} did not answer within ${answerTimeoutMs / 1000} s`
        : reasonOf(error).replace(`GET ${path}: `, '')
      throw new ExplainedError(`cannot read the log of pod ${pod}: ${why}; is the cluster running?`, { cause: error })
    }
    throw error
  } finally {
    clearTimeout(late)
    connection.close()
  }
}

function refusal({ code, message }: StatusError, pod: string, namespace: string): string {
  const next = nextStep(code, message)
  return (
    `cannot read the log of pod ${pod} in the namespace ${namespace}: ` +
    `${message.trim().replace(/\.$/, '')}${next && `; ${next}`}`
  )
}

function nextStep(code: number, message: string): string {
  if (/container name must be specified/.test(message)) return 'choose one by -c NAME'
  if (/previous terminated container/.test(message))
    return 'it has not been restarted: leave --previous out to read what runs now'
  if (code === 404) return 'name its namespace by -n, and see kubectl get pods -A'
  if (code === 401 || code === 403) return 'use a kubeconfig that may get pods/log: --kubeconfig FILE, --context NAME'
  if (code >= 500) return 'the node may be away: kubectl get nodes'
  return ''
}
