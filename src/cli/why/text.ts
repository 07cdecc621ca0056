/** The answer of `t8s why can-i` for a terminal. */
import type { Explanation, Miss, Question } from '../../apiserver/authorization/rbac/explain.ts'
import type { PolicyRule } from '../../apiserver/authorization/rbac/index.ts'
import type { UserInfo } from '../../apiserver/request-info/user-info.ts'
import type { Verdict } from './server.ts'

export interface Answer {
  readonly user: UserInfo
  readonly asked: Question
  /** What the server says. */
  readonly verdict: Verdict
  /** What RBAC says. */
  readonly explanation: Explanation
  readonly notes: readonly string[]
}

export function answerText({ user, asked, verdict, explanation, notes }: Answer): string {
  const { allowed, misses } = explanation
  const lines = [
    `${verdict.allowed ? 'yes' : 'no'}: ${user.name} ${verdict.allowed ? 'may' : 'may not'} ${askedText(asked)}`,
  ]
  for (const note of notes) lines.push(`note: ${note}`)
  if (allowed.length > 0) {
    lines.push('', 'Allowed by:')
    for (const { binding, rule } of allowed) lines.push(`  ${binding}`, `    rule: ${ruleText(rule)}`)
    if (!verdict.allowed)
      lines.push('', `The server refuses it all the same${verdict.reason ? `: ${verdict.reason}` : '.'}`)
  } else if (verdict.allowed) {
    lines.push(
      '',
      user.groups.includes('system:masters')
        ? 'Members of system:masters may do everything.'
        : 'No binding allows it; the server ' +
            `does${verdict.reason ? `: ${verdict.reason}` : ', by other means than RBAC.'}`,
    )
  } else if (misses.length === 0) lines.push('', 'No role allows it.')
  else {
    lines.push('', 'The nearest:')
    for (const miss of misses) lines.push(...missText(miss, asked, user))
  }
  if (verdict.evaluationError) lines.push('', `The server could not look at everything: ${verdict.evaluationError}`)
  return `${lines.join('\n')}\n`
}

function askedText({ isResourceRequest, path, verb, group, resource, subresource, name, namespace }: Question): string {
  if (!isResourceRequest) return `${verb} the path ${path}`
  const what = `${resource}${subresource ? `/${subresource}` : ''}${group ? ` of ${group}` : ''}${name ? ` called ${JSON.stringify(name)}` : ''}`
  return `${verb} ${what} ${namespace ? `in the namespace ${namespace}` : 'in all of the cluster'}`
}

function ruleText({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string {
  const what = nonResourceURLs?.length ? `paths ${nonResourceURLs.join(', ')}` : (resources ?? []).join(', ')
  const groups = (apiGroups ?? []).filter((group) => group !== '')
  return (
    `${verbs.join(', ')} ` +
    `${what}${groups.length > 0 ? ` of ${groups.join(', ')}` : ''}${resourceNames?.length ? ` called ${resourceNames.join(', ')}` : ''}`
  )
}

function missText(
  miss: Miss,
  { namespace, verb, resource, subresource, group, name, path }: Question,
  user: UserInfo,
): string[] {
  switch (miss.why) {
    case 'rule': {
      const asked: Record<(typeof miss.parts)[number], string> = {
        verb: `the verb ${verb}`,
        'API group': `the API group ${JSON.stringify(group)}`,
        resource: `the resource ${resource}${subresource ? `/${subresource}` : ''}`,
        name: name ? `the name ${name}` : 'the right to all names',
        path: `the path ${path}`,
      }
      return [
        `  ${miss.binding}`,
        `    has: ${ruleText(miss.rule)}`,
        `    lacks: ${miss.parts.map((part) => asked[part]).join(', ')}`,
      ]
    }
    case 'elsewhere':
      return [`  ${miss.binding}`, `    counts in the namespace ${miss.namespace} alone`]
    case 'others': {
      const [first] = miss.subjects
      const who = miss.subjects.map(({ kind, name: other }) => `${kind} ${JSON.stringify(other)}`).join(', ')
      const binding = miss.binding.slice(0, miss.binding.lastIndexOf(` to ${first?.kind}`))
      return [`  ${binding}`, `    allows it to ${who}: ${user.name} is not among them`]
    }
    case 'no role':
      return [`  ${miss.binding}`, '    there is no such role']
    case 'unbound': {
      const { kind, name: role } = miss.role
      const subject = subjectFlag(user.name)
      const flag = kind === 'ClusterRole' ? `--clusterrole=${role}` : `--role=${role}`
      const command = namespace
        ? `kubectl create rolebinding NAME -n ${namespace} ${flag} ${subject}`
        : `kubectl create clusterrolebinding NAME ${flag} ${subject}`
      return [
        `  ${kind} ${JSON.stringify(role)} allows it, and no binding gives it to ${user.name}`,
        `    to grant it: ${command}`,
      ]
    }
  }
}

function subjectFlag(user: string): string {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? []
  return name ? `--serviceaccount=${namespace}:${name}` : `--user=${user}`
}
