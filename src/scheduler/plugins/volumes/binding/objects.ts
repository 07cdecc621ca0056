/** The objects that VolumeBinding reads, including its writes in flight. */
import { volumeClass } from '../../../../api/core/storage/binding/storage-class.ts'
import {
  type CSIDriver,
  type CSIStorageCapacity,
  csiDrivers,
  csiStorageCapacities,
  type Node,
  nodes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type StorageClass,
  storageClasses,
} from '../../../../client/kinds.ts'
import type { Handle, Lister } from '../../../framework/index.ts'
import { Assumed } from '../../assumed.ts'
import type { Storage } from './claims.ts'
import type { Provisioners } from './provisioning.ts'
import type { Assumptions, CurrentObjects } from './publish.ts'

const byClass = (volume: PersistentVolume): readonly string[] => [volumeClass(volume)]
const byCapacityClass = ({ storageClassName }: CSIStorageCapacity): readonly string[] => [storageClassName]

export class BindingObjects implements Storage, Provisioners, CurrentObjects {
  /** Claims and volumes as they will be after the writes in flight. */
  readonly assumed: Assumptions
  readonly #claims: Lister<PersistentVolumeClaim>
  readonly #volumes: Lister<PersistentVolume>
  readonly #classes: Lister<StorageClass>
  readonly #drivers: Lister<CSIDriver>
  readonly #capacities: Lister<CSIStorageCapacity>
  readonly #nodes: Lister<Node>
  readonly #pods: Lister<Pod>

  constructor(handle: Pick<Handle, 'lister'>) {
    this.#claims = handle.lister(persistentVolumeClaims)
    this.#volumes = handle.lister(persistentVolumes)
    this.#classes = handle.lister(storageClasses)
    this.#drivers = handle.lister(csiDrivers)
    this.#capacities = handle.lister(csiStorageCapacities)
    this.#nodes = handle.lister(nodes)
    this.#pods = handle.lister(pods)
    this.assumed = { claims: new Assumed(this.#claims), volumes: new Assumed(this.#volumes) }
  }

  /** Calls `handler` after changes that may complete a binding, or make it impossible. */
  onChange(handler: () => void): void {
    this.#claims.onChange(handler)
    this.#volumes.onChange(handler)
    this.#pods.onChange((after) => {
      if (!after) handler()
    })
  }

  claim(namespace: string, name: string): PersistentVolumeClaim | undefined {
    return this.assumed.claims.get(namespace, name)
  }

  volume(name: string): PersistentVolume | undefined {
    return this.assumed.volumes.get('', name)
  }

  *volumesOf(className: string): Generator<PersistentVolume> {
    for (const volume of this.#volumes.by(byClass, className)) yield this.assumed.volumes.of(volume)
  }

  storageClass(name: string): StorageClass | undefined {
    return this.#classes.get('', name)
  }

  driver(name: string): CSIDriver | undefined {
    return this.#drivers.get('', name)
  }

  capacitiesOf(className: string): Iterable<CSIStorageCapacity> {
    return this.#capacities.by(byCapacityClass, className)
  }

  node(name: string): Node | undefined {
    return this.#nodes.get('', name)
  }

  pod(namespace: string, name: string): Pod | undefined {
    return this.#pods.get(namespace, name)
  }
}
