/** How each kind is counted for quotas, and which writes may change what is used. */

import type { Pod } from '../../../api/core/pod/model.ts'
import { type Usage, usageOf } from '../../../api/core/quota/usage/index.ts'
import { countName } from '../../../api/core/quota/usage/object-count.ts'
import { isTerminating } from '../../../api/core/quota/usage/pods.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'

export type { Scope } from '../../../api/core/quota/usage/index.ts'

type Handles = (attributes: AdmissionAttributes) => boolean

export interface Evaluator extends Usage {
  /** Whether a write may change what is used. Only creates and updates in a namespace are asked about. */
  readonly handles: Handles
}

const creations: Handles = ({ operation, subresource }) => operation === 'CREATE' && subresource === ''

/** By the name under which objects of the kind are counted; of all others creations matter. */
const special: Readonly<Record<string, Handles>> = {
  'count/pods': ({ operation, subresource, object, old }) => {
    if (operation === 'CREATE') return subresource === ''
    // A pod that gets a deadline goes into another scope.
    return (
      subresource === 'resize' || (subresource === '' && isTerminating(object as Pod) !== isTerminating(old as Pod))
    )
  },
  'count/services': () => true,
  'count/persistentvolumeclaims': ({ operation, subresource }) =>
    subresource === '' || (operation !== 'CREATE' && subresource === 'status'),
  'count/resourceclaims.resource.k8s.io': ({ subresource }) => subresource === '',
}

export type FindEvaluator = (resource: ServedResource) => Evaluator | undefined

const evaluators = new WeakMap<ServedResource, Evaluator | 'ignored'>()

/** Undefined for what no quota counts. */
export function evaluatorOf(resource: ServedResource): Evaluator | undefined {
  let evaluator = evaluators.get(resource)
  if (!evaluator) {
    const { groupResource, namespaced } = resource
    const usage = namespaced ? usageOf(groupResource) : undefined
    const name = countName(groupResource)
    evaluator = usage ? { ...usage, handles: Object.hasOwn(special, name) ? special[name]! : creations } : 'ignored'
    evaluators.set(resource, evaluator)
  }
  return evaluator === 'ignored' ? undefined : evaluator
}
