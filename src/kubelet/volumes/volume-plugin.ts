/** Kinds of volumes. Each is a plug-in with upstream's name; CSI drivers are one, too. */
import type { PersistentVolume } from '../../client/kinds.ts'
import type { Pod, PodSpec } from '../pod-types.ts'

export type Volume = NonNullable<PodSpec['volumes']>[number]

/** A volume of a pod: its own, or the persistent volume that its claim is bound to. */
export interface VolumeSpec {
  /** The name in the pod. */
  readonly podName: string
  /** The name in messages and paths: the persistent volume's, else the name in the pod. */
  readonly name: string
  readonly volume?: Volume
  readonly persistentVolume?: PersistentVolume
  /** True if the pod requests its claim read-only. */
  readonly isReadOnly: boolean
}

export interface SetUpRequest {
  readonly pod: Pod
  readonly spec: VolumeSpec
  /** `ROOT/pods/UID/volumes/PLUGIN/NAME`, which the plug-in makes if it needs it. */
  readonly folder: string
}

/** A volume that was set up. */
export type MountedVolume = HostVolume | ImageVolume | DeviceVolume

export interface HostVolume {
  /** The path that the runtime mounts. */
  readonly path: string
  /** True if no container may write to it. */
  readonly isReadOnly: boolean
  /** True if its SELinux label may be changed to the container's. */
  readonly isRelabeled: boolean
}

/** An image, which the runtime mounts itself (KEP-4639). */
export interface ImageVolume {
  readonly image: { readonly reference: string; readonly pullPolicy?: string }
}

/** A device without a file system (`volumeMode: Block`). */
export interface DeviceVolume {
  /** The path of the device on the host. */
  readonly device: string
  readonly isReadOnly: boolean
}

/** The folder of a volume, which may be from before a restart of the kubelet. */
export interface VolumeFolder {
  readonly uid: string
  readonly name: string
  readonly path: string
}

export interface VolumePlugin {
  /** Such as `kubernetes.io/empty-dir`. */
  readonly name: string
  /** True if `setUp` is repeated while the pod runs, to update the content. */
  readonly isRefreshed: boolean
  /** True if `mountOptions` of persistent volumes apply. */
  readonly hasMountOptions: boolean
  supports(spec: VolumeSpec): boolean
  /**
   * Sets up a volume. Is called again after a failure, after a restart, and to refresh the content, and must then bring
   * the volume to the same state. Rejects with upstream's message; a MountError names the step that has failed.
   */
  setUp(request: SetUpRequest): Promise<MountedVolume>
  /** Removes a volume. Is called again after a failure. */
  tearDown(folder: VolumeFolder): Promise<void>
  /** Removes a volume that is a device (`ROOT/pods/UID/volumeDevices/PLUGIN/NAME`). Is called again after a failure. */
  tearDownDevice?(device: VolumeFolder): Promise<void>
}

/** The steps in messages of failures. The default is `MountVolume.SetUp failed`. */
export type MountStep =
  | 'MountVolume.NewMounter initialization failed'
  | 'MountVolume.NodeAffinity check failed'
  | 'MountVolume.MountOptionSupport check failed'
  | 'MountVolume.WaitForAttach failed'
  | 'MountVolume.MountDevice failed'
  | 'MountVolume.SetUp failed'
  | 'MapVolume.NewBlockVolumeMapper initialization failed'
  | 'MapVolume.WaitForAttach failed'
  | 'MapVolume.SetUpDevice failed'

/** A failed step of setting up a volume. The message is upstream's text after the volume's name. */
export class MountError extends Error {
  readonly step: MountStep

  constructor(step: MountStep, message: string) {
    super(message)
    this.step = step
  }
}

/** A volume waits for others, such as for its attachment: no failure yet. It is tried again soon, without an event. */
export class PendingError extends Error {}
