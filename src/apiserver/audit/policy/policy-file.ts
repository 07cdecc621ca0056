/** Reads the file of `--audit-policy-file` strictly, with upstream's error messages. */
import { readFileSync } from 'node:fs'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { isObject } from '../../../machinery/fields/json.ts'
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/validation/field-error.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'
import { type ParsedYaml, parseYaml } from '../../../machinery/yaml.ts'
import { type GroupResources, levels, type Policy, type PolicyRule, stages } from './policy.ts'

const groupVersion = 'audit.k8s.io/v1'

/** Throws an ExplainedError that names the file and the fault. */
export function readPolicyFile(file: string): Policy {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ExplainedError(
      `loading audit policy file: failed to read file path ${JSON.stringify(file)}: ${(error as Error).message}`,
    )
  }
  try {
    return parsePolicy(text)
  } catch (error) {
    throw new ExplainedError(`loading audit policy file: ${(error as Error).message}: from file ${file}`)
  }
}

/** Throws an Error with the faults of the text. */
export function parsePolicy(text: string): Policy {
  const { value, strict } = parsed(text)
  if (!isObject(value))
    throw new Error("failed decoding: couldn't get version/kind; json: cannot unmarshal into a Policy")
  const { apiVersion, kind } = value
  if (!kind) throw new Error(`failed decoding: Object 'Kind' is missing in ${JSON.stringify(text.slice(0, 100))}`)
  if (!apiVersion)
    throw new Error(`failed decoding: Object 'apiVersion' is missing in ${JSON.stringify(text.slice(0, 100))}`)
  if (kind !== 'Policy' || apiVersion !== groupVersion) {
    throw new Error(
      `failed decoding: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}; ` +
        `it must be kind Policy of ${groupVersion}`,
    )
  }
  const faults: string[] = [...strict]
  checkShape(value, policyShape, '', faults)
  if (faults.length > 0) throw new Error(`failed decoding: strict decoding error: ${faults.join(', ')}`)
  const policy = value as unknown as Policy
  const errors = policyErrors(policy)
  if (errors.length > 0) throw new Error(errors.length === 1 ? shown(errors[0]!) : `[${errors.map(shown).join(', ')}]`)
  if (!policy.rules?.length) throw new Error('loaded illegal policy with 0 rules')
  return policy
}

const shown = ({ field, message }: FieldError): string => `${field}: ${message}`

function parsed(text: string): ParsedYaml {
  try {
    return parseYaml(text)
  } catch (error) {
    throw new Error(`failed decoding: ${(error as Error).message}`)
  }
}

type Shape = 'string' | 'boolean' | 'strings' | 'any' | { readonly [member: string]: Shape } | readonly [Shape]

const policyShape: Shape = {
  apiVersion: 'string',
  kind: 'string',
  metadata: 'any',
  omitStages: 'strings',
  omitManagedFields: 'boolean',
  rules: [
    {
      level: 'string',
      users: 'strings',
      userGroups: 'strings',
      verbs: 'strings',
      resources: [{ group: 'string', resources: 'strings', resourceNames: 'strings' }],
      namespaces: 'strings',
      nonResourceURLs: 'strings',
      omitStages: 'strings',
      omitManagedFields: 'boolean',
    },
  ],
}

/** Null means missing. */
function checkShape(value: unknown, shape: Shape, path: string, faults: string[]): void {
  if (value === null || value === undefined || shape === 'any') return
  const cannot = (type: string): number =>
    faults.push(`json: cannot unmarshal ${goType(value)} into Go struct field .${path} of type ${type}`)
  if (shape === 'string' || shape === 'boolean') {
    if (typeof value !== shape) cannot(shape === 'boolean' ? 'bool' : 'string')
  } else if (shape === 'strings' || isListShape(shape)) {
    if (!Array.isArray(value)) cannot('[]string')
    else
      for (const [i, item] of value.entries())
        checkShape(item, shape === 'strings' ? 'string' : shape[0], `${path}[${i}]`, faults)
  } else if (!isObject(value)) cannot('object')
  else
    for (const [member, inner] of Object.entries(value)) {
      const at = path ? `${path}.${member}` : member
      if (Object.hasOwn(shape, member)) checkShape(inner, shape[member]!, at, faults)
      else faults.push(`unknown field ${JSON.stringify(at)}`)
    }
}

const isListShape = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape)

const goType = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value

function policyErrors({ rules, omitStages }: Policy): FieldError[] {
  return [
    ...stageErrors(omitStages, 'omitStages'),
    ...(rules ?? []).flatMap((rule, i) => ruleErrors(rule ?? {}, `rules[${i}]`)),
  ]
}

function ruleErrors(
  { level, nonResourceURLs, resources, namespaces, omitStages }: PolicyRule,
  path: string,
): FieldError[] {
  return [
    ...(!level
      ? [required(`${path}.level`)]
      : levels.includes(level)
        ? []
        : [notSupported(`${path}.level`, level, levels)]),
    ...(nonResourceURLs ?? []).flatMap((url, i) => urlErrors(url, `${path}.nonResourceURLs[${i}]`)),
    ...(resources ?? []).flatMap((named) => resourceErrors(named, `${path}.resources`)),
    ...stageErrors(omitStages, `${path}.omitStages`),
    ...(nonResourceURLs?.length && (resources?.length || namespaces?.length)
      ? [
          invalidValue(
            `${path}.nonResourceURLs`,
            nonResourceURLs,
            'rules cannot apply to both regular resources and non-resource URLs',
          ),
        ]
      : []),
  ]
}

const urlErrors = (url: string, path: string): FieldError[] =>
  url === '*'
    ? []
    : [
        ...(url.startsWith('/')
          ? []
          : [invalidValue(path, url, "non-resource URL rules must begin with a '/' character")]),
        ...(url.slice(0, -1).includes('*')
          ? [invalidValue(path, url, "non-resource URL wildcards '*' must be the final character of the rule")]
          : []),
      ]

function resourceErrors({ group, resources, resourceNames }: GroupResources, path: string): FieldError[] {
  const wrong = group ? dnsSubdomain(group) : []
  return [
    ...(wrong.length > 0 ? [invalidValue(`${path}.group`, group, wrong.join(','))] : []),
    ...(resourceNames?.length && !resources?.length
      ? [invalidValue(`${path}.resourceNames`, resourceNames, 'using resourceNames requires at least one resource')]
      : []),
  ]
}

const stageErrors = (given: readonly string[] | undefined, path: string): FieldError[] =>
  (given ?? []).flatMap((stage, i) =>
    stages.some((known) => known === stage)
      ? []
      : [invalidValue(`${path}[${i}]`, stage, `allowed stages are ${stages.join(',')}`)],
  )
