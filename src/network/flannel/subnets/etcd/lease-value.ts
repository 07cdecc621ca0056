/** Values of subnets in etcd: the JSON of upstream's flannel. */
import { isIP } from 'node:net'
import type { LeaseAttributes } from '../subnet-manager.ts'

/** An address of IPv4 is always there: 0.0.0.0 stands for none. */
const noAddress = '0.0.0.0'

/** `{"PublicIP":"192.168.64.3","PublicIPv6":null,"BackendType":"vxlan","BackendData":{…}}`. */
export function leaseValue({
  publicIP = noAddress,
  publicIPv6 = null,
  backendType,
  backendData,
  backendV6Data,
}: {
  readonly publicIP?: string | undefined
  readonly publicIPv6?: string | null | undefined
} & Omit<LeaseAttributes, 'publicIP' | 'publicIPv6'>): string {
  return JSON.stringify({
    PublicIP: publicIP,
    PublicIPv6: publicIPv6,
    ...(backendType !== '' && { BackendType: backendType }),
    ...(backendData !== undefined && { BackendData: backendData }),
    ...(backendV6Data !== undefined && { BackendV6Data: backendV6Data }),
  })
}

/** @throws an Error if the text is no such JSON. */
export function parseLeaseValue(text: string): LeaseAttributes {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) throw new Error(`${text} is not an object`)
  const fields: Readonly<Record<string, unknown>> = { ...value }
  const address = (name: string): string | undefined => {
    const given = fields[name]
    if (given === undefined || given === null || given === noAddress) return undefined
    if (typeof given === 'string' && isIP(given) !== 0) return given
    throw new Error(`${name} is ${JSON.stringify(given)}, which is no address`)
  }
  const data = (name: string): object | undefined => {
    const given = fields[name]
    return typeof given === 'object' && given !== null ? given : undefined
  }
  return {
    publicIP: address('PublicIP'),
    publicIPv6: address('PublicIPv6'),
    backendType: typeof fields.BackendType === 'string' ? fields.BackendType : '',
    backendData: data('BackendData'),
    backendV6Data: data('BackendV6Data'),
  }
}
