/** events.k8s.io, in the order of its discovery. */
import { events } from './event.ts'

export const resources = [events]
