/**
 * A namespace in which the test simulates kubelet and scheduler: binds pods, writes their status, ends deleted ones.
 */
import type { ControllerRevision, PersistentVolumeClaim, Pod } from '../../../src/client/kinds.ts'
import type { KubeObject } from '../../../src/machinery/object.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const patchTypes = { merge: 'application/merge-patch+json', strategic: 'application/strategic-merge-patch+json' }

export class PlayedNamespace {
  readonly name: string
  readonly core: string
  readonly apps: string
  readonly cluster: ReachableCluster

  private constructor(cluster: ReachableCluster, name: string) {
    this.cluster = cluster
    this.name = name
    this.core = `/api/v1/namespaces/${name}`
    this.apps = `/apis/apps/v1/namespaces/${name}`
  }

  static async in(cluster: ReachableCluster, name: string): Promise<PlayedNamespace> {
    await cluster.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    return new PlayedNamespace(cluster, name)
  }

  async get<T>(path: string): Promise<T> {
    return (await this.cluster.call('GET', path)) as unknown as T
  }

  async post<T>(path: string, body: object): Promise<T> {
    return (await this.cluster.call('POST', path, body)) as unknown as T
  }

  async put<T>(path: string, body: object): Promise<T> {
    return (await this.cluster.call('PUT', path, body)) as unknown as T
  }

  async patch<T>(path: string, body: object, type: keyof typeof patchTypes = 'merge'): Promise<T> {
    return (await this.cluster.call('PATCH', path, body, patchTypes[type])) as unknown as T
  }

  async delete(path: string): Promise<void> {
    await this.cluster.call('DELETE', path)
  }

  async list<T>(path: string): Promise<readonly T[]> {
    return (await this.get<{ items: T[] }>(path)).items
  }

  async names(path: string): Promise<string[]> {
    return (await this.list<KubeObject>(path)).map(({ metadata }) => metadata.name ?? '').sort()
  }

  /** Pods of an app. */
  pods(app: string): Promise<readonly Pod[]> {
    return this.list(`${this.core}/pods?labelSelector=app%3D${app}`)
  }

  /** Pods that are not deleted, by name. */
  async living(app: string): Promise<string[]> {
    return (await this.pods(app))
      .flatMap(({ metadata }) => (metadata.deletionTimestamp ? [] : (metadata.name ?? '')))
      .sort()
  }

  /** Revisions of an app, oldest first. */
  async revisions(app: string): Promise<readonly ControllerRevision[]> {
    const all = await this.list<ControllerRevision>(`${this.apps}/controllerrevisions?labelSelector=app%3D${app}`)
    return all.toSorted((a, b) => a.revision - b.revision)
  }

  claims(): Promise<readonly PersistentVolumeClaim[]> {
    return this.list(`${this.core}/persistentvolumeclaims`)
  }

  /** Messages of events about an object. */
  async events(name: string, reason: string): Promise<string[]> {
    const events = await this.list<{ message: string }>(
      `${this.core}/events?fieldSelector=involvedObject.name%3D${name},reason%3D${reason}`,
    )
    return events.map(({ message }) => message)
  }

  async exists(path: string): Promise<boolean> {
    return this.cluster.call('GET', path).then(
      () => true,
      (error) => {
        if (String(error).includes(' 404 ')) return false
        throw error
      },
    )
  }

  /** Writes the status of a pod like a kubelet. */
  async writeStatus(
    pod: string,
    phase: 'Running' | 'Failed' | 'Succeeded',
    isReady = phase === 'Running',
  ): Promise<void> {
    const condition = {
      type: 'Ready',
      status: isReady ? 'True' : 'False',
      lastTransitionTime: new Date().toISOString().replace(/\.\d+/, ''),
    }
    await this.patch(`${this.core}/pods/${pod}/status`, { status: { phase, conditions: [condition] } }, 'strategic')
  }

  /**
   * Acts as scheduler and kubelet: binds pods, makes them ready when their claims exist, and ends deleted ones.
   */
  async play(app: string): Promise<void> {
    const claims = new Set(
      (await this.claims()).flatMap(({ metadata }) => (metadata.deletionTimestamp ? [] : metadata.name)),
    )
    for (const { metadata, spec, status } of await this.pods(app)) {
      const path = `${this.core}/pods/${metadata.name}`
      const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
      const node = terms?.[0]?.matchFields?.[0]?.values?.[0]
      try {
        if (metadata.deletionTimestamp) await this.delete(`${path}?gracePeriodSeconds=0`)
        else if (node && !spec?.nodeName) {
          await this.post(`${path}/binding`, {
            apiVersion: 'v1',
            kind: 'Binding',
            metadata: { name: metadata.name },
            target: { apiVersion: 'v1', kind: 'Node', name: node },
          })
        } else if (status?.phase === 'Pending' && claimsOf(spec).every((name) => claims.has(name)))
          await this.writeStatus(metadata.name ?? '', 'Running')
      } catch (error) {
        // The pod was deleted meanwhile.
        if (!String(error).includes(' 404 ')) throw error
      }
    }
  }

  /** Simulates until a condition holds. */
  playUntil<T>(app: string, what: string, probe: () => Promise<T | undefined | false>): Promise<T> {
    return waitFor(what, async () => {
      await this.play(app)
      return probe()
    })
  }

  /** Changes the image of a set's template. */
  async image(plural: string, name: string, image: string): Promise<void> {
    await this.patch(
      `${this.apps}/${plural}/${name}`,
      { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } },
      'strategic',
    )
  }

  /** Images of an app's pods that are not deleted, by name. */
  async images(app: string): Promise<Record<string, string | undefined>> {
    const pods = (await this.pods(app)).filter(({ metadata }) => !metadata.deletionTimestamp)
    return Object.fromEntries(pods.map(({ metadata, spec }) => [metadata.name, spec?.containers[0]?.image]).sort())
  }
}

const claimsOf = (spec: Pod['spec']): readonly string[] =>
  (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [])
