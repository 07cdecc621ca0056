/** The usage of each kind for quotas, and the writes that may change it. */

import type { Pod } from '../../../../api/core/pod/model.ts'
import { type Usage, usageOf } from '../../../../api/core/quota/usage/index.ts'
import { countName } from '../../../../api/core/quota/usage/object-count.ts'
import { isTerminating } from '../../../../api/core/quota/usage/pods.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../../registry/write/admission.ts'

export type { Scope } from '../../../../api/core/quota/usage/index.ts'

type Handles = (attributes: AdmissionAttributes) => boolean

export interface Evaluator extends Usage {
  /** Returns true if a write may change the usage. Called only for creates and updates in a namespace. */
  readonly handles: Handles
}

const creations: Handles = ({ operation, subresource }) => operation === 'CREATE' && subresource === ''

/** By count name. For all other kinds, only creates matter. */
const special: Readonly<Record<string, Handles>> = {
  'count/pods': ({ operation, subresource, object, old }) => {
    if (operation === 'CREATE') return subresource === ''
    // A pod whose deadline is set or removed changes its scope.
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

/** Returns undefined for kinds that quotas do not count. */
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
