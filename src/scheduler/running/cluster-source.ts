/** Where the scheduler learns of the cluster's objects: from informers, which leave out what no pod waits for. */
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
import { keptPod } from './kept-pod.ts'

export interface ClusterSource {
  /** Follows a kind from now on. One that the server does not have is empty. */
  lister<T extends KubeObject>(resource: Resource<T>): Lister<T>
  /** Resolves when all that is followed is known. */
  synced(): Promise<void>
  stop(): Promise<void>
}

/** Pods that have ended use nothing. */
const unended: ListOptions = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' }
const againMs = 1_000

export interface InformerSourceOptions {
  readonly client: RestClient
  /** Whether somebody else's code may look at any field of pods. */
  readonly keepAll: boolean
  readonly log: (line: string) => void
  readonly signal: AbortSignal
}

/** Asks the server what it has, until it answers or `signal` is aborted. */
export async function informerSource({ client, keepAll, log, signal }: InformerSourceOptions): Promise<ClusterSource> {
  const served = new Set((await discovered(client, log, signal)).resources.map(nameOf))
  const informers = new SharedInformers(
    client,
    log,
    keepAll ? [] : [transformed({ resource: pods, transform: keptPod })],
  )
  const followed: (() => Promise<void>)[] = []
  return {
    lister(resource) {
      if (!served.has(nameOf(resource))) return emptyLister()
      const selection = nameOf(resource) === nameOf(pods) ? unended : {}
      followed.push(() => informers.synced(resource, selection))
      return informers.of(resource, selection)
    },
    synced: async () => void (await Promise.all(followed.map((synced) => synced()))),
    stop: () => informers.stop(),
  }
}

const nameOf = ({ group, version, plural }: Resource): string => `${group}/${version}/${plural}`

async function discovered(client: RestClient, log: (line: string) => void, signal: AbortSignal): Promise<Discovery> {
  for (;;) {
    try {
      return await discover(client)
    } catch (error) {
      if (signal.aborted) return { resources: [], failed: [] }
      log(`the server does not say what it has, asking again: ${reasonOf(error)}`)
      await delay(againMs, undefined, { signal }).catch(() => {})
    }
  }
}

function emptyLister<T extends KubeObject>(): Lister<T> {
  const nothing = new ObjectStore<T>()
  return { get: () => undefined, all: () => nothing.all(), in: () => [], by: () => [], onChange: () => () => {} }
}
