/** Waits until nodes, pods and the objects that make pods are ready. */
import { whyNotReady } from '../../client/conditions/readiness.ts'
import { Informer } from '../../client/informers/informer.ts'
import { daemonSets, deployments, nodes, pods, statefulSets } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'

const kinds = [nodes, deployments, statefulSets, daemonSets, pods].map(
  (resource): Resource<Unstructured> => ({ ...resource, objects: undefined }),
)
/** More are not named in the error. */
const namedObjects = 5

/**
 * Resolves when all are ready; pods that have succeeded count as ready. Rejects with an ExplainedError that names what
 * is not after `timeoutMs`.
 */
export async function everythingReady(client: RestClient, timeoutMs: number): Promise<void> {
  const stopping = new AbortController()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const informers = kinds.map((resource) => new Informer({ client, resource, log: () => {} }))
  const missing = (): string[] =>
    informers.flatMap((informer) => [...informer.all()].flatMap((object) => problemOf(object) ?? []))
  const check = (): void => {
    if (informers.every(({ hasSynced }) => hasSynced) && missing().length === 0) resolve()
  }
  for (const informer of informers) informer.onChange(check)
  const runs = informers.map((informer) => informer.run(stopping.signal, check))
  const timer = setTimeout(() => reject(tooLate(missing(), timeoutMs)), timeoutMs)
  try {
    await promise
  } finally {
    clearTimeout(timer)
    stopping.abort()
    await Promise.all(runs)
  }
}

const hasSucceeded = ({ kind, status }: Unstructured): boolean =>
  kind === 'Pod' && (status as { readonly phase?: string } | undefined)?.phase === 'Succeeded'

function problemOf(object: Unstructured): string | undefined {
  const reason = hasSucceeded(object) ? undefined : whyNotReady(object)
  return reason && `${nameOf(object)}: ${reason}`
}

const nameOf = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  `${kind} ${namespace ? `${namespace}/` : ''}${name}`

function tooLate(missing: readonly string[], timeoutMs: number): ExplainedError {
  const more = missing.length > namedObjects ? [`and ${missing.length - namedObjects} more`] : []
  const lines = [...missing.slice(0, namedObjects), ...more].map((line) => `  ${line}`)
  return new ExplainedError(
    [`the cluster is not ready after ${timeoutMs / 1000} s (--wait sets another time):`, ...lines].join('\n'),
  )
}
