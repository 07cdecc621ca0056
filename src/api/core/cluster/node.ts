/** Nodes: the machines that run pods. */

import type { V1Node } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import { cidrWarnings } from '../../../machinery/validation/address-warnings.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../machinery/validation/field-error.ts'
import { all, exceptOldValues, follows, valid } from '../../../machinery/validation/field-rules.ts'
import { optional, struct, text } from '../../../machinery/validation/internal-type.ts'
import { cidr, labelValue, qualifiedName } from '../../../machinery/validation/names.ts'
import { nullMissingTimes } from '../../nulls.ts'
import { age, column, name, resource, wide } from '../../resource.ts'
import { taintEffects } from '../pod/validation/scheduling.ts'
import { resourceListDefaults } from '../quota/resource-list.ts'
import { resourceAmount } from '../quota/resource-rules.ts'

type Node = Model<V1Node>
type NodeSpec = NonNullable<Node['spec']>

const infoFields = [
  'architecture',
  'bootID',
  'containerRuntimeVersion',
  'kernelVersion',
  'kubeProxyVersion',
  'kubeletVersion',
  'machineID',
  'operatingSystem',
  'osImage',
  'systemUUID',
] as const

function nodeDefaults(node: Node): void {
  node.spec ??= {}
  const spec = node.spec
  node.status ??= {}
  const status = node.status
  // `podCIDR` is the first of `podCIDRs`; either may be given.
  if (spec.podCIDR && !spec.podCIDRs?.length) spec.podCIDRs = [spec.podCIDR]
  else if (spec.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR]
  else if (spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0]
  resourceListDefaults(status.capacity)
  if (status.allocatable === undefined && status.capacity) status.allocatable = { ...status.capacity }
  resourceListDefaults(status.allocatable)
  status.daemonEndpoints ??= {}
  const daemons = status.daemonEndpoints
  daemons.kubeletEndpoint ??= { Port: 0 } as NonNullable<typeof daemons.kubeletEndpoint>
  status.nodeInfo ??= {} as NonNullable<typeof status.nodeInfo>
  const info = status.nodeInfo
  for (const field of infoFields) info[field] ??= ''
  if (status.conditions) nullMissingTimes(status.conditions, 'lastHeartbeatTime', 'lastTransitionTime')
}

const shownTaint = struct({ Key: text, Value: text, Effect: text, TimeAdded: optional })
const shownAddress = struct({ Type: text, Address: text })

/** Upstream's paths of taints begin with `metadata`. */
function taints({ taints: list }: NodeSpec): readonly FieldError[] {
  const seen = new Set<string>()
  return (list ?? []).flatMap((taint, i) => {
    const { key, value, effect } = taint
    const path = `metadata.taints[${i}]`
    const pair = `${key}:${effect}`
    const twice = seen.has(pair)
      ? [duplicate(path, shownTaint(taint), 'taints must be unique by key and effect pair')]
      : valid
    seen.add(pair)
    const effects = !effect
      ? [required(`${path}.effect`)]
      : taintEffects.includes(effect)
        ? valid
        : [notSupported(`${path}.effect`, effect, taintEffects)]
    return all(
      follows(key ?? '', `${path}.key`, qualifiedName),
      validateTaintValue(value, `${path}.value`),
      effects,
      twice,
    )
  })
}

/** Returns all messages about a value as one error. */
function validateTaintValue(value: string | undefined, path: string): readonly FieldError[] {
  const messages = value ? labelValue(value) : []
  return messages.length > 0 ? [invalidValue(path, value, messages.join(';'))] : valid
}

const amounts = (list: Record<string, string> | undefined, path: string): readonly FieldError[] =>
  Object.entries(list ?? {}).flatMap(([resource, amount]) => resourceAmount(resource, amount, `${path}.${resource}`))

function podCIDRs({ podCIDRs: list }: NodeSpec, old: NodeSpec): readonly FieldError[] {
  if (!list) return valid
  const rule = exceptOldValues(cidr, old.podCIDRs)
  const errors = list.flatMap((range, i) => follows(range, `spec.podCIDRs[${i}]`, rule))
  const families = new Set(list.map((range) => range.includes(':')))
  if (list.length > 2 || (list.length === 2 && families.size === 1))
    errors.push(invalidValue('spec.podCIDRs', list, 'may specify no more than one CIDR for each IP family'))
  return errors
}

