/** ValidatingAdmissionPolicyBindings: apply a policy to resources, with parameters and actions on failure. */
import type { V1ValidatingAdmissionPolicyBinding } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import {
  duplicate,
  type FieldError,
  invalidValue,
  notSupported,
  required,
} from '../../machinery/validation/field-error.ts'
import { duplicateFinder } from '../../machinery/validation/field-rules.ts'
import { age, name, resource } from '../resource.ts'
import {
  matchDefaults,
  paramRefColumn,
  policyNameColumn,
  validateMatchResources,
  validateParamRef,
  validatePolicyName,
} from './policy-rules.ts'
import { admissionGroup } from './webhook-rules.ts'

type Binding = Model<V1ValidatingAdmissionPolicyBinding>

const actions = ['Audit', 'Deny', 'Warn']

export const validatingAdmissionPolicyBindings = resource<Binding>({
  group: admissionGroup,
  version: 'v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  categories: ['api-extensions'],
  scope: 'Cluster',
  generation: 'spec',
  requiresVersionOnUpdate: true,
  defaults: [({ spec }) => matchDefaults(spec?.matchResources)],
  validate: { object: bindingRules },
  columns: [name, policyNameColumn, paramRefColumn, age],
})

function bindingRules({ spec }: Binding): readonly FieldError[] {
  const errors = [...validatePolicyName(spec?.policyName)]
  errors.push(
    ...validateParamRef(spec?.paramRef, 'spec.paramRef'),
    ...validateMatchResources(spec?.matchResources, 'spec.matchResources'),
  )
  const validationActions = spec?.validationActions ?? []
  const isRepeated = duplicateFinder<string>()
  validationActions.forEach((action, at) => {
    const field = `spec.validationActions[${at}]`
    if (!actions.includes(action)) errors.push(notSupported(field, action, actions))
    if (isRepeated(action)) errors.push(duplicate(field, action))
  })
  if (validationActions.includes('Deny') && validationActions.includes('Warn'))
    errors.push(
      invalidValue(
        'spec.validationActions',
        validationActions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API ' +
          'response and headers serves no purpose)',
      ),
    )
  if (validationActions.length === 0)
    errors.push(required('spec.validationActions', 'at least one validation action is required'))
  return errors
}
