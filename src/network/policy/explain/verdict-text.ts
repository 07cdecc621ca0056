/** The verdict about a connection in plain words. */
import type { AdminVerdict } from './admin-verdict.ts'
import type { ConnectionVerdict, DirectionVerdict } from './explain-connection.ts'
import type { AskedConnection } from './rule-misses.ts'

const podText = ({ namespace, name }: AskedConnection['from']): string => `${namespace}/${name}`

/** @example verdictLines(asked, verdict)[0] // 'shop/web reaches shop/db on TCP 5432' */
export function verdictLines(asked: AskedConnection, verdict: ConnectionVerdict): string[] {
  const { isAllowed, egress, ingress, problems } = verdict
  const { from, to, protocol, port } = asked
  const place = `${podText(to)} on ${protocol} ${port}`
  const headline = isAllowed ? `${podText(from)} may reach ${place}` : `${podText(from)} must not reach ${place}`
  if (from === to) return [headline, '  a pod always reaches itself']
  return [
    headline,
    ...directionLines(egress, podText(from)),
    ...directionLines(ingress, podText(to)),
    ...(problems.length > 0 ? ['  invalid policies', ...problems.map((problem) => `    ${problem}`)] : []),
  ]
}

function directionLines(verdict: DirectionVerdict, pod: string): string[] {
  const { direction, admin, policies, baseline } = verdict
  const way = direction === 'Egress' ? `egress of ${pod}` : `ingress of ${pod}`
  return [
    `  ${way}: ${summary(verdict)}`,
    ...admin.flatMap(adminLines),
    ...policies.flatMap(({ policy, isAllowed, misses }) =>
      isAllowed
        ? [`    ${policy} allows it`]
        : [`    ${policy} does not allow it`, ...misses.map((miss) => `      ${miss}`)],
    ),
    ...baseline.flatMap(adminLines),
  ]
}

function summary({ isAllowed, decision, admin, policies, baseline }: DirectionVerdict): string {
  const outcome = isAllowed ? 'allowed' : 'denied'
  if (decision) return `${outcome} by ${decision.by}`
  if (policies.length > 0) return `${outcome} by ${policies.length === 1 ? '1 policy' : `${policies.length} policies`}`
  const reason = admin.length + baseline.length > 0 ? 'no policy decides' : 'no policy selects the pod'
  return `${reason}, so everything is allowed`
}

const adminLines = ({ policy, rules }: AdminVerdict): string[] => [
  `    ${policy}`,
  ...rules.map((rule) => `      ${rule}`),
]
