/** Volumes and claims in one namespace, for tests. */
import type { Event, PersistentVolume, PersistentVolumeClaim, Pod } from '../../../src/client/kinds.ts'
import type { Answer, ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

export const volumesPath = '/api/v1/persistentvolumes'
const mergePatch = 'application/merge-patch+json'

export class Storage {
  readonly core: string
  readonly claims: string
  readonly cluster: ReachableCluster
  readonly namespace: string

  private constructor(cluster: ReachableCluster, namespace: string) {
    this.cluster = cluster
    this.namespace = namespace
    this.core = `/api/v1/namespaces/${namespace}`
    this.claims = `${this.core}/persistentvolumeclaims`
  }

  /** Creates a new namespace. */
  static async in(cluster: ReachableCluster, namespace: string): Promise<Storage> {
    await cluster.call('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    })
    const storage = new Storage(cluster, namespace)
    // Pods are rejected until the default account exists.
    await waitFor('the account', () => cluster.call('GET', `${storage.core}/serviceaccounts/default`))
    return storage
  }

  /** A volume of 1Gi in a class with the namespace's name and no provisioner. */
  volume(name: string, spec: PersistentVolume['spec'] = {}): Promise<Answer> {
    const usual = {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: `/tmp/t8s/${name}` },
      storageClassName: this.namespace,
    }
    return this.cluster.call('POST', volumesPath, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: { ...usual, ...spec },
    })
  }

  /** A claim for 1Gi of that class. */
  claim(name: string, spec: PersistentVolumeClaim['spec'] = {}): Promise<Answer> {
    const usual = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: this.namespace,
    }
    return this.cluster.call('POST', this.claims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name },
      spec: { ...usual, ...spec },
    })
  }

  pod(name: string, volumes: NonNullable<Pod['spec']>['volumes'], nodeName?: string): Promise<Answer> {
    const spec = { containers: [{ name: 'c', image: 'example/app' }], volumes, ...(nodeName && { nodeName }) }
    return this.cluster.call('POST', `${this.core}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })
  }

  patch(path: string, body: object): Promise<Answer> {
    return this.cluster.call('PATCH', path, body, mergePatch)
  }

  claimIn(phase: string, name: string): Promise<PersistentVolumeClaim> {
    return this.inPhase<PersistentVolumeClaim>(phase, `${this.claims}/${name}`)
  }

  volumeIn(phase: string, name: string): Promise<PersistentVolume> {
    return this.inPhase<PersistentVolume>(phase, `${volumesPath}/${name}`)
  }

  /** Waits until an object is deleted. */
  deletionOf(path: string): Promise<true> {
    return waitFor(`${path} to be deleted`, async () => {
      const error: unknown = await this.cluster.call('GET', path).then(
        () => undefined,
        (error: unknown) => error,
      )
      return String(error).includes(' 404 ')
    }) as Promise<true>
  }

  /** Waits for the first event about an object with that reason. */
  event(name: string, reason: string, core = this.core): Promise<Event> {
    return waitFor(`${reason} of ${name}`, async () => {
      const { items } = (await this.cluster.call(
        'GET',
        `${core}/events?fieldSelector=involvedObject.name%3D${name}`,
      )) as unknown as { items: Event[] }
      return items.find((event) => event.reason === reason)
    })
  }

  private inPhase<T extends { readonly status?: { readonly phase?: string } }>(
    phase: string,
    path: string,
  ): Promise<T> {
    return waitFor(`${path} to be ${phase}`, async () => {
      const object = (await this.cluster.call('GET', path)) as unknown as T
      return object.status?.phase === phase && object
    })
  }
}
