/** The control of tests over the server, if it is enabled. */
import { component } from '../component.ts'
import { defaultEventTtlMs } from '../objects/untimed-events.ts'

export const testControl = component({
  name: 'test control',
  needs: ['options'],
  gives: ['testControl'],
  async start({ options }) {
    if (!options.testControl) return { testControl: undefined }
    const { testControl: start } = await import('../../test-control/index.ts')
    const { store, otherStores = [], eventTtlMs = defaultEventTtlMs } = options
    const stores = [store, ...otherStores.map((other) => other.store)]
    const eventTtlSeconds = eventTtlMs > 0 ? Math.ceil(eventTtlMs / 1000) : undefined
    return { testControl: start({ stores, eventTtlSeconds }, Date.now) }
  },
})
