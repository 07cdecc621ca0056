/** EndpointSlices: subsets of the addresses behind a Service. */

import { isIPv4, isIPv6 } from 'node:net'
import type { DiscoveryV1EndpointPort, V1Endpoint, V1EndpointSlice } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { Model, Wire } from '../../machinery/object.ts'
import { addressWarnings } from '../../machinery/validation/address-warnings.ts'
import { duplicate, type FieldError, invalidValue, required, tooMany } from '../../machinery/validation/field-error.ts'
import { all, duplicateFinder, each, follows, immutable, oneOf } from '../../machinery/validation/field-rules.ts'
import {
  dnsLabel,
  dnsSubdomain,
  domainName,
  endpointAddress,
  ipAddress,
  labelValue,
  qualifiedName,
  type TextRule,
} from '../../machinery/validation/names.ts'
import { nullEmptyLists } from '../nulls.ts'
import { firstFew } from '../printing/first-few.ts'
import { age, column, name, resource } from '../resource.ts'

type EndpointSlice = Model<V1EndpointSlice>

export const endpointSlices = resource<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  scope: 'Namespaced',
  generation: (slice, old) =>
    !semanticallyEqual(slice.endpoints, old.endpoints) ||
    !semanticallyEqual(slice.ports, old.ports) ||
    !semanticallyEqual(slice.metadata.labels, old.metadata.labels) ||
    slice.addressType !== old.addressType,
  defaults: [sliceDefaults],
  prepare: { create: nullEmptyLists('endpoints', 'ports'), update: nullEmptyLists('endpoints', 'ports') },
  validate: {
    object: sliceRules,
    update: ({ addressType }, old) => immutable(addressType, 'addressType', old.addressType),
  },
  warnings: sliceWarnings,
  columns: [
    name,
    column('AddressType', ({ addressType }) => addressType, {
      description: 'The type of the addresses: IPv4, IPv6 or FQDN.',
    }),
    column('Ports', ({ ports }) => firstFew((ports ?? []).map(portText)) || '<unset>', {
      description: 'The first ports.',
    }),
    column(
      'Endpoints',
      ({ endpoints }) => firstFew((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])) || '<unset>',
      {
        description: 'The first addresses.',
      },
    ),
    age,
  ],
})

const portText = ({ name: portName, port }: Wire<DiscoveryV1EndpointPort>): string =>
  port === undefined ? (portName ?? '*') : `${port}`

function sliceDefaults({ endpoints, ports }: EndpointSlice): void {
  for (const endpoint of endpoints ?? []) endpoint.conditions ??= {}
  for (const port of ports ?? []) {
    port.name ??= ''
    port.protocol ??= 'TCP'
  }
}

function sliceWarnings({ addressType, endpoints }: EndpointSlice, old: EndpointSlice | undefined): readonly string[] {
  if (addressType === 'FQDN') return old ? [] : ['spec.addressType: FQDN endpoints are deprecated']
  return (endpoints ?? []).flatMap(({ addresses }, i) =>
    (addresses ?? []).flatMap((address, j) => addressWarnings(address, `endpoints[${i}].addresses[${j}]`)),
  )
}

const addressTypes = ['FQDN', 'IPv4', 'IPv6']

function sliceRules({ addressType, endpoints, ports }: EndpointSlice): readonly FieldError[] {
  const errors = [...oneOf(addressType, 'addressType', addressTypes, 'needed')]
  if (endpoints && endpoints.length > 1000) errors.push(tooMany('endpoints', endpoints.length, 1000))
  else errors.push(...each(endpoints, 'endpoints', (endpoint, path) => endpointRules(endpoint, addressType, path)))
  if (ports && ports.length > 20000) return [...errors, tooMany('ports', ports.length, 20000)]
  const names = new Set<string>()
  ports?.forEach(({ name: portName = '', protocol, appProtocol }, at) => {
    if (names.has(portName)) errors.push(duplicate(`ports[${at}].name`, portName))
    else if (portName) errors.push(...follows(portName, `ports[${at}].name`, dnsLabel))
    names.add(portName)
    errors.push(...oneOf(protocol, `ports[${at}].protocol`, ['SCTP', 'TCP', 'UDP']))
    if (appProtocol !== undefined) errors.push(...follows(appProtocol, `ports[${at}].appProtocol`, qualifiedName))
  })
  return errors
}

function endpointRules(endpoint: Wire<V1Endpoint>, addressType: string, path: string): readonly FieldError[] {
  const { addresses: given, nodeName, hostname, hints } = endpoint
  const errors: FieldError[] = []
  const addresses = given ?? []
  if (addresses.length === 0) errors.push(required(`${path}.addresses`, 'must contain at least 1 address'))
  if (addresses.length > 100) errors.push(tooMany(`${path}.addresses`, addresses.length, 100))
  addresses.forEach((address, at) => {
    errors.push(...addressRules(address, addressType, `${path}.addresses`, at))
  })
  if (nodeName !== undefined) errors.push(...follows(nodeName, `${path}.nodeName`, dnsSubdomain))
  if (hostname !== undefined) errors.push(...follows(hostname, `${path}.hostname`, dnsLabel))
  if (hints)
    errors.push(
      ...hintRules(hints.forZones, `${path}.hints.forZones`, labelValue),
      ...hintRules(hints.forNodes, `${path}.hints.forNodes`, dnsSubdomain),
    )
  return errors
}

const maxHints = 8

/** Validates hints: zones or nodes that should use an endpoint. */
function hintRules(
  hints: readonly { name: string }[] | undefined,
  path: string,
  rule: TextRule,
): readonly FieldError[] {
  if (hints && hints.length > maxHints) return [tooMany(path, hints.length, maxHints)]
  const isRepeated = duplicateFinder<string>()
  return each(hints, path, ({ name: where }, at) =>
    all(isRepeated(where) ? [duplicate(`${at}.name`, where)] : [], follows(where, `${at}.name`, rule)),
  )
}

function addressRules(address: string, type: string, path: string, at: number): readonly FieldError[] {
  const field = `${path}[${at}]`
  if (type === 'FQDN') return follows(address, field, (text) => domainName(text.replace(/\.$/, ''), 2))
  if (type !== 'IPv4' && type !== 'IPv6') return []
  const errors = follows(address, field, ipAddress)
  if (errors.length > 0) return errors
  // Upstream reports an address of the wrong family at the path of the list.
  const family = (type === 'IPv4' ? isIPv4 : isIPv6)(address)
    ? []
    : [invalidValue(path, address, `must be an ${type} address`)]
  return all(family, follows(address, field, endpointAddress))
}
