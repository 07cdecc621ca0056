/** FlowSchemas: classify requests into flows and assign them to a priority level. */

import type { V1NonResourcePolicyRule, V1PolicyRulesWithSubjects, V1ResourcePolicyRule } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Wire } from '../../machinery/object.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../machinery/validation/field-error.ts'
import { all, each, follows } from '../../machinery/validation/field-rules.ts'
import { flag, list, number, optional, pointer, struct, text } from '../../machinery/validation/internal-type.ts'
import { dnsLabel, dnsSubdomain } from '../../machinery/validation/names.ts'
import { age, column, name, resource } from '../resource.ts'
import { type FlowSchema, mandatoryFlowSchemas } from './bootstrap-objects.ts'
import { conditionRules } from './conditions.ts'

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
  resetFields: { status: ['metadata', 'spec'] },
  prepare: {
    create: (schema) => {
      schema.status = {}
    },
  },
  validate: { object: schemaRules, status: ({ status }) => conditionRules(status?.conditions) },
  columns: [
    name,
    column('PriorityLevel', ({ spec }) => spec?.priorityLevelConfiguration.name ?? '<none>', {
      description: 'The priority level of its requests.',
    }),
    column('MatchingPrecedence', ({ spec }) => spec?.matchingPrecedence ?? 0, {
      type: 'integer',
      description: 'The order of evaluation: lower values first.',
    }),
    column('DistinguisherMethod', ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>', {
      description: 'The request attribute that separates flows.',
    }),
    age,
    column('MissingPL', ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?', {
      description: 'Whether the priority level is missing.',
    }),
  ],
})

const methods = ['ByNamespace', 'ByUser']

const shownSpec = struct({
  PriorityLevelConfiguration: struct({ Name: text }),
  MatchingPrecedence: number,
  DistinguisherMethod: pointer({ Type: text }),
  Rules: list({
    Subjects: list({
      Kind: text,
      User: pointer({ Name: text }),
      Group: pointer({ Name: text }),
      ServiceAccount: pointer({ Namespace: text, Name: text }),
    }),
    ResourceRules: list({
      Verbs: optional,
      APIGroups: optional,
      Resources: optional,
      ClusterScope: flag,
      Namespaces: optional,
    }),
    NonResourceRules: list({ Verbs: optional, NonResourceURLs: optional }),
  }),
})

function schemaRules({ metadata, spec }: FlowSchema): readonly FieldError[] {
  const errors: FieldError[] = []
  const precedence = spec?.matchingPrecedence ?? 0
  if (precedence <= 0) errors.push(invalidValue('spec.matchingPrecedence', precedence, 'must be a positive value'))
  if (precedence > 10000)
    errors.push(invalidValue('spec.matchingPrecedence', precedence, 'must not be greater than 10000'))
  if (precedence === 1 && metadata.name !== 'exempt')
    errors.push(
      invalidValue(
        'spec.matchingPrecedence',
        precedence,
        "only the schema named 'exempt' may have matchingPrecedence 1",
      ),
    )
  const method = spec?.distinguisherMethod?.type
  // Upstream shows the whole method.
  if (method !== undefined && !methods.includes(method))
    errors.push(notSupported('spec.distinguisherMethod.type', { Type: method }, methods))
  const level = spec?.priorityLevelConfiguration?.name
  errors.push(
    ...(level
      ? follows(level, 'spec.priorityLevelConfiguration.name', dnsSubdomain)
      : [required('spec.priorityLevelConfiguration.name', 'must reference a priority level')]),
  )
  const fixed = mandatoryFlowSchemas.find((mandatory) => mandatory.metadata.name === metadata.name)
  const changed =
    fixed && !semanticallyEqual(spec, fixed.spec)
      ? [invalidValue('spec', shownSpec(spec), `spec of '${metadata.name}' must equal the fixed value`)]
      : []
  return [...errors, ...each(spec?.rules, 'spec.rules', ruleRules), ...changed]
}

