/** Requests and watches of a conformance test in its namespace. */
import assert from 'node:assert/strict'
import { KubeConfig, Watch } from '@kubernetes/client-node'
import type { KubeObject } from '../../../src/machinery/object.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

/** Upstream's, for pods of nodes that run them. In ms. */
export const deadlineMs = 300_000

const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
}

export interface Seen<T> {
  readonly type: string
  readonly object: T
}

/** A watch and its events so far. */
export class Watched<T> {
  readonly events: Seen<T>[] = []
  readonly #stop: () => void
  #nextIndex = 0

  private constructor(stop: () => void) {
    this.#stop = stop
  }

  static async at<T>(
    { kubeconfigYaml }: ReachableCluster,
    path: string,
    query: Record<string, string>,
  ): Promise<Watched<T>> {
    const config = new KubeConfig()
    config.loadFromString(kubeconfigYaml)
    const watched = new Watched<T>(() => controller.abort())
    const watch = new Watch(config)
    // By default, it ends after half a minute without an event.
    Reflect.set(watch, 'requestTimeoutMs', deadlineMs)
    const controller = await watch.watch(
      path,
      query,
      (type: string, object: T) => watched.events.push({ type, object }),
      () => {},
    )
    return watched
  }

  /** Resolves with the next event for which `is` returns true, after the event of the last call. */
  next(what: string, is: (seen: Seen<T>) => boolean): Promise<T> {
    const probe = () => {
      const at = this.events.findIndex((seen, index) => index >= this.#nextIndex && is(seen))
      if (at < 0) return false
      this.#nextIndex = at + 1
      return this.events[at]?.object
    }
    return waitFor(what, probe, { deadlineMs })
  }

  stop(): void {
    this.#stop()
  }
}

export class Requests {
  readonly cluster: ReachableCluster
  readonly namespace: string
  /** `/api/v1/namespaces/NAME` */
  readonly core: string

  private constructor(cluster: ReachableCluster, namespace: string) {
    this.cluster = cluster
    this.namespace = namespace
    this.core = `/api/v1/namespaces/${namespace}`
  }

  /** Creates the namespace. Resolves when pods can be created in it. */
  static async in(cluster: ReachableCluster, namespace: string): Promise<Requests> {
    const requests = new Requests(cluster, namespace)
    await requests.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    await waitFor('the account', () => requests.get(`${requests.core}/serviceaccounts/default`))
    return requests
  }

  /** `/apis/GROUP/VERSION/namespaces/NAME` */
  group(groupVersion: string): string {
    return `/apis/${groupVersion}/namespaces/${this.namespace}`
  }

  async get<T = KubeObject>(path: string): Promise<T> {
    return (await this.cluster.call('GET', path)) as unknown as T
  }

  async list<T = KubeObject>(path: string): Promise<readonly T[]> {
    return (await this.get<{ items: T[] }>(path)).items
  }

  async post<T = KubeObject>(path: string, body: object): Promise<T> {
    return (await this.cluster.call('POST', path, body)) as unknown as T
  }

  async put<T = KubeObject>(path: string, body: object): Promise<T> {
    return (await this.cluster.call('PUT', path, body)) as unknown as T
  }

  async patch<T = KubeObject>(path: string, body: object, type: keyof typeof patchTypes = 'merge'): Promise<T> {
    return (await this.cluster.call('PATCH', path, body, patchTypes[type])) as unknown as T
  }

  async delete<T = KubeObject>(path: string, options: object = {}): Promise<T> {
    return (await this.cluster.call('DELETE', path, {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...options,
    })) as unknown as T
  }

  /** Reads, changes and writes an object. Retries conflicts. */
  async update<T extends KubeObject>(path: string, change: (object: T) => object, at = path): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const object = change(await this.get<T>(path))
      try {
        return await this.put<T>(at, object)
      } catch (error) {
        if (attempt === 20 || !String(error).includes(': 409 ')) throw error
      }
    }
  }

  watch<T = KubeObject>(path: string, query: Record<string, string> = {}): Promise<Watched<T>> {
    return Watched.at(this.cluster, path, query)
  }

  /** Resolves when a GET is 404. */
  async gone(path: string): Promise<void> {
    const probe = () =>
      this.get(path).then(
        () => false,
        (error) => / 404 /.test(String(error)),
      )
    await waitFor(`${path} to go`, probe, { deadlineMs })
  }
}

/** Checks that a request is rejected with a code. Resolves with the message. */
export async function refused(code: number, request: Promise<unknown>): Promise<string> {
  const error = await request.then(
    () => assert.fail(`was to be refused with ${code}`),
    (error: unknown) => String(error),
  )
  assert.match(error, new RegExp(`: ${code} `))
  return error
}

export const names = (items: readonly { readonly metadata?: { readonly name?: string } }[]): (string | undefined)[] =>
  items.map(({ metadata }) => metadata?.name)
