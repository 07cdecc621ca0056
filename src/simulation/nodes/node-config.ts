/** The file of `--node-config`: groups of simulated nodes, decoded strictly, with every mistake named. */
import { anything, decodeConfiguration, int32, listOf, structOf, text } from '../../machinery/decode/configuration.ts'
import type { FieldType } from '../../machinery/schema.ts'
import { isQuantity } from '../../machinery/values/quantity.ts'
import { fromYaml } from '../../machinery/yaml.ts'
import { behaviourKeys } from '../pods/behaviour.ts'
import { type NodeGroup, type Quantities, type Taint, usualCapacity } from './node-shape.ts'

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

/** The groups of a file's text. Throws an Error that says what is wrong. */
export function parseNodeConfig(content: string): NodeGroup[] {
  const { groups = [] } = decodeConfiguration<{ readonly groups?: readonly FileGroup[] }>(
    fromYaml(content),
    configuration,
  )
  const errors = groups.flatMap((group, i) => groupErrors(group, `groups[${i}]`))
  const names = groups.map(({ name = 'node' }) => name)
  for (const name of new Set(names))
    if (names.indexOf(name) !== names.lastIndexOf(name)) errors.push(`groups: there are two that are called ${name}`)
  if (groups.length === 0) errors.push('groups: there has to be one at least')
  if (groups.filter(({ count }) => count === undefined).length > 1)
    errors.push('groups: one only may be without a count')
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
        : [`${where}.${what}.${resource}: ${JSON.stringify(amount)} is no quantity such as 500m or 16Gi`],
    )
  return [
    ...(dnsLabel.test(name)
      ? []
      : [`${where}.name: ${JSON.stringify(name)} has to be of small letters, digits and dashes`]),
    ...(count < 0 ? [`${where}.count: it has to be 0 or more`] : []),
    ...wrong('capacity', capacity),
    ...wrong('allocatable', allocatable),
    ...taints.flatMap(({ key, effect }, i) =>
      key && effects.includes(effect)
        ? []
        : [`${where}.taints[${i}]: it needs a key, and an effect that is one of ${effects.join(', ')}`],
    ),
    ...zones.flatMap((zone) =>
      /^[\w.-]+(\/[\w.-]+)?$/.test(zone)
        ? []
        : [`${where}.zones: ${JSON.stringify(zone)} is neither a zone nor region/zone`],
    ),
    ...Object.keys(pods).flatMap((key) =>
      (podKeys as readonly string[]).includes(key)
        ? []
        : [`${where}.pods: ${JSON.stringify(key)} is none of ${podKeys.join(', ')}`],
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
      capacity: { ...usualCapacity, ...asText(capacity) },
      ...(allocatable && { allocatable: asText(allocatable) }),
      labels,
      annotations,
      taints,
    },
    zones,
    pods,
  }
}

/** YAML reads `cpu: 4` as a number. */
const asText = (amounts: Quantities = {}): Quantities =>
  Object.fromEntries(Object.entries(amounts).map(([resource, amount]) => [resource, `${amount}`]))
