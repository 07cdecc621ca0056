/** Lets the store delete events some time after their last write. */
import { component } from '../component.ts'
import { defaultEventTtlMs, endUntimedEvents } from './untimed-events.ts'

export const eventExpiry = component({
  name: 'event expiry',
  needs: ['options', 'registry', 'find', 'log'],
  gives: [],
  start({ options, registry, find, log }, lifetime) {
    const ttlMs = options.eventTtlMs ?? defaultEventTtlMs
    if (ttlMs <= 0) return {}
    const events = find('v1/events')
    events.ttlSeconds = Math.ceil(ttlMs / 1000)
    lifetime.onEnd(endUntimedEvents({ registry, events, ttlMs, log }))
    return {}
  },
})
