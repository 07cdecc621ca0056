/** An Event of events.k8s.io, as on the wire. */
import type { EventsV1Event } from '@kubernetes/client-node'
import type { KubeObject, Model } from '../../machinery/object.ts'

export type Event = KubeObject & Omit<Model<EventsV1Event>, keyof KubeObject>
