/** The verdict about a connection in plain words. */
import type { AskedConnection, ConnectionVerdict, DirectionVerdict } from './explain-connection.ts'

const podText = ({ namespace, name }: AskedConnection['from']): string => `${namespace}/${name}`

/** @example verdictLines(asked, verdict)[0] // 'shop/web reaches shop/db on TCP 5432' */
export function verdictLines(asked: AskedConnection, { isAllowed, egress, ingress }: ConnectionVerdict): string[] {
  const { from, to, protocol, port } = asked
  const place = `${podText(to)} on ${protocol} ${port}`
  const headline = isAllowed ? `${podText(from)} may reach ${place}` : `${podText(from)} must not reach ${place}`
  if (from === to) return [headline, '  a pod always reaches itself']
  return [headline, ...directionLines(egress, podText(from)), ...directionLines(ingress, podText(to))]
}

function directionLines({ direction, isAllowed, policies }: DirectionVerdict, pod: string): string[] {
  const way = direction === 'Egress' ? `egress of ${pod}` : `ingress of ${pod}`
  const count = policies.length === 1 ? '1 policy' : `${policies.length} policies`
  if (policies.length === 0) return [`  ${way}: no policy selects the pod, so everything is allowed`]
  return [
    `  ${way}: ${isAllowed ? 'allowed' : 'denied'} by ${count}`,
    ...policies.flatMap((verdict) =>
      verdict.isAllowed
        ? [`    ${verdict.policy} allows it`]
        : [`    ${verdict.policy} does not allow it`, ...verdict.misses.map((miss) => `      ${miss}`)],
    ),
  ]
}