function ruleRules(
  { subjects, resourceRules, nonResourceRules }: Wire<V1PolicyRulesWithSubjects>,
  path: string,
): readonly FieldError[] {
  return all(
    subjects?.length
      ? each(subjects, `${path}.subjects`, subjectRules)
      : [required(`${path}.subjects`, 'subjects must contain at least one value')],
    resourceRules?.length || nonResourceRules?.length
      ? []
      : [required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')],
    each(resourceRules, `${path}.resourceRules`, resourceRuleRules),
    each(nonResourceRules, `${path}.nonResourceRules`, pathRuleRules),
  )
}

type Subject = NonNullable<Wire<V1PolicyRulesWithSubjects>['subjects']>[number]
const members = [
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
] as const

function subjectRules(subject: Subject, path: string): readonly FieldError[] {
  const { kind } = subject
  const named = members.find(([name]) => name === kind)?.[1]
  if (!named) return [notSupported(`${path}.kind`, kind, ['Group', 'ServiceAccount', 'User'])]
  const others = members.filter(([, member]) => member !== named && subject[member])
  return [
    ...memberRules(subject, named, kind, `${path}.${named}`),
    ...others.map(([other, member]) =>
      forbiddenField(`${path}.${member}`, `${member} is forbidden when subject kind is not '${other}'`),
    ),
  ]
}

function memberRules(
  subject: Subject,
  member: (typeof members)[number][1],
  kind: string,
  path: string,
): readonly FieldError[] {
  const value = subject[member]
  if (!value) return [required(path, `${member} is required when subject kind is '${kind}'`)]
  const named = value.name ? [] : [required(`${path}.name`)]
  if (member !== 'serviceAccount') return named
  const { name, namespace } = subject.serviceAccount!
  return [
    ...named,
    ...(name && name !== '*' ? follows(name, `${path}.name`, dnsSubdomain) : []),
    ...(namespace
      ? follows(namespace, `${path}.namespace`, dnsLabel)
      : [required(`${path}.namespace`, 'must specify namespace for service account')]),
  ]
}

const knownVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']

/** Rejects `*` together with other values. */
const validateWildcard = (list: readonly string[] | undefined, path: string, what: string): readonly FieldError[] =>
  list && list.length > 1 && list.includes('*')
    ? [invalidValue(path, list, `if '*' is present, must not specify other ${what}`)]
    : []

function verbRules(verbs: readonly string[] | undefined, path: string): readonly FieldError[] {
  if (!verbs?.length) return [required(path, 'verbs must contain at least one value')]
  if (verbs.includes('*')) return validateWildcard(verbs, path, 'verbs')
  return verbs.every((verb) => knownVerbs.includes(verb)) ? [] : [notSupported(path, verbs, knownVerbs)]
}

function resourceRuleRules(
  { verbs, apiGroups, resources, namespaces, clusterScope }: Wire<V1ResourcePolicyRule>,
  path: string,
): readonly FieldError[] {
  return all(
    verbRules(verbs, `${path}.verbs`),
    apiGroups?.length
      ? validateWildcard(apiGroups, `${path}.apiGroups`, 'api groups')
      : [required(`${path}.apiGroups`, 'resource rules must supply at least one api group')],
    resources?.length
      ? validateWildcard(resources, `${path}.resources`, 'resources')
      : [required(`${path}.resources`, 'resource rules must supply at least one resource')],
    namespaceRules(namespaces, clusterScope === true, `${path}.namespaces`),
  )
}

function namespaceRules(
  namespaces: readonly string[] | undefined,
  clusterScope: boolean,
  path: string,
): readonly FieldError[] {
  if (!namespaces?.length && !clusterScope)
    return [required(path, 'resource rules that are not cluster scoped must supply at least one namespace')]
  if (namespaces?.includes('*')) return validateWildcard(namespaces, path, 'namespaces')
  return each(namespaces, path, (namespace, at) =>
    dnsLabel(namespace).map((message) =>
      invalidValue(at, namespace, `each member of this list must be '*' or a DNS-1123 label; ${message}`),
    ),
  )
}

function pathRuleRules({ verbs, nonResourceURLs }: Wire<V1NonResourcePolicyRule>, path: string): readonly FieldError[] {
  const field = `${path}.nonResourceURLs`
  return all(
    verbRules(verbs, `${path}.verbs`),
    !nonResourceURLs?.length
      ? [required(field, 'nonResourceURLs must contain at least one value')]
      : nonResourceURLs.includes('*')
        ? validateWildcard(nonResourceURLs, field, 'non-resource URLs')
        : each(nonResourceURLs, field, (url, at) => {
            const fault = pathFault(url)
            return fault ? [invalidValue(at, url, fault)] : []
          }),
  )
}

function pathFault(path: string): string | undefined {
  if (path === '') return 'must not be empty'
  if (path === '/') return undefined
  if (!path.startsWith('/')) return 'must start with slash'
  if (path.includes(' ')) return 'must not contain white-space'
  if (path.includes('//')) return 'must not contain double slash'
  const stars = path.split('*').length - 1
  return stars > 1 || (stars === 1 && !path.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined
}
