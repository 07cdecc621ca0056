/** Annotations of requests whose audit event does not exist yet: authentication makes them, and it comes first. */
import type { Request } from '../http/exchange.ts'
import type { AuditEvent } from './event/audit-event.ts'

type Annotations = Readonly<Record<string, string>>

const early = new WeakMap<Request, Annotations>()

/** Replaces the annotations that the event of a request will begin with. */
export function annotateEarly(request: Request, annotations: Annotations): void {
  early.set(request, annotations)
}

/** Adds the annotations of the event's request that were made before the event. */
export function addEarlyAnnotations(event: AuditEvent): void {
  const annotations = early.get(event.request)
  for (const key in annotations) event.annotate(key, annotations[key]!)
}
