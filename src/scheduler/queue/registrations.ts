/** Which plug-ins of a profile want to know of which events. */
import type { ClusterEvent, EventRegistration, EventResource } from '../framework/cluster-events.ts'

export interface PluginRegistration {
  readonly plugin: string
  readonly registration: EventRegistration
}

/** What a plug-in is told that says nothing about events: everything. */
const everything: readonly EventRegistration[] = (
  [
    'Pod',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'StorageClass',
    'CSINode',
    'CSIDriver',
    'CSIStorageCapacity',
    'VolumeAttachment',
    'ResourceClaim',
    'ResourceSlice',
    'DeviceClass',
    'Namespace',
  ] as const
).map((resource) => ({ resource, actions: ['Add', 'Update', 'Delete'] }))

const none: readonly PluginRegistration[] = []

export class Registrations {
  /** By `resource action`. */
  readonly #known = new Map<string, readonly PluginRegistration[]>()
  readonly #all: PluginRegistration[] = []

  /** Notes what a plug-in that may refuse pods wants to know of. */
  add(plugin: string, registrations: readonly EventRegistration[] = everything): void {
    for (const registration of registrations) this.#all.push({ plugin, registration })
    this.#known.clear()
  }

  /** The kinds that somebody wants to know of. */
  get resources(): ReadonlySet<EventResource> {
    return new Set(this.#all.map(({ registration }) => registration.resource))
  }

  of({ resource, action }: Pick<ClusterEvent, 'resource' | 'action'>): readonly PluginRegistration[] {
    const key = `${resource} ${action}`
    let found = this.#known.get(key)
    if (!found) {
      const isMeant = ({ registration: { resource: meant, actions } }: PluginRegistration): boolean =>
        meant === resource && (actions.includes(action) || (action.startsWith('Update') && actions.includes('Update')))
      const meant = this.#all.filter(isMeant)
      this.#known.set(key, (found = meant.length > 0 ? meant : none))
    }
    return found
  }
}
