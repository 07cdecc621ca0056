/** First objects that are copied from those of an earlier server of the process. */
import { timestamp } from '../../registry/write/write-context.ts'
import { component } from '../component.ts'

/** Starts before anything reads the store. */
export const copiedObjects = component({
  name: 'copies of first objects',
  needs: ['options', 'registry'],
  gives: ['hasCopies'],
  async start({ options, registry }) {
    const { templates } = options
    return {
      hasCopies: templates ? await templates.write(registry.store, options, timestamp(registry.clock.now())) : false,
    }
  },
})

/** Starts after the objects exist, and before others can write. */
export const templates = component({
  name: 'templates of first objects',
  needs: ['options', 'registry', 'find', 'aggregator', 'flow', 'hasCopies'],
  gives: [],
  async start({ options, registry, find, hasCopies }) {
    if (!hasCopies) await options.templates?.read(registry.store, options, find)
    return {}
  },
})
