/** Refuses what the user may not do: 403, before anything is looked up. */
import { after } from '../../../lib/flow/after.ts'
import { StatusError } from '../../../machinery/status-error.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import { attributesOf } from '../../authorization/selector-attributes.ts'
import type { Request } from '../../http/exchange.ts'
import type { AuthorizationMetrics } from '../../metrics/authorization-metrics.ts'
import type { Around } from '../filter.ts'

export const authorization =
  (authorizer: Authorizer, metrics: AuthorizationMetrics): Around =>
  (request, next) => {
    const started = performance.now()
    return after(authorizer.authorize(attributesOf(request)), (decision) => {
      metrics(decision, performance.now() - started)
      const { audit } = request
      if (audit) {
        audit.annotate('authorization.k8s.io/decision', decision.verdict === 'allow' ? 'allow' : 'forbid')
        audit.annotate('authorization.k8s.io/reason', decision.reason)
      }
      if (decision.verdict === 'allow') return next(request)
      throw refused(request, decision.reason)
    })
  }

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
