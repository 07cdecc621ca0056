/** Pods, folders and objects for tests of volumes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, Secret } from '../../client/kinds.ts'
import type { Container, PodSpec } from '../pod-types.ts'
import type { PodFields } from './content/pod-fields.ts'
import { FakeMounter } from './mounts/fake-mounter.fixture.ts'
import type { VolumeObjects } from './objects/volume-objects.ts'
import { MemoryFolders } from './plugins/empty-dir/memory-folders.ts'
import { VolumePaths } from './volume-paths.ts'
import type { SetUpRequest, Volume, VolumePlugin } from './volume-plugin.ts'

export const podUid = '11111111-2222-3333-4444-555555555555'

/** A pod with a container `main` that mounts each volume at `/NAME`. */
export function podWith(volumes: readonly Volume[], spec: Partial<PodSpec> = {}): Pod {
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }))
  const containers: Container[] = [{ name: 'main', volumeMounts }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'web', uid: podUid, labels: { app: 'web' } },
    spec: { containers, volumes: [...volumes], serviceAccountName: 'builder', ...spec },
  }
}

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'volumes-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A kubelet's folder, a mounter, and what plug-ins log and record. */
export function testNode(t: TestContext) {
  const paths = new VolumePaths(temporaryFolder(t))
  const mounter = new FakeMounter()
  const memory = new MemoryFolders({ mounter, allocatableMemory: () => 1_000_000n, canDisableSwap: false })
  const lines: string[] = []
  return { paths, mounter, memory, lines, log: (line: string) => void lines.push(line) }
}

/** The request for a volume of a pod, as the volume manager makes it. */
export function requestFor(paths: VolumePaths, plugin: VolumePlugin, pod: Pod, index = 0): SetUpRequest {
  const volume = pod.spec!.volumes![index]!
  const spec = { podName: volume.name, name: volume.name, volume, isReadOnly: false }
  return { pod, spec, folder: paths.volume(podUid, plugin.name, volume.name) }
}

export const configMap = (
  name: string,
  data: Record<string, string>,
  binaryData?: Record<string, string>,
): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name },
  data,
  ...(binaryData && { binaryData }),
})

export const secret = (name: string, data: Record<string, string>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'default', name },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
})

export const claim = (name: string, fields: Partial<PersistentVolumeClaim> = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'default', name, uid: `uid-${name}` },
  spec: { volumeName: `pv-${name}` },
  status: { phase: 'Bound' },
  ...fields,
})

export const persistentVolume = (claimName: string, spec: PersistentVolume['spec']): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `pv-${claimName}` },
  spec: { claimRef: { name: claimName, namespace: 'default', uid: `uid-${claimName}` }, ...spec },
})

export type NamedObject = {
  readonly kind: string
  readonly metadata: { readonly name?: string }
  readonly spec?: object
}

/** An API of these objects; `set` replaces or adds one, `remove` removes one. */
export class TestObjects implements VolumeObjects {
  readonly #objects = new Map<string, NamedObject>()
  /** The number of calls. */
  reads = 0

  constructor(...objects: readonly NamedObject[]) {
    for (const one of objects) this.set(one)
  }

  set(object: NamedObject): void {
    this.#objects.set(`${object.kind}/${object.metadata.name}`, object)
  }

  remove(kind: string, name: string): void {
    this.#objects.delete(`${kind}/${name}`)
  }

  async #find<T>(kind: string, name: string): Promise<T | undefined> {
    this.reads++
    return this.#objects.get(`${kind}/${name}`) as T | undefined
  }

  configMap = (_: string, name: string) => this.#find<ConfigMap>('ConfigMap', name)
  secret = (_: string, name: string) => this.#find<Secret>('Secret', name)
  claim = (_: string, name: string) => this.#find<PersistentVolumeClaim>('PersistentVolumeClaim', name)
  persistentVolume = (name: string) => this.#find<PersistentVolume>('PersistentVolume', name)
  trustBundle: VolumeObjects['trustBundle'] = (name) => this.#find('ClusterTrustBundle', name)
  trustBundles: VolumeObjects['trustBundles'] = async () =>
    [...this.#objects.values()].filter(({ kind }) => kind === 'ClusterTrustBundle') as never
}

/** The downward API of `metadata.labels` and limits. */
export const podFields: PodFields = {
  field(pod, path) {
    if (path === 'metadata.labels') return JSON.stringify(pod.metadata.labels)
    throw new Error(`unsupported fieldPath: ${path}`)
  },
  resource: (_, { resource, divisor = '1' }) => `${resource}/${divisor}`,
}

export const needsRoot = process.getuid?.() === 0 ? false : 'needs root to change owners'