const rules = ({ spec = {}, status = {} }: Node, old?: Node): readonly FieldError[] =>
  all(
    taints(spec),
    amounts(status.capacity, 'status.capacity'),
    amounts(status.allocatable, 'status.allocatable'),
    podCIDRs(spec, old?.spec ?? {}),
  )

function addresses(list: NonNullable<Node['status']>['addresses']): readonly FieldError[] {
  const seen = new Set<string>()
  return (list ?? []).flatMap((address, i) => {
    const key = `${address.type} ${address.address}`
    const twice = seen.has(key) ? [duplicate(`status.addresses[${i}]`, shownAddress(address))] : valid
    seen.add(key)
    return twice
  })
}

/** Returns warnings about deprecated fields and ambiguous CIDRs. */
function nodeWarnings({ spec = {} }: Node): string[] {
  return [
    ...(spec.configSource ? ['spec.configSource: the feature is removed'] : []),
    ...(spec.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
    ...(spec.podCIDRs ?? []).flatMap((range, i) => cidrWarnings(range, `spec.podCIDRs[${i}]`)),
  ]
}

/** Validates fields that can be set only once: podCIDRs and providerID. */
function validateImmutable({ spec = {} }: Node, { spec: old = {} }: Node): readonly FieldError[] {
  const errors: FieldError[] = []
  if (old.podCIDRs?.length && !semanticallyEqual(spec.podCIDRs, old.podCIDRs))
    errors.push(forbiddenField('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'))
  if (old.providerID && spec.providerID !== old.providerID)
    errors.push(forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid'))
  if (spec.externalID !== old.externalID) errors.push(forbiddenField('spec.externalID', 'may not be updated'))
  return errors
}

function status({ spec, status }: Node): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready')
  const state = !ready ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return spec?.unschedulable ? `${state},SchedulingDisabled` : state
}

const rolePrefix = 'node-role.kubernetes.io/'

function roles({ metadata }: Node): string {
  const found = new Set<string>()
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) found.add(key.slice(rolePrefix.length))
    else if (key === 'kubernetes.io/role' && value !== '') found.add(value)
  }
  return [...found].sort().join(',') || '<none>'
}

const address = (type: string) => (node: Node) =>
  node.status?.addresses?.find((one) => one.type === type)?.address ?? '<none>'
const info = (field: 'osImage' | 'kernelVersion' | 'containerRuntimeVersion') => (node: Node) =>
  node.status?.nodeInfo?.[field] || '<unknown>'
/** Includes the architecture, since Kubernetes 1.35. */
const kernel = (node: Node): string => {
  const architecture = node.status?.nodeInfo?.architecture
  return info('kernelVersion')(node) + (architecture ? ` (${architecture})` : '')
}

export const nodes = resource<Node>({
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  shortNames: ['no'],
  scope: 'Cluster',
  storagePath: 'minions',
  subresources: {
    status: true,
    special: [{ name: 'proxy', kind: 'NodeProxyOptions', verbs: ['create', 'delete', 'get', 'patch', 'update'] }],
  },
  defaults: [nodeDefaults],
  acceptsStatusOnCreate: true,
  validate: {
    object: rules,
    update: (node, old) => all(addresses(node.status?.addresses), validateImmutable(node, old)),
    status: (node, old) => all(rules(node, old), addresses(node.status?.addresses)),
  },
  warnings: nodeWarnings,
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable ?? false) },
  columns: [
    name,
    column('Status', status, { description: 'Whether the node is ready, and whether it accepts new pods.' }),
    column('Roles', roles, { description: 'The roles in the labels of the node.' }),
    age,
    column('Version', (node) => node.status?.nodeInfo?.kubeletVersion ?? '', {
      description: 'The version of its kubelet.',
    }),
    wide('Internal-IP', address('InternalIP'), { description: 'The first internal address.' }),
    wide('External-IP', address('ExternalIP'), { description: 'The first external address.' }),
    wide('OS-Image', info('osImage'), { description: 'Its operating system.' }),
    wide('Kernel-Version', kernel, { description: 'The kernel version and the architecture.' }),
    wide('Container-Runtime', info('containerRuntimeVersion'), {
      description: 'The container runtime and its version.',
    }),
  ],
})
