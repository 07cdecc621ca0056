/**
 * The volumes of pods: sets them up before containers start, updates their content while the pod runs, and removes them
 * when it has ended. A restart of the kubelet loses nothing: what was set up is found again, and the folders of a pod
 * that is not known any more can be removed.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { KeyedQueue } from '../../lib/flow/keyed-queue.ts'
import type { SelectedNode } from '../../machinery/selectors/node-selector.ts'
import type { PodEvent } from '../../node/pods/pod-types.ts'
import type { DeviceInitShape, MountInitShape } from '../cri/mounts.ts'
import { type Container, type Pod, specOf } from '../pod-types.ts'
import { TransientError } from '../workers/pod-worker.ts'
import { type ContainerMountsOptions, containerDevices, containerMounts } from './containers/container-mounts.ts'
import { undefinedIfMissing } from './files/missing.ts'
import { removeIfEmpty, unmountAll } from './mounts/clear-folder.ts'
import { mountsWithin } from './mounts/mount-table.ts'
import type { VolumeObjects } from './objects/volume-objects.ts'
import { claimOf } from './set-up/claims.ts'
import { ProcessError, type ReadyVolume, runPlugin, type SetUpOptions, setUpVolume } from './set-up/volume-set-up.ts'
import { usedVolumes } from './set-up/volume-specs.ts'
import { clearSubPaths } from './sub-paths/sub-paths.ts'
import { unescapedName } from './volume-paths.ts'
import { PendingError, type Volume, type VolumePlugin } from './volume-plugin.ts'

export interface PodVolumesOptions extends ContainerMountsOptions {
  readonly plugins: readonly VolumePlugin[]
  readonly objects: Pick<VolumeObjects, 'claim' | 'persistentVolume'>
  /** The node, for the affinity of persistent volumes. */
  readonly node: () => SelectedNode
  record(pod: Pod, event: PodEvent): void
  /** A clock, in ms. */
  readonly now: () => number
  /** Called when the volumes of a pod were removed, as to forget its tokens. */
  forget?(uid: string): void
}

/** Volumes are not ready. The message is upstream's; the delay doubles from 500 ms to about two minutes. */
export class VolumeError extends TransientError {}

interface FailedVolume {
  readonly name: string
  readonly error: Error
}

interface PodState {
  readonly volumes: Map<string, ReadyVolume>
  failures: number
  /** The time since which the pod waits for its volumes, or of the last event about it. */
  pendingSinceMs: number | undefined
  /** The time of the last refresh, and the fields of the pod then. */
  refreshedMs: number
  refreshedFields: string
}

/** A pod is synced many times while it starts: its volumes are not refreshed each time. In ms. */
const freshMs = 5_000
const firstRetryMs = 500
const maxRetryMs = 122_000
/** A pod that waits for its volumes for so long gets an event. In ms. */
const maxPendingMs = 123_000
const gidAnnotation = 'pv.beta.kubernetes.io/gid'

export class PodVolumes {
  readonly #options: PodVolumesOptions
  readonly #setUpOptions: SetUpOptions
  readonly #pods = new Map<string, PodState>()
  /** The operations of each pod. */
  readonly #operations = new KeyedQueue()

  constructor(options: PodVolumesOptions) {
    this.#options = options
    this.#setUpOptions = { ...options, isUsedByOther: (name, uid) => this.#isUsedByOther(name, uid) }
  }

  /**
   * Sets up all volumes that containers use, and refreshes those that are set up. Resolves when containers may start.
   * Rejects with a VolumeError, after events; the caller repeats it.
   */
  mount(pod: Pod): Promise<void> {
    const { uid = '' } = pod.metadata
    return this.#operations.run(uid, () => this.#mount(pod, this.#stateOf(uid)))
  }

