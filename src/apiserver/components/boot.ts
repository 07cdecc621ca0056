/** The steps of the start, as `/readyz` reports them. */
import { BootSequence } from '../health/boot-sequence.ts'
import { component } from './component.ts'

export const boot = component({
  name: 'boot sequence',
  needs: ['options'],
  gives: ['boot'],
  start({ options }) {
    const hasFlowControl = options.flowControl?.enabled ?? true
    const stages = ['access', 'objects', ...(hasFlowControl ? (['flowControl'] as const) : []), 'addedApis', 'services']
    return { boot: new BootSequence(stages as ConstructorParameters<typeof BootSequence>[0], options) }
  },
})
