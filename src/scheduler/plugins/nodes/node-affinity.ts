/** NodeAffinity: allows nodes that the pod or the profile selects by labels or names, and scores preferred nodes. */
import { nodeSelectorTerm, nodeSelector as selectorFaults } from '../../../api/core/pod/validation/scheduling.ts'
import type { Pod } from '../../../client/kinds.ts'
import { int32, listOf, structOf, text } from '../../../machinery/decode/configuration.ts'
import {
  type NodeMatcher,
  nodeNameField,
  nodeSelectorOf,
  nodeSelectorTermOf,
  requiredNodes,
} from '../../../machinery/selectors/node-selector.ts'
import { type ArgsKind, on, type Plugin, pluginFactory, skip, unresolvable } from '../../framework/index.ts'
import { scaleProportionally } from '../normalize.ts'

type NodeAffinity = NonNullable<NonNullable<NonNullable<Pod['spec']>['affinity']>['nodeAffinity']>
type Required = NonNullable<NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']>
type Preferred = NonNullable<NodeAffinity['preferredDuringSchedulingIgnoredDuringExecution']>

interface Args {
  /** Applies to every pod of the profile, besides its own affinity. */
  readonly addedAffinity?: NodeAffinity
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

const requirements = listOf(structOf('NodeSelectorRequirement', { key: text, operator: text, values: listOf(text) }))
const term = structOf('NodeSelectorTerm', { matchExpressions: requirements, matchFields: requirements })

const args: ArgsKind<Args> = {
  fields: {
    addedAffinity: structOf('NodeAffinity', {
      [required]: structOf('NodeSelector', { nodeSelectorTerms: listOf(term) }),
      [preferred]: listOf(structOf('PreferredSchedulingTerm', { weight: int32, preference: term })),
    }),
  },
  withDefaults: (given) => given,
  validate({ addedAffinity }, path) {
    const at = `${path}.addedAffinity`
    const terms = addedAffinity?.[required]
    return [
      ...(terms ? selectorFaults(terms, `${at}.${required}`) : []),
      ...(addedAffinity?.[preferred] ?? []).flatMap(({ preference }, i) =>
        nodeSelectorTerm(preference, `${at}.${preferred}[${i}].preference`),
      ),
    ]
  },
}

const notChosen = unresolvable("node(s) didn't match Pod's node affinity/selector")
const notEnforced = unresolvable("node(s) didn't match scheduler-enforced node affinity")
const contradiction = unresolvable('pod affinity terms conflict')

export const nodeAffinity = pluginFactory<Args>({
  name: 'NodeAffinity',
  args,
  make({ addedAffinity }): Plugin<NodeMatcher | undefined, readonly WeightedTerm[]> {
    const enforced = addedAffinity?.[required] && nodeSelectorOf(addedAffinity[required])
    const added = weightedTerms(addedAffinity?.[preferred])
    return {
      events: [
        on('Node', ['Add', 'UpdateLabel'], ({ pod }, before, after) => {
          if (!after || enforced?.(after) === false) return false
          const chosen = requiredNodes(pod.spec ?? {})
          if (chosen?.(after) === false) return false
          return !before || chosen?.(before) === false || enforced?.(before) === false
        }),
      ],
      preFilter({ pod }) {
        const chosen = requiredNodes(pod.spec ?? {})
        if (!chosen && !enforced) return skip
        const nodes = namedNodes(pod.spec?.affinity?.nodeAffinity?.[required])
        if (nodes?.size === 0) return contradiction
        return nodes ? { state: chosen, nodes } : { state: chosen }
      },
      filter(chosen, _pod, { node }) {
        if (enforced?.(node) === false) return notEnforced
        return chosen?.(node) === false ? notChosen : undefined
      },
      preScore({ pod }) {
        const own = weightedTerms(pod.spec?.affinity?.nodeAffinity?.[preferred])
        return own.length + added.length === 0 ? skip : { state: [...added, ...own] }
      },
      score(terms, _pod, { node }) {
        let sum = 0
        for (const { matches, weight } of terms) if (matches(node)) sum += weight
        return sum
      },
      normalize: (_state, _pod, scores) => scaleProportionally(scores),
    }
  },
})

interface WeightedTerm {
  readonly matches: NodeMatcher
  readonly weight: number
}

const weightedTerms = (terms: Preferred | undefined): readonly WeightedTerm[] =>
  (terms ?? []).map(({ weight, preference }) => ({ matches: nodeSelectorTermOf(preference), weight }))

/** The nodes named by terms, if every term names some; then other nodes are not checked. */
function namedNodes(selector: Required | undefined): ReadonlySet<string> | undefined {
  if (!selector?.nodeSelectorTerms.length) return undefined
  const all = new Set<string>()
  for (const { matchFields = [] } of selector.nodeSelectorTerms) {
    const lists = matchFields
      .filter(({ key, operator }) => key === nodeNameField && operator === 'In')
      .map(({ values = [] }) => values)
    const [first, ...others] = lists
    if (!first) return undefined
    for (const name of first) if (others.every((names) => names.includes(name))) all.add(name)
  }
  return all
}
