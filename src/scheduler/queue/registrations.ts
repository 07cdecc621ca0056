/** The events that each plug-in of a profile has registered for. */
import type { ClusterEvent, EventRegistration, EventResource } from '../framework/cluster-events.ts'

export interface PluginRegistration {
  readonly plugin: string
  readonly registration: EventRegistration
}

/** For a plug-in that registers no events: all of them. */
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

  /** Adds the events of a plug-in that may reject pods. */
  add(plugin: string, registrations: readonly EventRegistration[] = everything): void {
    for (const registration of registrations) this.#all.push({ plugin, registration })
    this.#known.clear()
  }

  /** The kinds for which events are registered. */
  get resources(): ReadonlySet<EventResource> {
    return new Set(this.#all.map(({ registration }) => registration.resource))
  }

  of({ resource, action }: Pick<ClusterEvent, 'resource' | 'action'>): readonly PluginRegistration[] {
    const key = `${resource} ${action}`
    let found = this.#known.get(key)
    if (!found) {
      const isUpdate = action.startsWith('Update')
      const matching = this.#all.filter(
        ({ registration: { resource: ofResource, actions } }) =>
          ofResource === resource && (actions.includes(action) || (isUpdate && actions.includes('Update'))),
      )
      this.#known.set(key, (found = matching.length > 0 ? matching : none))
    }
    return found
  }
}
