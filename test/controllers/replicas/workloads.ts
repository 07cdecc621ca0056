/** Workloads in one namespace; the test simulates the kubelet by writing the status of pods. */
import type { Deployment, Pod, ReplicaSet, ReplicationController } from '../../../src/client/kinds.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const mergePatch = 'application/merge-patch+json'
const strategicPatch = 'application/strategic-merge-patch+json'

export class Workloads {
  readonly core: string
  readonly apps: string
  readonly #cluster: ReachableCluster

  private constructor(cluster: ReachableCluster, namespace: string) {
    this.#cluster = cluster
    this.core = `/api/v1/namespaces/${namespace}`
    this.apps = `/apis/apps/v1/namespaces/${namespace}`
  }

  /** Creates a new namespace. */
  static async in(cluster: ReachableCluster, namespace: string): Promise<Workloads> {
    await cluster.call('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    })
    const all = new Workloads(cluster, namespace)
    // Pods are rejected until the default account exists.
    await waitFor('the account', () => all.get(`${all.core}/serviceaccounts/default`))
    return all
  }

  async get<T>(path: string): Promise<T> {
    return (await this.#cluster.call('GET', path)) as unknown as T
  }

  async post<T>(path: string, body: object): Promise<T> {
    return (await this.#cluster.call('POST', path, body)) as unknown as T
  }

  async put<T>(path: string, body: object): Promise<T> {
    return (await this.#cluster.call('PUT', path, body)) as unknown as T
  }

  async patch<T>(path: string, body: object, type = mergePatch): Promise<T> {
    return (await this.#cluster.call('PATCH', path, body, type)) as unknown as T
  }

  async delete(path: string, body?: object): Promise<void> {
    await this.#cluster.call('DELETE', path, body)
  }

  async list<T>(path: string): Promise<readonly T[]> {
    return (await this.get<{ items: T[] }>(path)).items
  }

  /** Pods with this label `app`. */
  pods(app: string): Promise<readonly Pod[]> {
    return this.list(`${this.core}/pods?labelSelector=app%3D${app}`)
  }

  /** ReplicaSets with this label `app`, by revision. */
  async sets(app: string): Promise<readonly ReplicaSet[]> {
    return (await this.list<ReplicaSet>(`${this.apps}/replicasets?labelSelector=app%3D${app}`)).toSorted(
      (a, b) => revisionOf(a) - revisionOf(b),
    )
  }

  deployment(name: string): Promise<Deployment> {
    return this.get(`${this.apps}/deployments/${name}`)
  }

  replicaSet(name: string): Promise<ReplicaSet> {
    return this.get(`${this.apps}/replicasets/${name}`)
  }

  controller(name: string): Promise<ReplicationController> {
    return this.get(`${this.core}/replicationcontrollers/${name}`)
  }

  /** Event messages about an object by reason, sorted by event name. */
  async events(name: string, reason: string): Promise<string[]> {
    const events = await this.list<{ message: string }>(
      `${this.core}/events?fieldSelector=involvedObject.name%3D${name},reason%3D${reason}`,
    )
    return events.map(({ message }) => message)
  }

  /** Creates a Deployment `name` of pods labelled `app: name`. */
  deploy(name: string, spec: object = {}): Promise<Deployment> {
    return this.post(`${this.apps}/deployments`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
    })
  }

  makeReplicaSet(name: string, spec: object = {}): Promise<ReplicaSet> {
    return this.post(`${this.apps}/replicasets`, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name, labels: { app: name } },
      spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
    })
  }

  makeController(name: string, spec: object = {}): Promise<ReplicationController> {
    return this.post(`${this.core}/replicationcontrollers`, {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name },
      spec: { selector: { app: name }, template: template(name), ...spec },
    })
  }

  makePod(name: string, app: string): Promise<Pod> {
    return this.post(`${this.core}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { app } },
      spec: template(app).spec,
    })
  }

  change(deployment: string, spec: object): Promise<Deployment> {
    return this.patch(`${this.apps}/deployments/${deployment}`, { spec })
  }

  image(deployment: string, tag: string | number): Promise<Deployment> {
    return this.patch(
      `${this.apps}/deployments/${deployment}`,
      { spec: { template: { spec: { containers: [container(tag)] } } } },
      strategicPatch,
    )
  }

  /** Writes the status of a pod like a kubelet. */
  async writeStatus(pod: string, phase: string, isReady: boolean): Promise<void> {
    const status = {
      phase,
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: new Date().toISOString() }],
    }
    await this.patch(`${this.core}/pods/${pod}/status`, { status }, strategicPatch)
  }

  /**
   * Makes all existing and new pods of an app ready until `done` returns a value; resolves with it.
   */
  async playKubelet<T>(app: string, what: string, done: () => Promise<T | undefined | false>): Promise<T> {
    const play = async (): Promise<T | undefined | false> => {
      for (const { metadata, status } of await this.pods(app))
        if (!metadata.deletionTimestamp && !isReady({ status }) && status?.phase !== 'Failed')
          await this.writeStatus(metadata.name ?? '', 'Running', true).catch(ignoreNotFound)
      return await done()
    }
    return await waitFor(what, play, { deadlineMs: 60_000 })
  }

  /** Simulates the kubelet until a Deployment has rolled out. */
  rolledOut(name: string): Promise<Deployment> {
    return this.playKubelet(name, `the rollout of ${name}`, async () => {
      const deployment = await this.deployment(name)
      return isRolledOut(deployment) && deployment
    })
  }
}

/** Returns true if the status of a Deployment shows a complete rollout. */
export function isRolledOut(deployment: Deployment): boolean {
  const { metadata, spec, status } = deployment
  const isSeen = status?.observedGeneration === metadata.generation
  const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas]
  return (
    isSeen &&
    progressOf(deployment).reason === 'NewReplicaSetAvailable' &&
    counts.every((count = 0) => count === spec?.replicas)
  )
}

export const isReady = ({ status }: Pick<Pod, 'status'>): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

function ignoreNotFound(error: unknown): void {
  if (!String(error).includes(' 404 ')) throw error
}

const container = (tag: string | number) => ({ name: 'c', image: `registry.example/app:${tag}` })

export const template = (app: string, tag: string | number = 1) => ({
  metadata: { labels: { app } },
  spec: { containers: [container(tag)] },
})

export const revisionOf = ({ metadata }: Deployment | ReplicaSet): number =>
  Number(metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0)

/** `spec.replicas` of sets, in order. */
export const sizesOf = (sets: readonly ReplicaSet[]): number[] => sets.map(({ spec }) => spec?.replicas ?? 1)

export const progressOf = ({ status }: Deployment): { readonly reason?: string; readonly message?: string } =>
  status?.conditions?.find(({ type }) => type === 'Progressing') ?? {}

/** The name of a pod's controller. */
export const controllerName = ({ metadata }: Pod): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller)?.name
