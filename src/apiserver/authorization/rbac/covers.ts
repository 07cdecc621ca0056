/** Compares rules, to prevent that users grant more permissions than they have. */
import { groupMatches, nameMatches, ownedUrl, type PolicyRule, verbMatches } from './rule.ts'

/** A rule for one verb and one resource (with or without a name) or one path. */
interface SingleRule {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly name?: string
  readonly url?: string
}

/** Limits the product of verbs, groups and resources: a small role could otherwise expand beyond memory. */
const maxSingleRules = 20_000

/**
 * Returns the permissions of `required` that `owned` lack, as sorted lines of the error; empty if all are covered.
 * Beyond the limit, each rule must be covered as a whole by one rule.
 */
export function missingRights(owned: readonly PolicyRule[], required: readonly PolicyRule[]): string[] {
  let remaining = maxSingleRules
  const missing: SingleRule[] = []
  const whole: string[] = []
  for (const rule of required) {
    if (owned.some((one) => coversWhole(one, rule))) continue
    remaining -= productOf(rule)
    if (remaining >= 0) missing.push(...singleRules(rule).filter((single) => !owned.some((one) => covers(one, single))))
    else whole.push(wholeText(rule))
  }
  return [...new Set([...compact(missing).map(ruleText), ...whole])].sort()
}

const productOf = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number =>
  (verbs?.length ?? 0) *
  ((apiGroups?.length ?? 0) * (resources?.length ?? 0) * (resourceNames?.length || 1) + (nonResourceURLs?.length ?? 0))

/** Returns true if one rule covers another entirely. */
function coversWhole(
  rule: PolicyRule,
  { verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule,
): boolean {
  if (verbs && !verbs.every((verb) => verbMatches(rule, verb))) return false
  if (nonResourceURLs && !nonResourceURLs.every((url) => rule.nonResourceURLs?.some((owned) => ownedUrl(owned, url))))
    return false
  if (!resources?.length || !apiGroups?.length) return true
  if (
    !apiGroups.every((group) => groupMatches(rule, group)) ||
    !resources.every((resource) => resourceCovered(rule, resource))
  )
    return false
  return resourceNames?.length ? resourceNames.every((name) => nameMatches(rule, name)) : !rule.resourceNames?.length
}

const maxTextLength = 1000

function wholeText({ verbs, apiGroups, resources }: PolicyRule): string {
  const text = `{APIGroups:${quoted(apiGroups ?? [])}, Resources:${quoted(resources ?? [])}, Verbs:${quoted(verbs)}}`
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}...` : text
}

/** The permissions of `required` that `owned` lack, as rules for one verb and one resource or path each. */
export const missingRules = (owned: readonly PolicyRule[], required: readonly PolicyRule[]): PolicyRule[] =>
  required
    .flatMap(singleRules)
    .filter((single) => !owned.some((rule) => covers(rule, single)))
    .map(({ verb, group, resource, name, url }) =>
      url === undefined
        ? {
            verbs: [verb],
            apiGroups: [group],
            resources: [resource],
            ...(name !== undefined && { resourceNames: [name] }),
          }
        : { verbs: [verb], nonResourceURLs: [url] },
    )

/** Rules may lack verbs, since they are not validated yet. */
function singleRules({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): SingleRule[] {
  const named = resourceNames?.length ? resourceNames : [undefined]
  const ofResources = (apiGroups ?? []).flatMap((group) =>
    (resources ?? []).flatMap((resource) =>
      (verbs ?? []).flatMap((verb) => named.map((name) => ({ verb, group, resource, name }))),
    ),
  )
  const ofUrls = (nonResourceURLs ?? []).flatMap((url) =>
    (verbs ?? []).map((verb) => ({ verb, group: '', resource: '', url })),
  )
  return [...ofResources, ...ofUrls]
}

/** A star in a required rule is a literal value: only a star covers it. */
function covers(rule: PolicyRule, { verb, group, resource, name, url }: SingleRule): boolean {
  if (!verbMatches(rule, verb)) return false
  if (url !== undefined) return rule.nonResourceURLs?.some((owned) => ownedUrl(owned, url)) === true
  if (!groupMatches(rule, group) || !resourceCovered(rule, resource)) return false
  return name === undefined ? !rule.resourceNames?.length : nameMatches(rule, name)
}

/** `*` + `/scale` covers `pods/scale`. */
function resourceCovered({ resources }: PolicyRule, resource: string): boolean {
  if (!resources) return false
  if (resources.includes('*') || resources.includes(resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && resources.includes(`*/${resource.slice(slash + 1)}`)
}

interface CompactRule extends Omit<SingleRule, 'verb'> {
  readonly verbs: string[]
}

/** Merges the verbs of each resource into one rule. As upstream, paths are not merged. */
function compact(rules: readonly SingleRule[]): CompactRule[] {
  const byTarget = new Map<string, { readonly target: Omit<SingleRule, 'verb'>; readonly verbs: Set<string> }>()
  const paths: CompactRule[] = []
  for (const { verb, ...target } of rules) {
    if (target.url !== undefined) {
      paths.push({ ...target, verbs: [verb] })
      continue
    }
    const key = JSON.stringify(target)
    const known = byTarget.get(key)
    if (known) known.verbs.add(verb)
    else byTarget.set(key, { target, verbs: new Set([verb]) })
  }
  return [...[...byTarget.values()].map(({ target, verbs }) => ({ ...target, verbs: [...verbs] })), ...paths]
}

const quoted = (values: readonly string[]): string => `[${values.map((value) => JSON.stringify(value)).join(' ')}]`

function ruleText({ group, resource, name, url, verbs }: CompactRule): string {
  if (url !== undefined) return `{NonResourceURLs:${quoted([url])}, Verbs:${quoted(verbs)}}`
  const names = name === undefined ? '' : `, ResourceNames:${quoted([name])}`
  return `{APIGroups:${quoted([group])}, Resources:${quoted([resource])}${names}, Verbs:${quoted(verbs)}}`
}
