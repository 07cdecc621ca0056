/** The clients of a round that read: informers, listers, and watches from revisions of the past. */
import { anyScope, list, runLister } from './clients/listers.ts'
import type { Target } from './clients/target.ts'
import { Informer, runHistorian } from './clients/watchers.ts'
import { pick } from './clients/writers.ts'
import { kinds, namespaces, shards } from './objects.ts'
import type { Scope } from './scope.ts'

/** Creates informers of kinds, namespaces and selectors, in all styles. */
export function makeInformers(target: Target): Informer[] {
  const scopes: Scope[] = [
    ...kinds.map((kind) => ({ kind })),
    ...kinds.map((kind) => ({ kind, shard: pick(shards) })),
    ...kinds.map((kind) => ({ kind, namespace: pick(namespaces) })),
    ...kinds.map((kind) => ({ kind, namespace: pick(namespaces), shard: pick(shards) })),
  ]
  return scopes.map(
    (scope, i) => new Informer(target, `informer ${i % 6}`, scope, pick(['whole', 'pages', 'streamed'])),
  )
}

/** Starts clients that list and watch until `signal` aborts. */
export function startReaders(target: Target, revision: () => number, signal: AbortSignal): Promise<unknown>[] {
  const lister = { scope: anyScope, revision, restMs: 300 }
  return [0, 1, 2, 3].flatMap((i) => [
    runLister(target, `lister ${i}`, lister, signal),
    runHistorian(target, `historian ${i}`, anyScope, revision, signal),
  ])
}

/** Records the caches of the informers, and a last list of each kind. */
export async function observeEnd(target: Target, informers: readonly Informer[]): Promise<void> {
  for (const informer of informers) {
    const cache = informer.cache()
    if (cache) target.observations.push(cache)
  }
  const connection = (await target.connection('last'))!
  await Promise.all(
    kinds.map((kind) => list(target, connection, { scope: { kind }, mode: 'newest', label: 'the last list' })),
  )
}
