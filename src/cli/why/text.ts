/** Formats the result of `t8s why can-i` for a terminal. */
import type { Explanation, Miss, Question } from '../../apiserver/authorization/rbac/explain.ts'
import type { PolicyRule } from '../../apiserver/authorization/rbac/index.ts'
import type { UserInfo } from '../../apiserver/request-info/user-info.ts'
import type { Verdict } from './server.ts'

export interface Answer {
  readonly user: UserInfo
  readonly question: Question
  /** The server's decision. */
  readonly verdict: Verdict
  /** The explanation by RBAC rules. */
  readonly explanation: Explanation
  readonly notes: readonly string[]
}

export function answerText({ user, question, verdict, explanation, notes }: Answer): string {
  const { allowed, misses } = explanation
  const lines = [
    `${verdict.allowed ? 'yes' : 'no'}: ${user.name} ${verdict.allowed ? 'may' : 'may not'} ${questionText(question)}`,
  ]
  for (const note of notes) lines.push(`note: ${note}`)
  if (allowed.length > 0) {
    lines.push('', 'Allowed by:')
    for (const { binding, rule } of allowed) lines.push(`  ${binding}`, `    rule: ${ruleText(rule)}`)
    if (!verdict.allowed) lines.push('', `But the server denies it${verdict.reason ? `: ${verdict.reason}` : '.'}`)
  } else if (verdict.allowed) {
    lines.push(
      '',
      user.groups.includes('system:masters')
        ? 'Members of system:masters may do everything.'
        : 'No binding allows it, but the server ' +
            `does${verdict.reason ? `: ${verdict.reason}` : ', with another authorizer than RBAC.'}`,
    )
  } else if (misses.length === 0) lines.push('', 'No role allows it.')
  else {
    lines.push('', 'The nearest rules:')
    for (const miss of misses) lines.push(...missText(miss, question, user))
  }
  if (verdict.evaluationError) lines.push('', `The server could not evaluate everything: ${verdict.evaluationError}`)
  return `${lines.join('\n')}\n`
}

function questionText({
  isResourceRequest,
  path,
  verb,
  group,
  resource,
  subresource,
  name,
  namespace,
}: Question): string {
  if (!isResourceRequest) return `${verb} the path ${path}`
  const object =
    `${resource}${subresource ? `/${subresource}` : ''}${group ? ` of ${group}` : ''}` +
    `${name ? ` named ${JSON.stringify(name)}` : ''}`
  return `${verb} ${object} ${namespace ? `in the namespace ${namespace}` : 'in all namespaces'}`
}

function ruleText({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string {
  const what = nonResourceURLs?.length ? `paths ${nonResourceURLs.join(', ')}` : (resources ?? []).join(', ')
  const groups = (apiGroups ?? []).filter((group) => group !== '')
  return (
    `${verbs.join(', ')} ` +
    `${what}${groups.length > 0 ? ` of ${groups.join(', ')}` : ''}` +
    `${resourceNames?.length ? ` named ${resourceNames.join(', ')}` : ''}`
  )
}

function missText(
  miss: Miss,
  { namespace, verb, resource, subresource, group, name, path }: Question,
  user: UserInfo,
): string[] {
  switch (miss.why) {
    case 'rule': {
      const required: Record<(typeof miss.parts)[number], string> = {
        verb: `the verb ${verb}`,
        'API group': `the API group ${JSON.stringify(group)}`,
        resource: `the resource ${resource}${subresource ? `/${subresource}` : ''}`,
        name: name ? `the name ${name}` : 'the right to all names',
        path: `the path ${path}`,
      }
      return [
        `  ${miss.binding}`,
        `    has: ${ruleText(miss.rule)}`,
        `    lacks: ${miss.parts.map((part) => required[part]).join(', ')}`,
      ]
    }
    case 'elsewhere':
      return [`  ${miss.binding}`, `    applies only in the namespace ${miss.namespace}`]
    case 'others': {
      const [first] = miss.subjects
      const subjects = miss.subjects.map(({ kind, name: other }) => `${kind} ${JSON.stringify(other)}`).join(', ')
      const binding = miss.binding.slice(0, miss.binding.lastIndexOf(` to ${first?.kind}`))
      return [`  ${binding}`, `    allows it to ${subjects}: ${user.name} is not among them`]
    }
    case 'no role':
      return [`  ${miss.binding}`, '    the role does not exist']
    case 'unbound': {
      const { kind, name: role } = miss.role
      const subject = subjectFlag(user.name)
      const flag = kind === 'ClusterRole' ? `--clusterrole=${role}` : `--role=${role}`
      const command = namespace
        ? `kubectl create rolebinding NAME -n ${namespace} ${flag} ${subject}`
        : `kubectl create clusterrolebinding NAME ${flag} ${subject}`
      return [
        `  ${kind} ${JSON.stringify(role)} allows it, but no binding grants it to ${user.name}`,
        `    to grant it: ${command}`,
      ]
    }
  }
}

function subjectFlag(user: string): string {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? []
  return name ? `--serviceaccount=${namespace}:${name}` : `--user=${user}`
}
