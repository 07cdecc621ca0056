/** User names of service accounts, `system:serviceaccount:NAMESPACE:NAME`, and their groups. */
import { dnsLabel, dnsSubdomain } from '../../../machinery/validation/names.ts'

export interface AccountName {
  readonly namespace: string
  readonly name: string
}

const prefix = 'system:serviceaccount:'

export const accountUser = ({ namespace, name }: AccountName): string => `${prefix}${namespace}:${name}`

/** Returns undefined for users that are not service accounts. */
export function accountOf(user: string): AccountName | undefined {
  if (!user.startsWith(prefix)) return undefined
  const [namespace = '', name = '', ...rest] = user.slice(prefix.length).split(':', 3)
  return rest.length === 0 && dnsLabel(namespace).length === 0 && dnsSubdomain(name).length === 0
    ? { namespace, name }
    : undefined
}

export const accountGroups = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
]
