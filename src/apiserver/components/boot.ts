/** The steps of the start, as `/readyz` reports them. */
import { isFlowControlled } from '../flow-control/index.ts'
import { BootSequence, type BootStage } from '../health/boot-sequence.ts'
import { component } from './component.ts'

export const boot = component({
  name: 'boot sequence',
  needs: ['options'],
  gives: ['boot'],
  start({ options }) {
    const stages: BootStage[] = ['access', 'objects', 'addedApis', 'services']
    if (isFlowControlled(options.flowControl)) stages.push('flowControl')
    return { boot: new BootSequence(stages, options) }
  },
})
