/** Priority and fairness, and the objects that every cluster begins with. */
import { ensureBootstrapObjects } from '../../bootstrap/index.ts'
import { priorityAndFairnessOf } from '../../flow-control/index.ts'
import { requestTimeoutOf } from '../../server-options.ts'
import { component } from '../component.ts'

export const firstObjects = component({
  name: 'first objects',
  needs: ['options', 'registry', 'find', 'apis', 'writer', 'metrics', 'boot', 'hasCopies', 'log'],
  gives: ['flow'],
  async start({ options, registry, find, apis, writer, metrics, boot, hasCopies, log }, lifetime) {
    const served = apis.find.bind(apis)
    const isServed = (group: string, plural: string): boolean =>
      ['v1', 'v1beta1', 'v1alpha1'].some((version) => served(group, version, plural) !== undefined)
    const requestTimeoutMs = requestTimeoutOf(options)
    const sources = { registry, find, served, writer, metrics, requestTimeoutMs, log }
    const flow = priorityAndFairnessOf(options.flowControl ?? {}, sources)
    lifetime.onEnd(() => flow?.stop())
    const addedRoles = { components: options.componentRights, joinedNodes: options.joinedNodes }
    await Promise.all([
      boot.during('objects', ensureBootstrapObjects({ find, isServed, context: writer, addedRoles, hasCopies, log })),
      flow && boot.during('flowControl', flow.start()),
    ])
    return { flow }
  },
})
