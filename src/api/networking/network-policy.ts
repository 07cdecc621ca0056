/** NetworkPolicies: the allowed traffic of pods. */
import type { V1IPBlock, V1NetworkPolicy, V1NetworkPolicyPeer, V1NetworkPolicyPort } from '@kubernetes/client-node'
import { parseCidr } from '../../lib/cidr.ts'
import type { Model, Wire } from '../../machinery/object.ts'
import { labelSelectorText, validateLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { cidrWarnings } from '../../machinery/validation/address-warnings.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../machinery/validation/field-error.ts'
import { all, each, exceptOldValues, follows } from '../../machinery/validation/field-rules.ts'
import { cidr as cidrRule, portName, portNumber, type TextRule } from '../../machinery/validation/names.ts'
import { age, column, name, resource } from '../resource.ts'

type NetworkPolicy = Model<V1NetworkPolicy>
type Peer = Wire<V1NetworkPolicyPeer>

const directions = ['Ingress', 'Egress']
const protocols = ['TCP', 'UDP', 'SCTP']

export const networkPolicies = resource<NetworkPolicy>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  shortNames: ['netpol'],
  scope: 'Namespaced',
  generation: 'spec',
  defaults: [policyDefaults],
  validate: { object: policyRules },
  warnings: policyWarnings,
  columns: [
    name,
    column('Pod-Selector', ({ spec }) => labelSelectorText(spec?.podSelector), {
      description: 'The label selector of the pods.',
    }),
    age,
  ],
})

function policyDefaults(policy: NetworkPolicy): void {
  policy.spec ??= { podSelector: {} }
  const { spec } = policy
  spec.podSelector ??= {}
  for (const port of [...(spec.ingress ?? []), ...(spec.egress ?? [])].flatMap(({ ports }) => ports ?? []))
    port.protocol ??= 'TCP'
  if (!spec.policyTypes?.length) spec.policyTypes = spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress']
}

function policyRules({ spec }: NetworkPolicy, old?: NetworkPolicy): readonly FieldError[] {
  const range = exceptOldValues(cidrRule, old && rangesOf(old))
  const errors = validateLabelSelector(spec?.podSelector, 'spec.podSelector')
  spec?.ingress?.forEach(({ ports, from }, at) => {
    ports?.forEach((port, index) => {
      errors.push(...portRules(port, `spec.ingress[${at}].ports[${index}]`))
    })
    from?.forEach((peer, index) => {
      errors.push(...peerRules(peer, `spec.ingress[${at}].from[${index}]`, range))
    })
  })
  spec?.egress?.forEach(({ ports, to }, at) => {
    ports?.forEach((port, index) => {
      errors.push(...portRules(port, `spec.egress[${at}].ports[${index}]`))
    })
    to?.forEach((peer, index) => {
      errors.push(...peerRules(peer, `spec.egress[${at}].to[${index}]`, range))
    })
  })
  const types = spec?.policyTypes ?? []
  if (types.length > directions.length)
    return [...errors, invalidValue('spec.policyTypes', types, 'may not specify more than two policyTypes')]
  types.forEach((type, at) => {
    if (!directions.includes(type)) errors.push(notSupported(`spec.policyTypes[${at}]`, type, directions))
  })
  return errors
}

/** Returns all CIDRs of a policy. */
const rangesOf = ({ spec }: NetworkPolicy): string[] =>
  [
    ...(spec?.ingress ?? []).flatMap(({ from }) => from ?? []),
    ...(spec?.egress ?? []).flatMap(({ to }) => to ?? []),
  ].flatMap(({ ipBlock }) => (ipBlock ? [ipBlock.cidr, ...(ipBlock.except ?? [])] : []))

/** Warns of CIDRs that are not canonical. */
function policyWarnings({ spec }: NetworkPolicy): string[] {
  const blocks = (peers: readonly Peer[] | undefined, path: string): string[] =>
    (peers ?? []).flatMap(({ ipBlock }, i) =>
      ipBlock
        ? [
            ...cidrWarnings(ipBlock.cidr, `${path}[${i}].ipBlock.cidr`),
            ...(ipBlock.except ?? []).flatMap((range, j) => cidrWarnings(range, `${path}[${i}].ipBlock.except[${j}]`)),
          ]
        : [],
    )
  return [
    ...(spec?.ingress ?? []).flatMap(({ from }, i) => blocks(from, `spec.ingress[${i}].from`)),
    ...(spec?.egress ?? []).flatMap(({ to }, i) => blocks(to, `spec.egress[${i}].to`)),
  ]
}

function portRules({ protocol, port, endPort }: Wire<V1NetworkPolicyPort>, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (protocol && !protocols.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, protocols))
  // An IntOrString: a number or a text.
  const wanted = port as number | string | undefined
  const end = `${path}.endPort`
  if (typeof wanted === 'number') {
    for (const message of portNumber(wanted)) errors.push(invalidValue(`${path}.port`, wanted, message))
    if (endPort !== undefined) {
      // Upstream shows the port here, not the end.
      if (endPort < wanted) errors.push(invalidValue(end, wanted, 'must be greater than or equal to `port`'))
      for (const message of portNumber(endPort)) errors.push(invalidValue(end, endPort, message))
    }
  } else if (wanted !== undefined) {
    if (endPort !== undefined)
      errors.push(invalidValue(end, endPort, 'may not be specified when `port` is non-numeric'))
    errors.push(...follows(wanted, `${path}.port`, portName))
  } else if (endPort !== undefined)
    errors.push(invalidValue(end, endPort, 'may not be specified when `port` is not specified'))
  return errors
}

function peerRules(
  { podSelector, namespaceSelector, ipBlock }: Peer,
  path: string,
  range: TextRule,
): readonly FieldError[] {
  const errors = [
    ...validateLabelSelector(podSelector, `${path}.podSelector`),
    ...validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`),
  ]
  if (ipBlock) errors.push(...blockRules(ipBlock, `${path}.ipBlock`, range))
  if (!podSelector && !namespaceSelector && !ipBlock) errors.push(required(path, 'must specify a peer'))
  if (ipBlock && (podSelector || namespaceSelector))
    errors.push(forbiddenField(path, 'may not specify both ipBlock and another peer'))
  return errors
}

function blockRules({ cidr, except }: Wire<V1IPBlock>, path: string, rule: TextRule): readonly FieldError[] {
  if (!cidr) return [required(`${path}.cidr`)]
  const errors = follows(cidr, `${path}.cidr`, rule)
  const range = parseCidr(cidr)
  if (!range) return errors
  const rest = BigInt((range.family === 4 ? 32 : 128) - range.prefix)
  const excepted = each(except, `${path}.except`, (text, field) => {
    const part = parseCidr(text)
    const within =
      part?.family === range.family && part.prefix > range.prefix && part.base >> rest === range.base >> rest
    return all(
      follows(text, field, rule),
      !part || within ? [] : [invalidValue(field, text, 'must be a strict subset of `cidr`')],
    )
  })
  return all(errors, excepted)
}
