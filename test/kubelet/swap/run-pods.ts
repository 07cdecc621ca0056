/**
 * Runs the pods on the node `n1`, whose kubelet may be any: takes each pod through its steps, and returns all versions
 * of its status that satisfied a step, and its events.
 */
import {
  configMaps,
  type Event,
  events,
  namespaces,
  nodes,
  type Pod,
  pods,
  runtimeClasses,
  secrets,
} from '../../../src/client/kinds.ts'
import type { RestClient } from '../../../src/client/rest/rest-client.ts'
import { waitFor } from '../../support/wait-for.ts'
import { normalizedEvent, normalizedStatus, type RecordedEvent } from './normalized.ts'
import { type RecordedPod, readPodSet } from './pod-set.ts'
import { actionOf, isSatisfied } from './steps.ts'

/** The result of a pod. */
export interface PodRun {
  /** By step: the normalized statuses that satisfied it, oldest first. */
  readonly statuses: Readonly<Record<string, readonly unknown[]>>
  /** The normalized events so far, each once, oldest first. */
  events(): readonly RecordedEvent[]
}

interface Version {
  readonly pod: Pod
  readonly isDeleted: boolean
}

/** The versions of all pods of a namespace, and their events, as a watch reports them. */
export class PodHistory {
  readonly #client: RestClient
  readonly #namespace: string
  readonly #stopping = new AbortController()
  readonly #versions = new Map<string, Version[]>()
  readonly #events = new Map<string, Event[]>()

  constructor(client: RestClient, namespace: string) {
    this.#client = client
    this.#namespace = namespace
  }

  /** Watches until `stop`. */
  start(): void {
    const { signal } = this.#stopping
    const options = { namespace: this.#namespace, resourceVersion: '0', signal, sendInitialEvents: true }
    void this.#follow(async () => {
      for await (const { type, object } of this.#client.watch<Pod>(pods, options))
        if (type !== 'BOOKMARK')
          listOf(this.#versions, object.metadata.name).push({ pod: object, isDeleted: type === 'DELETED' })
    })
    void this.#follow(async () => {
      for await (const { type, object } of this.#client.watch<Event>(events, options))
        if (type === 'ADDED') listOf(this.#events, object.involvedObject.name).push(object)
    })
  }

  stop(): void {
    this.#stopping.abort()
  }

  versionsOf(name: string): readonly Version[] {
    return this.#versions.get(name) ?? []
  }

  eventsOf(name: string): readonly Event[] {
    return this.#events.get(name) ?? []
  }

  async #follow(watch: () => Promise<void>): Promise<void> {
    try {
      await watch()
    } catch (error) {
      if (!this.#stopping.signal.aborted) throw error
    }
  }
}

function listOf<T>(lists: Map<string, T[]>, name = ''): T[] {
  const list = lists.get(name) ?? []
  lists.set(name, list)
  return list
}

const resources = { ConfigMap: configMaps, Secret: secrets, RuntimeClass: runtimeClasses } as const

/** Creates a namespace with the objects of the pods. Resolves when the node is ready. */
export async function prepare(client: RestClient, namespace: string): Promise<readonly RecordedPod[]> {
  await waitFor('the node is ready', async () => {
    const node = await client.find(nodes, '', 'n1')
    return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
  })
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const { pods, objects } = readPodSet(namespace)
  for (const object of objects) await client.create(resources[object.kind as keyof typeof resources], object as never)
  return pods
}

/** Creates a pod and takes it through its steps. Rejects with its last status if it does not get there. */
export async function runPod(
  client: RestClient,
  history: PodHistory,
  { pod, steps }: RecordedPod,
  deadlineMs = 120_000,
): Promise<PodRun> {
  const name = pod.metadata.name ?? ''
  const created = await waitFor(`${name} is created`, () => client.create(pods, pod), { deadlineMs })
  const statuses: Record<string, readonly unknown[]> = {}
  const reasons = (): ReadonlySet<string> => new Set(history.eventsOf(name).map(({ reason = '' }) => reason))
  for (const step of steps) {
    const action = actionOf(step)
    if (action) {
      await action(client, created)
      continue
    }
    const found = (): readonly unknown[] =>
      history
        .versionsOf(name)
        .filter((version) => isSatisfied(step, version.pod, version.isDeleted, reasons()))
        .map((version) => normalizedStatus(version.pod))
    try {
      await waitFor(`${name}: ${step}`, () => found().length > 0, { deadlineMs, everyMs: 50 })
    } catch (error) {
      const last = history.versionsOf(name).at(-1)?.pod.status
      const seen = history.eventsOf(name).map(({ reason, message }) => `${reason} ${message}`)
      throw new Error(`${(error as Error).message}: ${JSON.stringify(last, null, 1)}\n${seen.join('\n')}`)
    }
    Object.defineProperty(statuses, step, { get: found, enumerable: true })
  }
  return { statuses, events: () => unique(history.eventsOf(name).map(normalizedEvent)) }
}

const unique = (all: readonly RecordedEvent[]): readonly RecordedEvent[] => [
  ...new Map(all.map((event) => [JSON.stringify(event), event])).values(),
]
