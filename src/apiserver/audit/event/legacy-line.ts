/** The line of an event in the format `legacy`. */
import { goQuote } from '../../../lib/go/go-quote.ts'
import type { Stage } from '../policy/policy.ts'
import { type AuditEvent, shortUserAgent } from './audit-event.ts'
import { sourceIps } from './source-ips.ts'

export function legacyLine(event: AuditEvent, stage: Stage): string {
  const { request, user, code } = event
  const quoted = (texts: readonly string[]): string => texts.map(goQuote).join(',')
  const other = request.user !== user && user ? request.user : undefined
  const [ip = '<unknown>'] = sourceIps(
    request.header('x-forwarded-for') ?? '',
    request.header('x-real-ip') ?? '',
    request.remoteAddress,
  )
  const groups = user?.name && user.groups.length ? quoted(user.groups) : '<none>'
  const agent = shortUserAgent(request.header('user-agent') ?? '')
  const response = code || event.status ? String(code) : '<deferred>'
  const uri = request.rawQuery ? `${request.path}?${request.rawQuery}` : request.path
  return [
    `${event.received} AUDIT: id=${goQuote(event.id)} stage=${goQuote(stage)} ip=${goQuote(ip)} ` +
      `method=${goQuote(request.info.verb)}`,
    `user=${goQuote(user?.name || '<none>')} groups=${goQuote(groups)} as=${goQuote(other?.name ?? '<self>')} ` +
      `asgroups=${goQuote(other ? quoted(other.groups) : '<lookup>')}`,
    `user-agent=${goQuote(agent)} namespace=${goQuote(event.namespace || '<none>')}`,
    `uri=${goQuote(uri)} response="${response}"`,
  ].join(' ')
}
