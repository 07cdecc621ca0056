/** Where events tell themselves: their JSON is made of parts, most of which are texts that are there already. */
import type { AuditEvent } from './audit-event.ts'

export interface EventText {
  add(part: string): void
  /** Adds what `event.tellRequest()` tells. That is the same every time: who has it may copy it. */
  addRequest(event: AuditEvent): void
}

/** All of an event as one text. */
export class EventString implements EventText {
  text = ''

  add(part: string): void {
    this.text += part
  }

  addRequest(event: AuditEvent): void {
    event.tellRequest(this)
  }
}
