/** Headers that identify the user to the server of an aggregated API. */
import type { UserInfo } from '../../request-info/user-info.ts'

/** Characters allowed in a header name; all others, and `%` itself, are escaped. */
const legal = /[A-Za-z0-9!#$&'*+.^_`|~-]/

function escaped(key: string): string {
  let text = ''
  for (const byte of Buffer.from(key)) {
    const character = String.fromCharCode(byte)
    text += legal.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return text
}

export function identityHeaders({ name, uid, groups, extra = {} }: UserInfo): Record<string, string | string[]> {
  return {
    'X-Remote-User': name,
    ...(uid && { 'X-Remote-Uid': uid }),
    ...(groups.length && { 'X-Remote-Group': [...groups] }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`X-Remote-Extra-${escaped(key)}`, [...values]]),
    ),
  }
}

/** The user of the aggregator's own requests: availability checks, discovery and OpenAPI. */
export const aggregatorUser: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] }
