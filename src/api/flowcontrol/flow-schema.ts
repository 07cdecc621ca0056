/** FlowSchemas: which requests belong together, and to which priority level. */
import type { V1PolicyRulesWithSubjects } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Wire } from '../../machinery/object.ts'
import { type FieldError, invalidValue, notSupported, required } from '../../machinery/validation/field-error.ts'
import { each, follows } from '../../machinery/validation/field-rules.ts'
import { dnsSubdomain } from '../../machinery/validation/names.ts'
import { age, column, name, resource } from '../resource.ts'
import { type FlowSchema, mandatoryFlowSchemas } from './bootstrap-objects.ts'

export const flowSchemas = resource<FlowSchema>({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'FlowSchema',
  plural: 'flowschemas',
  scope: 'Cluster',
  subresources: { status: true },
  generation: 'spec',
  defaults: [
    ({ spec }) => {
      if (spec && !spec.matchingPrecedence) spec.matchingPrecedence = 1000
    },
  ],
  prepare: {
    create: (schema) => {
      schema.status = {}
    },
  },
  validate: { object: schemaRules },
  columns: [
    name,
    column('PriorityLevel', ({ spec }) => spec?.priorityLevelConfiguration.name ?? '<none>', { description: 'The level that its requests go to.' }),
    column('MatchingPrecedence', ({ spec }) => spec?.matchingPrecedence ?? 0, {
      type: 'integer',
      description: 'The order in which schemas are asked: less is earlier.',
    }),
    column('DistinguisherMethod', ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>', { description: 'What sets one flow apart from another.' }),
    age,
    column('MissingPL', ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?', {
      description: 'Whether its level is missing.',
    }),
  ],
})

const methods = ['ByNamespace', 'ByUser']

function schemaRules({ metadata, spec }: FlowSchema): readonly FieldError[] {
  const errors: FieldError[] = []
  const precedence = spec?.matchingPrecedence ?? 0
  if (precedence <= 0) errors.push(invalidValue('spec.matchingPrecedence', precedence, 'must be a positive value'))
  if (precedence > 10000) errors.push(invalidValue('spec.matchingPrecedence', precedence, 'must not be greater than 10000'))
  if (precedence === 1 && metadata.name !== 'exempt')
    errors.push(invalidValue('spec.matchingPrecedence', precedence, "only the schema named 'exempt' may have matchingPrecedence 1"))
  const method = spec?.distinguisherMethod?.type
  if (method !== undefined && !methods.includes(method)) {
    const [error] = [notSupported('spec.distinguisherMethod.type', method, methods)]
    errors.push({ ...error, message: error.message.replace(JSON.stringify(method), `flowcontrol.FlowDistinguisherMethod{Type:${JSON.stringify(method)}}`) })
  }
  const level = spec?.priorityLevelConfiguration?.name
  errors.push(
    ...(level
      ? follows(level, 'spec.priorityLevelConfiguration.name', dnsSubdomain)
      : [required('spec.priorityLevelConfiguration.name', 'must reference a priority level')]),
  )
  const fixed = mandatoryFlowSchemas.find((mandatory) => mandatory.metadata.name === metadata.name)
  const changed = fixed && !semanticallyEqual(spec, fixed.spec) ? [invalidValue('spec', spec, `spec of '${metadata.name}' must equal the fixed value`)] : []
  return [...errors, ...each(spec?.rules, 'spec.rules', ruleRules), ...changed]
}

function ruleRules({ subjects, resourceRules, nonResourceRules }: Wire<V1PolicyRulesWithSubjects>, path: string): readonly FieldError[] {
  const errors = subjects?.length ? [] : [required(`${path}.subjects`, 'subjects must contain at least one value')]
  subjects?.forEach(({ kind, user, group, serviceAccount }, at) => {
    const field = `${path}.subjects[${at}]`
    const named = new Map<string, [string, unknown]>([
      ['User', ['user', user]],
      ['Group', ['group', group]],
      ['ServiceAccount', ['serviceAccount', serviceAccount]],
    ]).get(kind)
    if (!named) errors.push(notSupported(`${field}.kind`, kind, ['Group', 'ServiceAccount', 'User']))
    else if (!named[1]) errors.push(required(`${field}.${named[0]}`, `${named[0]} is required when subject kind is '${kind}'`))
  })
  if (!resourceRules?.length && !nonResourceRules?.length) errors.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'))
  resourceRules?.forEach((rule, at) => {
    const field = `${path}.resourceRules[${at}]`
    if (!rule.verbs?.length) errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'))
    if (!rule.apiGroups?.length) errors.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'))
    if (!rule.resources?.length) errors.push(required(`${field}.resources`, 'resource rules must supply at least one resource'))
    if (!rule.namespaces?.length && !rule.clusterScope)
      errors.push(required(`${field}.namespaces`, 'resource rules that are not cluster scoped must supply at least one namespace'))
  })
  nonResourceRules?.forEach((rule, at) => {
    const field = `${path}.nonResourceRules[${at}]`
    if (!rule.verbs?.length) errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'))
    if (!rule.nonResourceURLs?.length) errors.push(required(`${field}.nonResourceURLs`, 'nonResourceURLs must contain at least one value'))
  })
  return errors
}