  /** Updates the content of volumes from the API. Failures are events; containers continue with the old content. */
  refresh(pod: Pod): Promise<void> {
    const { uid = '' } = pod.metadata
    return this.#operations.run(uid, async () => {
      const state = this.#pods.get(uid)
      if (state) await this.#refresh(pod, state)
    })
  }

  /** The mounts of one container. Rejects with upstream's message. */
  mountsOf(
    pod: Pod,
    container: Container,
    environment: ReadonlyMap<string, string>,
  ): Promise<readonly MountInitShape[]> {
    const { uid = '' } = pod.metadata
    return this.#operations.run(uid, () =>
      containerMounts(pod, container, environment, this.#stateOf(uid).volumes, this.#options),
    )
  }

  /** The volumes that one container uses as devices. Throws an Error with upstream's message. */
  devicesOf({ metadata: { uid = '' } }: Pod, container: Container): readonly DeviceInitShape[] {
    return containerDevices(container, this.#pods.get(uid)?.volumes ?? new Map())
  }

  /** The volumes of a pod that are set up, as for measuring what they use. */
  volumesOf(uid: string): readonly ReadyVolume[] {
    return [...(this.#pods.get(uid)?.volumes.values() ?? [])]
  }

  /** The groups that persistent volumes add to a pod's containers. */
  extraGroups(pod: Pod): number[] {
    const requested: readonly number[] = specOf(pod).securityContext?.supplementalGroups ?? []
    const groups = new Set<number>()
    for (const { spec } of this.volumesOf(pod.metadata.uid ?? '')) {
      const text = spec.persistentVolume?.metadata.annotations?.[gidAnnotation] ?? ''
      if (/^\d+$/.test(text) && !requested.includes(Number(text))) groups.add(Number(text))
    }
    return [...groups]
  }

  /** Removes the volumes of a pod without containers, also one from before a restart. The caller repeats a failure. */
  unmount(uid: string): Promise<void> {
    return this.#operations.run(uid, async () => {
      await this.#unmount(uid)
      this.#pods.delete(uid)
      this.#options.forget?.(uid)
    })
  }

  /** The UIDs of all pods that have a folder. */
  async podFolders(): Promise<readonly string[]> {
    return namesIn(this.#options.paths.pods)
  }

  async #mount(pod: Pod, state: PodState): Promise<void> {
    if (!this.#isFresh(pod, state)) await this.#refresh(pod, state)
    const wanted = usedVolumes(pod).filter(({ name }) => !state.volumes.has(name))
    const failed: FailedVolume[] = []
    // Volumes of one claim share a folder.
    const groups = Map.groupBy(wanted, (volume) => claimOf(pod, volume)?.name ?? volume)
    await Promise.all(
      [...groups.values()].map(async (volumes) => {
        for (const volume of volumes)
          await this.#setUp(pod, volume, state).catch((error: Error) => failed.push({ name: volume.name, error }))
      }),
    )
    if (failed.length === 0) {
      state.failures = 0
      state.pendingSinceMs = undefined
      return
    }
    if (failed.every(({ error }) => error instanceof PendingError)) throw this.#pending(pod, failed, state)
    const retryMs = Math.min(firstRetryMs * 2 ** state.failures++, maxRetryMs)
    throw new VolumeError(this.#recordFailures(pod, failed), retryMs)
  }

  /** The error of a pod whose volumes wait for others. An event is recorded when it has waited for long. */
  #pending(pod: Pod, failed: readonly FailedVolume[], state: PodState): VolumeError {
    const now = this.#options.now()
    state.pendingSinceMs ??= now
    if (now - state.pendingSinceMs >= maxPendingMs) {
      state.pendingSinceMs = now
      const names = namesOf(failed)
      const volumes = `unmounted volumes=${names}, unattached volumes=[], failed to process volumes=[]`
      const message = `Unable to attach or mount volumes: ${volumes}: context deadline exceeded`
      this.#recordFailure(pod, new Error(message))
    }
    return new VolumeError(failed.map(({ error }) => error.message).join('; '), firstRetryMs)
  }

  async #setUp(pod: Pod, volume: Volume, state: PodState): Promise<void> {
    state.volumes.set(volume.name, await setUpVolume(pod, volume, this.#setUpOptions))
  }

  /** Records an event for each volume that failed, and one for those that could not be processed. */
  #recordFailures(pod: Pod, failures: readonly FailedVolume[]): string {
    const order = usedVolumes(pod).map(({ name }) => name)
    const failed = failures.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    const unprocessed = failed.filter(({ error }) => error instanceof ProcessError)
    for (const { error } of failed)
      if (!(error instanceof ProcessError || error instanceof PendingError)) this.#recordFailure(pod, error)
    if (unprocessed.length === 0) return failed.map(({ error }) => error.message).join('; ')
    const causes = unprocessed.map(({ error }) => error.message).join('; ')
    const unmounted = `unmounted volumes=${namesOf(failed)}, unattached volumes=[]`
    const message = `${unmounted}, failed to process volumes=${namesOf(unprocessed)}: ${causes}`
    this.#recordFailure(pod, new Error(`Unable to attach or mount volumes: ${message}`))
    return message
  }

  #recordFailure(pod: Pod, { message }: Error): void {
    const reason = message.startsWith('MapVolume.') ? 'FailedMapVolume' : 'FailedMount'
    this.#options.record(pod, { type: 'Warning', reason, message })
  }

  #isFresh(pod: Pod, { refreshedMs, refreshedFields }: PodState): boolean {
    return this.#options.now() - refreshedMs < freshMs && refreshedFields === fieldsOf(pod)
  }

  async #refresh(pod: Pod, state: PodState): Promise<void> {
    state.refreshedMs = this.#options.now()
    state.refreshedFields = fieldsOf(pod)
    const volumes = [...state.volumes.values()].filter(({ plugin }) => plugin.isRefreshed)
    await Promise.all(
      volumes.map(async ({ spec, plugin }) => {
        // The pod may have changed, such as its labels; its volumes cannot.
        await runPlugin(pod, spec, plugin, this.#setUpOptions).catch((error: Error) => this.#recordFailure(pod, error))
      }),
    )
  }

  async #unmount(uid: string): Promise<void> {
    const { paths, mounter } = this.#options
    await clearSubPaths(mounter, paths.subPaths(uid))
    const folder = paths.volumes(uid)
    const errors: string[] = []
    for (const plugin of await namesIn(folder)) {
      for (const name of await namesIn(join(folder, plugin)))
        await this.#tearDown(uid, plugin, name).catch((error: Error) =>
          errors.push(`UnmountVolume.TearDown failed for volume ${JSON.stringify(name)} : ${error.message}`),
        )
      await removeIfEmpty(join(folder, plugin))
    }
    errors.push(...(await this.#tearDownDevices(uid)))
    if (errors.length > 0) throw new Error(errors.join('; '))
    await removeIfEmpty(folder)
    // The pod's folder is removed next: nothing that is mounted in it may be.
    const [mounted] = mountsWithin(await mounter.list(), paths.pod(uid))
    if (mounted) throw new Error(`${mounted.target} is still mounted`)
  }

  /** Resolves with the messages of failures. */
  async #tearDownDevices(uid: string): Promise<readonly string[]> {
    const folder = this.#options.paths.volumeDevices(uid)
    const errors: string[] = []
    for (const pluginFolder of await namesIn(folder)) {
      const plugin = this.#options.plugins.find((one) => one.name === unescapedName(pluginFolder))
      for (const name of await namesIn(join(folder, pluginFolder)))
        await plugin
          ?.tearDownDevice?.({ uid, name, path: join(folder, pluginFolder, name) })
          .catch((error: Error) =>
            errors.push(`UnmapVolume.UnmapBlockVolume failed for volume ${JSON.stringify(name)} : ${error.message}`),
          )
      await removeIfEmpty(join(folder, pluginFolder))
    }
    await removeIfEmpty(folder)
    return errors
  }

  async #tearDown(uid: string, pluginFolder: string, name: string): Promise<void> {
    const path = join(this.#options.paths.volumes(uid), pluginFolder, name)
    const plugin = this.#options.plugins.find((one) => one.name === unescapedName(pluginFolder))
    if (plugin) return plugin.tearDown({ uid, name, path })
    // A kind of another kubelet: its content may be somewhere else, so only an empty folder is removed.
    await unmountAll(this.#options.mounter, path)
    await removeIfEmpty(path)
  }

  #isUsedByOther(persistentVolume: string, uid: string): boolean {
    for (const [other, { volumes }] of this.#pods)
      if (other !== uid)
        for (const { spec } of volumes.values())
          if (spec.persistentVolume?.metadata.name === persistentVolume) return true
    return false
  }

  #stateOf(uid: string): PodState {
    let state = this.#pods.get(uid)
    if (!state)
      this.#pods.set(
        uid,
        (state = {
          volumes: new Map(),
          failures: 0,
          pendingSinceMs: undefined,
          refreshedMs: Number.NEGATIVE_INFINITY,
          refreshedFields: '',
        }),
      )
    return state
  }
}

/** The fields of a running pod that its volumes contain and that may change. */
const fieldsOf = ({ metadata: { labels, annotations } }: Pod): string => JSON.stringify([labels, annotations])

/** A list of strings as Go prints it. */
const namesOf = (volumes: readonly FailedVolume[]): string =>
  `[${volumes
    .map(({ name }) => name)
    .sort()
    .join(' ')}]`

const namesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(undefinedIfMissing)) ?? []
