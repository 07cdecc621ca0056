/** The sender of a traced connection: a pod, an address, this node, or a client outside. */
import { isIP } from 'node:net'
import { pods } from '../../../client/kinds.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { Machine } from './trace-packet.ts'

export interface Origin {
  /** `pod default/web`. */
  readonly text: string
  readonly address: string
  /** This machine sends the packets. */
  readonly isNode: boolean
  /** Neither this node nor a pod. */
  readonly isOutside: boolean
  readonly inInterface: string | undefined
}

export interface OriginFacts {
  readonly client: RestClient
  readonly family: 4 | 6
  readonly machine: Machine
  readonly addresses: readonly string[]
}

/** Addresses for documentation (RFC 5737, RFC 3849), which no client has. */
const outside = { 4: '198.51.100.1', 6: '2001:db8::1' } as const

/** @param from see `ServiceQuery` */
export async function readOrigin(from: string, namespace: string, facts: OriginFacts): Promise<Origin> {
  const { family, machine, addresses } = facts
  if (from === 'node') {
    const address = addresses.find((one) => isIP(one) === family) ?? ''
    return { text: 'this node', address, isNode: true, isOutside: false, inInterface: undefined }
  }
  const arriving = (text: string, address: string, isOutside: boolean): Origin => {
    if (machine.isLocal(address)) return { text, address, isNode: true, isOutside: false, inInterface: undefined }
    return { text, address, isNode: false, isOutside, inInterface: machine.interfaceTo(address) }
  }
  if (from === 'outside') return arriving('outside', outside[family], true)
  if (isIP(from) === 0) {
    const { text, address } = await addressOfPod(from, namespace, facts)
    return arriving(text, address, false)
  }
  if (isIP(from) !== family)
    throw new ExplainedError(
      `${from} is no IPv${family} address, as the Service's cluster IP is: choose another --from`,
    )
  return arriving('the address', from, true)
}

async function addressOfPod(
  from: string,
  ownNamespace: string,
  { client, family }: OriginFacts,
): Promise<{ readonly text: string; readonly address: string }> {
  const [name = '', namespace = ownNamespace] = from.split('/').reverse()
  const pod = await client.find(pods, namespace, name)
  if (!pod)
    throw new ExplainedError(
      `there is no pod ${namespace}/${name} for --from: give NAME, NAMESPACE/NAME, an address, outside or node`,
    )
  const address = pod.status?.podIPs?.find(({ ip = '' }) => isIP(ip) === family)?.ip
  if (address === undefined)
    throw new ExplainedError(`the pod ${namespace}/${name} has no IPv${family} address yet: wait until it runs`)
  return { text: `pod ${namespace}/${name}`, address }
}
