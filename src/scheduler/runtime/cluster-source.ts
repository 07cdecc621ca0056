/** The scheduler's view of the cluster's objects, from informers. Unused fields of pods are not cached. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Discovery, discover } from '../../client/discovery/discovery.ts'
import { ObjectStore } from '../../client/informers/object-store.ts'
import { SharedInformers, transformed } from '../../client/informers/shared-informers.ts'
import { pods } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { ListOptions, RestClient } from '../../client/rest/rest-client.ts'
import { reasonOf } from '../../lib/explained-error.ts'
import type { KubeObject } from '../../machinery/object.ts'
import type { Lister } from '../framework/handle.ts'
import { transformPod } from './transform-pod.ts'

export interface ClusterSource {
  /** Follows a kind from now on. A kind that the server does not have is empty. */
  lister<T extends KubeObject>(resource: Resource<T>): Lister<T>
  /** Resolves when all syncs kinds are synced. */
  synced(): Promise<void>
  stop(): Promise<void>
}

/** Pods that have ended use no resources. */
const notEnded: ListOptions = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' }
const retryMs = 1_000

export interface InformerSourceOptions {
  readonly client: RestClient
  /** True if plug-ins or extenders of others may read any field of a pod. */
  readonly cacheFullPods: boolean
  readonly log: (line: string) => void
  readonly signal: AbortSignal
}

/** Discovers the server's resources first, with retries until `signal` is aborted. */
export async function informerSource({
  client,
  cacheFullPods: keepAll,
  log,
  signal,
}: InformerSourceOptions): Promise<ClusterSource> {
  const served = new Set((await discoverWithRetries(client, log, signal)).resources.map(nameOf))
  const informers = new SharedInformers(
    client,
    log,
    keepAll ? [] : [transformed({ resource: pods, transform: transformPod })],
  )
  const syncs: (() => Promise<void>)[] = []
  return {
    lister(resource) {
      if (!served.has(nameOf(resource))) return emptyLister()
      const selection = nameOf(resource) === nameOf(pods) ? notEnded : {}
      syncs.push(() => informers.synced(resource, selection))
      return informers.of(resource, selection)
    },
    synced: async () => void (await Promise.all(syncs.map((synced) => synced()))),
    stop: () => informers.stop(),
  }
}

const nameOf = ({ group, version, plural }: Resource): string => `${group}/${version}/${plural}`

async function discoverWithRetries(
  client: RestClient,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<Discovery> {
  for (;;) {
    try {
      return await discover(client)
    } catch (error) {
      if (signal.aborted) return { resources: [], failed: [] }
      log(`cannot discover the server's resources, retrying: ${reasonOf(error)}`)
      await delay(retryMs, undefined, { signal }).catch(() => {})
    }
  }
}

function emptyLister<T extends KubeObject>(): Lister<T> {
  const nothing = new ObjectStore<T>()
  return { get: () => undefined, all: () => nothing.all(), in: () => [], by: () => [], onChange: () => () => {} }
}
