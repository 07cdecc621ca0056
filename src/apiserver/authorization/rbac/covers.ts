/** Whether some rules allow all that others allow: nobody may hand out more than they have. */
import { groupMatches, nameMatches, ownedUrl, type PolicyRule, verbMatches } from './rule.ts'

/** A rule about one verb with one resource (of one name, perhaps), or about one path. */
interface SingleRule {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly name?: string
  readonly url?: string
}

/** What `wanted` allow and `owned` do not, as the lines of a refusal, sorted; empty if all is covered. */
export function missingRights(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): string[] {
  const missing = wanted.flatMap(singles).filter((single) => !owned.some((rule) => covers(rule, single)))
  return [...new Set(compact(missing).map(ruleText))].sort()
}

/** What `wanted` allow and `owned` do not, as rules about one verb with one thing each. */
export const missingRules = (owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] =>
  wanted
    .flatMap(singles)
    .filter((single) => !owned.some((rule) => covers(rule, single)))
    .map(({ verb, group, resource, name, url }) =>
      url === undefined
        ? { verbs: [verb], apiGroups: [group], resources: [resource], ...(name !== undefined && { resourceNames: [name] }) }
        : { verbs: [verb], nonResourceURLs: [url] },
    )

function singles({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): SingleRule[] {
  const named = resourceNames?.length ? resourceNames : [undefined]
  const ofResources = (apiGroups ?? []).flatMap((group) =>
    (resources ?? []).flatMap((resource) => verbs.flatMap((verb) => named.map((name) => ({ verb, group, resource, name })))),
  )
  const ofUrls = (nonResourceURLs ?? []).flatMap((url) => verbs.map((verb) => ({ verb, group: '', resource: '', url })))
  return [...ofResources, ...ofUrls]
}

/** A wanted star is covered by a star alone: it is a value like others here. */
function covers(rule: PolicyRule, { verb, group, resource, name, url }: SingleRule): boolean {
  if (!verbMatches(rule, verb)) return false
  if (url !== undefined) return rule.nonResourceURLs?.some((owned) => ownedUrl(owned, url)) === true
  if (!groupMatches(rule, group) || !resourceCovered(rule, resource)) return false
  return name === undefined ? !rule.resourceNames?.length : nameMatches(rule, name)
}

/** `*` + `/scale` covers `pods/scale`. */
function resourceCovered({ resources }: PolicyRule, wanted: string): boolean {
  if (!resources) return false
  if (resources.includes('*') || resources.includes(wanted)) return true
  const slash = wanted.indexOf('/')
  return slash >= 0 && resources.includes(`*/${wanted.slice(slash + 1)}`)
}

interface CompactRule extends Omit<SingleRule, 'verb'> {
  readonly verbs: string[]
}

/** One rule for all verbs of a resource. Paths stay as they are, as upstream. */
function compact(rules: readonly SingleRule[]): CompactRule[] {
  const byPlace = new Map<string, CompactRule>()
  const paths: CompactRule[] = []
  for (const { verb, ...place } of rules) {
    if (place.url !== undefined) {
      paths.push({ ...place, verbs: [verb] })
      continue
    }
    const key = JSON.stringify(place)
    const known = byPlace.get(key)
    if (!known) byPlace.set(key, { ...place, verbs: [verb] })
    else if (!known.verbs.includes(verb)) known.verbs.push(verb)
  }
  return [...byPlace.values(), ...paths]
}

const quoted = (values: readonly string[]): string => `[${values.map((value) => JSON.stringify(value)).join(' ')}]`

function ruleText({ group, resource, name, url, verbs }: CompactRule): string {
  if (url !== undefined) return `{NonResourceURLs:${quoted([url])}, Verbs:${quoted(verbs)}}`
  const names = name === undefined ? '' : `, ResourceNames:${quoted([name])}`
  return `{APIGroups:${quoted([group])}, Resources:${quoted([resource])}${names}, Verbs:${quoted(verbs)}}`
}
