/** Removes old events. */
import { component } from './component.ts'
import { defaultEventTtlMs, expireEvents } from './expire-events.ts'

export const eventExpiry = component({
  name: 'event expiry',
  needs: ['options', 'registry', 'find', 'log'],
  gives: [],
  start({ options, registry, find, log }, lifetime) {
    const ttlMs = options.eventTtlMs ?? defaultEventTtlMs
    if (ttlMs > 0) lifetime.onEnd(expireEvents({ registry, events: find('v1/events'), ttlMs, log }))
    return {}
  },
})
