/** The 403 of a request that the authorizers do not allow. */
import { StatusError } from '../../machinery/status-error.ts'
import type { Request } from '../http/exchange.ts'

/** Upstream lets no refusal look like HTML; what the authorizer says stays as it is. */
const sanitized = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character] ?? character)

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** The 403 of a request: it names the user, the verb and the resource or path. */
export function refused({ info, user }: Pick<Request, 'info' | 'user'>, reason: string): StatusError {
  const who = `User ${JSON.stringify(user?.name ?? '')}`
  const because = reason ? `: ${reason}` : ''
  if (!info.isResourceRequest)
    return new StatusError(
      403,
      'Forbidden',
      `forbidden: ${sanitized(`${who} cannot ${info.verb} path ${JSON.stringify(info.path)}`)}${because}`,
      {},
    )
  const resource = info.subresource ? `${info.resource}/${info.subresource}` : info.resource
  const scope = info.namespace ? `in the namespace ${JSON.stringify(info.namespace)}` : 'at the cluster scope'
  const named = `${info.group ? `${info.resource}.${info.group}` : info.resource}${info.name ? ` ${JSON.stringify(info.name)}` : ''}`
  return new StatusError(
    403,
    'Forbidden',
    `${named} is forbidden: ` +
      `${sanitized(`${who} cannot ${info.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(info.group)} ${scope}`)}${because}`,
    { ...(info.name && { name: info.name }), ...(info.group && { group: info.group }), kind: info.resource },
  )
}
