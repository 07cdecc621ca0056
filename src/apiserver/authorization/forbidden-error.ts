/** The 403 error of an unauthorized request. */
import { StatusError } from '../../machinery/status-error.ts'
import type { Request } from '../http/exchange.ts'

/** As upstream, escapes HTML, but not in the authorizer's reason. */
const sanitized = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character] ?? character)

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Returns a 403 that names the user, the verb and the resource or path. */
export function forbiddenError({ info, user }: Pick<Request, 'info' | 'user'>, reason: string): StatusError {
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
  const qualified = info.group ? `${info.resource}.${info.group}` : info.resource
  const named = info.name ? `${qualified} ${JSON.stringify(info.name)}` : qualified
  const group = JSON.stringify(info.group)
  return new StatusError(
    403,
    'Forbidden',
    `${named} is forbidden: ` +
      sanitized(`${who} cannot ${info.verb} resource ${JSON.stringify(resource)} in API group ${group} ${scope}`) +
      because,
    { ...(info.name && { name: info.name }), ...(info.group && { group: info.group }), kind: info.resource },
  )
}
