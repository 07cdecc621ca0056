/** Endpoints: the addresses behind a Service. The predecessor of EndpointSlices. */
import { isIP } from 'node:net'
import type { V1Endpoints } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/validation/field-error.ts'
import {
  all,
  each,
  follows,
  optionalText,
  port as portNumber,
  valid,
} from '../../../machinery/validation/field-rules.ts'
import {
  dnsLabel,
  dnsSubdomain,
  endpointAddress,
  ipAddress,
  qualifiedName,
} from '../../../machinery/validation/names.ts'
import { firstFew } from '../../printing/first-few.ts'
import { age, column, name, resource } from '../../resource.ts'
import { protocols } from '../pod/validation/containers/containers.ts'

type Endpoints = Model<V1Endpoints>
type Subset = NonNullable<Endpoints['subsets']>[number]
type Address = NonNullable<Subset['addresses']>[number]

const address = ({ ip, hostname, nodeName }: Address, path: string): readonly FieldError[] => {
  const ipErrors = follows(ip ?? '', `${path}.ip`, ipAddress)
  return all(
    ipErrors,
    optionalText(hostname, `${path}.hostname`, dnsLabel),
    follows(nodeName, `${path}.nodeName`, dnsSubdomain),
    // Upstream reports an invalid address twice.
    isIP(ip ?? '')
      ? follows(ip, `${path}.ip`, endpointAddress)
      : [invalidValue(`${path}.ip`, ip ?? '', 'must be a valid IP address')],
  )
}

function subset({ addresses = [], notReadyAddresses = [], ports = [] }: Subset, path: string): readonly FieldError[] {
  return all(
    addresses.length + notReadyAddresses.length === 0
      ? [required(path, 'must specify `addresses` or `notReadyAddresses`')]
      : valid,
    addresses.flatMap((one, i) => address(one, `${path}.addresses[${i}]`)),
    notReadyAddresses.flatMap((one, i) => address(one, `${path}.notReadyAddresses[${i}]`)),
    ports.flatMap(({ name, port, protocol, appProtocol }, i) => {
      const at = `${path}.ports[${i}]`
      return all(
        name ? follows(name, `${at}.name`, dnsLabel) : ports.length > 1 ? [required(`${at}.name`)] : valid,
        portNumber(port, `${at}.port`),
        !protocol
          ? [required(`${at}.protocol`)]
          : protocols.includes(protocol)
            ? valid
            : [notSupported(`${at}.protocol`, protocol, protocols)],
        follows(appProtocol, `${at}.appProtocol`, qualifiedName),
      )
    }),
  )
}

/** Returns the first addresses with their ports; `<none>` only without subsets. */
function addressesText({ subsets }: Endpoints): string {
  if (!subsets?.length) return '<none>'
  const all = subsets.flatMap(({ addresses = [], ports }) =>
    ports?.length
      ? ports.flatMap(({ port }) => addresses.map(({ ip }) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)))
      : addresses.map(({ ip }) => ip),
  )
  return firstFew(all)
}

export const endpoints = resource<Endpoints>({
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  listKind: 'EndpointsList',
  plural: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  scope: 'Namespaced',
  storagePath: 'services/endpoints',
  createOnUpdate: true,
  defaults: [
    ({ subsets }) => {
      for (const { ports } of subsets ?? []) for (const one of ports ?? []) one.protocol ||= 'TCP'
    },
  ],
  validate: { object: ({ subsets }) => each(subsets, 'subsets', subset) },
  columns: [name, column('Endpoints', addressesText, { description: 'The first ready addresses.' }), age],
  deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
})
