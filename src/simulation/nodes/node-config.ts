/** The file of `--node-config`: groups of simulated nodes, decoded strictly, with all errors. */
import { anything, decodeConfiguration, int32, listOf, structOf, text } from '../../machinery/decode/configuration.ts'
import type { FieldType } from '../../machinery/schema.ts'
import { isQuantity } from '../../machinery/values/quantity.ts'
import { fromYaml } from '../../machinery/yaml.ts'
import { behaviourKeys } from '../pods/behaviour.ts'
import { defaultCapacity, type NodeGroup, type Quantities, type Taint } from './node-shape.ts'

interface FileGroup {
  readonly name?: string
  readonly count?: number
  readonly architecture?: string
  readonly capacity?: Quantities
  readonly allocatable?: Quantities
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
  readonly zones?: readonly string[]
  readonly pods?: Readonly<Record<string, string>>
}

const mapOf = (values: FieldType): FieldType => ({ kind: 'map', values })
const texts = mapOf(text)
const quantities = mapOf(anything)

const configuration = {
  kind: 'SimulatedNodes',
  versions: ['simulation.typernetes.io/v1alpha1'],
  fields: {
    groups: listOf(
      structOf('NodeGroup', {
        name: text,
        count: int32,
        architecture: text,
        capacity: quantities,
        allocatable: quantities,
        labels: texts,
        annotations: texts,
        taints: listOf(structOf('Taint', { key: text, value: text, effect: text })),
        zones: listOf(text),
        pods: texts,
      }),
    ),
  },
}

const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$/
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Parses the groups of a file. Throws an Error with all errors found. */
export function parseNodeConfig(content: string): NodeGroup[] {
  const { groups = [] } = decodeConfiguration<{ readonly groups?: readonly FileGroup[] }>(
    fromYaml(content),
    configuration,
  )
  const errors = groups.flatMap((group, i) => groupErrors(group, `groups[${i}]`))
  const names = groups.map(({ name = 'node' }) => name)
  for (const name of new Set(names))
    if (names.indexOf(name) !== names.lastIndexOf(name)) errors.push(`groups: the name ${name} is used twice`)
  if (groups.length === 0) errors.push('groups: at least one is required')
  if (groups.filter(({ count }) => count === undefined).length > 1) errors.push('groups: only one may have no count')
  if (errors.length > 0) throw new Error(errors.join('; '))
  return groups.map(groupOf)
}

function groupErrors(
  { name = 'node', count = 0, capacity = {}, allocatable = {}, taints = [], zones = [], pods = {} }: FileGroup,
  where: string,
): string[] {
  const wrong = (what: string, amounts: Quantities): string[] =>
    Object.entries(amounts).flatMap(([resource, amount]) =>
      isQuantity(amount)
        ? []
        : [`${where}.${what}.${resource}: ${JSON.stringify(amount)} is not a quantity such as 500m or 16Gi`],
    )
  return [
    ...(dnsLabel.test(name)
      ? []
      : [`${where}.name: ${JSON.stringify(name)} must consist of lower case letters, digits and dashes`]),
    ...(count < 0 ? [`${where}.count: must be 0 or more`] : []),
    ...wrong('capacity', capacity),
    ...wrong('allocatable', allocatable),
    ...taints.flatMap(({ key, effect }, i) =>
      key && effects.includes(effect)
        ? []
        : [`${where}.taints[${i}]: it needs a key, and an effect of ${effects.join(', ')}`],
    ),
    ...zones.flatMap((zone) =>
      /^[\w.-]+(\/[\w.-]+)?$/.test(zone) ? [] : [`${where}.zones: ${JSON.stringify(zone)} must be zone or region/zone`],
    ),
    ...Object.keys(pods).flatMap((key) =>
      (podKeys as readonly string[]).includes(key)
        ? []
        : [`${where}.pods: ${JSON.stringify(key)} must be one of ${podKeys.join(', ')}`],
    ),
  ]
}

const podKeys = [...behaviourKeys, 'cpu', 'memory'] as const

function groupOf({
  name = 'node',
  count,
  architecture = 'amd64',
  capacity,
  allocatable,
  labels,
  annotations,
  taints,
  zones,
  pods,
}: FileGroup): NodeGroup {
  return {
    name,
    ...(count !== undefined && { count }),
    shape: {
      architecture,
      capacity: { ...defaultCapacity, ...asText(capacity) },
      ...(allocatable && { allocatable: asText(allocatable) }),
      labels,
      annotations,
      taints,
    },
    zones,
    pods,
  }
}

/** YAML parses `cpu: 4` as a number. */
const asText = (amounts: Quantities = {}): Quantities =>
  Object.fromEntries(Object.entries(amounts).map(([resource, amount]) => [resource, `${amount}`]))
