/** A CSI volume of a pod: persistent, or made for the pod (inline). */
import { createHash } from 'node:crypto'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { VolumeCapability_AccessMode_Mode as AccessMode, type VolumeCapabilitySchema } from '#protobuf/csi-node_pb.js'
import type { PersistentVolume } from '../../../../client/kinds.ts'
import type { Pod } from '../../../pod-types.ts'
import type { VolumeSpec } from '../../volume-plugin.ts'
import { Capability } from './driver/csi-driver-client.ts'

export interface SecretReference {
  readonly namespace: string
  readonly name: string
}

export interface CsiVolume {
  /** The name in paths and messages. */
  readonly name: string
  readonly driver: string
  readonly handle: string
  readonly isEphemeral: boolean
  readonly isReadOnly: boolean
  readonly isBlock: boolean
  readonly fsType: string
  readonly attributes: Readonly<Record<string, string>>
  readonly mountOptions: readonly string[]
  readonly accessModes: readonly string[]
  readonly stageSecret?: SecretReference
  readonly publishSecret?: SecretReference
  readonly expandSecret?: SecretReference
  readonly persistentVolume?: PersistentVolume
}

type Reference = { readonly namespace?: string; readonly name?: string } | undefined

const referenceOf = (reference: Reference, namespace = ''): SecretReference | undefined =>
  reference?.name ? { namespace: reference.namespace || namespace, name: reference.name } : undefined

/** Undefined for volumes of other kinds. */
export function csiVolumeOf(pod: Pod, spec: VolumeSpec): CsiVolume | undefined {
  const { name, volume, persistentVolume } = spec
  const { csi: source } = persistentVolume?.spec ?? {}
  if (persistentVolume && source) return persistentCsiVolume(spec, persistentVolume, source)
  const inline = volume?.csi
  if (!inline) return undefined
  const hash = createHash('sha256').update(`${pod.metadata.uid}${name}`).digest('hex')
  return {
    name,
    driver: inline.driver,
    handle: `csi-${hash}`,
    isEphemeral: true,
    isReadOnly: inline.readOnly ?? false,
    isBlock: false,
    fsType: inline.fsType ?? '',
    attributes: inline.volumeAttributes ?? {},
    mountOptions: [],
    accessModes: [],
    publishSecret: referenceOf(inline.nodePublishSecretRef, pod.metadata.namespace),
  }
}

type PersistentSource = NonNullable<NonNullable<PersistentVolume['spec']>['csi']>

function persistentCsiVolume(
  { name, isReadOnly }: VolumeSpec,
  persistentVolume: PersistentVolume,
  source: PersistentSource,
): CsiVolume {
  const { accessModes = [], mountOptions = [], volumeMode } = persistentVolume.spec ?? {}
  return {
    name,
    driver: source.driver,
    handle: source.volumeHandle,
    isEphemeral: false,
    isReadOnly: isReadOnly || (source.readOnly ?? false),
    isBlock: volumeMode === 'Block',
    fsType: source.fsType ?? '',
    attributes: source.volumeAttributes ?? {},
    mountOptions,
    accessModes,
    stageSecret: referenceOf(source.nodeStageSecretRef),
    publishSecret: referenceOf(source.nodePublishSecretRef),
    expandSecret: referenceOf(source.nodeExpandSecretRef),
    persistentVolume,
  }
}

/** The first access mode counts. A driver that distinguishes writers of one node gets the exact mode. */
export function accessModeOf({ accessModes }: CsiVolume, capabilities: ReadonlySet<Capability>): AccessMode {
  const [mode = 'ReadWriteOnce'] = accessModes
  const isExact = capabilities.has(Capability.SINGLE_NODE_MULTI_WRITER)
  if (mode === 'ReadOnlyMany') return AccessMode.MULTI_NODE_READER_ONLY
  if (mode === 'ReadWriteMany') return AccessMode.MULTI_NODE_MULTI_WRITER
  if (!isExact) return AccessMode.SINGLE_NODE_WRITER
  return mode === 'ReadWriteOncePod' ? AccessMode.SINGLE_NODE_SINGLE_WRITER : AccessMode.SINGLE_NODE_MULTI_WRITER
}

/** `group` is for drivers that set the group of files themselves. */
export function capabilityOf(
  volume: CsiVolume,
  capabilities: ReadonlySet<Capability>,
  group?: number,
): MessageInitShape<typeof VolumeCapabilitySchema> {
  const accessMode = { mode: accessModeOf(volume, capabilities) }
  if (volume.isBlock) return { accessMode, accessType: { case: 'block', value: {} } }
  const isDelegated = group !== undefined && capabilities.has(Capability.VOLUME_MOUNT_GROUP)
  const value = {
    fsType: volume.fsType,
    mountFlags: [...volume.mountOptions],
    ...(isDelegated && { volumeMountGroup: String(group) }),
  }
  return { accessMode, accessType: { case: 'mount', value } }
}
