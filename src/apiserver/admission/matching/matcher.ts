/** Finds those webhooks or policies that mean a request, without looking at those that do not. */
import { after } from '../../../lib/flow/after.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import {
  everything,
  type LabelSelector,
  labelSelectorOf,
  type Selector,
} from '../../../machinery/selectors/label-selector.ts'
import { notFound } from '../../../machinery/status-error.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedApis } from '../../registry/served-apis.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { findNamespace } from '../namespaces/known-namespaces.ts'
import { type RequestTarget, type ResourceRule, ruleMatches } from './resource-rules.ts'

/** What a webhook, a policy or a binding says about the requests that it means. */
export interface MatchResources {
  readonly rules?: readonly ResourceRule[]
  readonly excluded?: readonly ResourceRule[]
  readonly matchPolicy?: string
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
}

/** The same, ready to be asked. */
export class Match {
  readonly resources: MatchResources
  readonly usesNames: boolean
  readonly namespaces: Selector
  readonly objects: Selector

  constructor(resources: MatchResources) {
    this.resources = resources
    this.namespaces = resources.namespaceSelector ? labelSelectorOf(resources.namespaceSelector) : everything
    this.objects = resources.objectSelector ? labelSelectorOf(resources.objectSelector) : everything
    this.usesNames = [...(resources.rules ?? []), ...(resources.excluded ?? [])].some(
      ({ resourceNames }) => resourceNames?.length,
    )
  }
}

/** Something that means requests, and the resource whose version it wants to see. */
export interface Candidate<T> {
  readonly value: T
  readonly resource: ServedResource
}

export interface Entry<T> {
  readonly value: T
  readonly match: Match
}

const metaGroup = 'admissionregistration.k8s.io'

/**
 * What decides on admission is not decided on by its like: nobody could lock everybody out. Policies may mean webhooks
 * all the same.
 */
const policyKinds: ReadonlySet<string> = new Set([
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
])
const webhookKinds: ReadonlySet<string> = new Set(['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'])

/** Questions about rights are never answered by policies. */
const reviews: ReadonlySet<string> = new Set(['authentication.k8s.io', 'authorization.k8s.io'])

const isPolicy = ({ definition: { group, plural } }: ServedResource): boolean =>
  group === metaGroup && policyKinds.has(plural)

/** What no webhook is asked about. */
export const isExemptFromWebhooks = (resource: ServedResource): boolean =>
  isPolicy(resource) || (resource.definition.group === metaGroup && webhookKinds.has(resource.definition.plural))

/** What no policy is held against. */
export const isExemptFromPolicies = (resource: ServedResource): boolean =>
  isPolicy(resource) || reviews.has(resource.definition.group)

export class Matcher {
  readonly #registry: Registry
  readonly #apis: ServedApis
  readonly #namespaces: ServedResource

  constructor(registry: Registry, apis: ServedApis, namespaces: ServedResource) {
    this.#registry = registry
    this.#apis = apis
    this.#namespaces = namespaces
  }

  /**
   * The resource in whose version the rules mean the request: as it was asked for, or else another one of the same
   * objects.
   */
  resourceOf({ resources }: Match, resource: ServedResource, target: RequestTarget): ServedResource | undefined {
    const { rules, excluded = [], matchPolicy } = resources
    const others = matchPolicy === 'Exact' ? [] : this.#apis.equivalents(resource).filter((one) => one !== resource)
    const found = (list: readonly ResourceRule[]): ServedResource | undefined => {
      if (list.some((rule) => ruleMatches(rule, resource, target))) return resource
      for (const rule of list) for (const other of others) if (ruleMatches(rule, other, target)) return other
      return undefined
    }
    if (excluded.length > 0 && found(excluded)) return undefined
    return rules ? found(rules) : resource
  }

  /**
   * Whether the selectors select the request. Throws 404 if its namespace is not there, in a promise if that has to be
   * read.
   */
  selects({ objects, namespaces }: Match, attributes: AdmissionAttributes): boolean | Promise<boolean> {
    if (!objects.everything && !isSelected(objects, attributes.object) && !isSelected(objects, attributes.old))
      return false
    if (namespaces.everything) return true
    const { resource, operation, subresource, namespace, name, object } = attributes
    if (resource === this.#namespaces && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'))
      return namespaces.matches(object?.metadata.labels)
    const asked = resource === this.#namespaces ? name : namespace
    if (asked === '') return true
    return after(this.namespaceLabels(asked), (labels) => namespaces.matches(labels))
  }

  namespaceLabels(name: string): Labels | Promise<Labels> {
    return after(findNamespace(this.#registry, this.#namespaces, name), (found) => {
      if (!found) throw notFound(this.#namespaces.groupResource, name)
      return found.summary.labels
    })
  }

  /**
   * The namespace that the request's object is in; undefined for objects without one, namespaces themselves among them.
   */
  namespaceObject({
    resource,
    namespace,
  }: AdmissionAttributes): KubeObject | undefined | Promise<KubeObject | undefined> {
    if (namespace === '' || resource === this.#namespaces) return undefined
    return after(findNamespace(this.#registry, this.#namespaces, namespace), (found) => {
      if (!found) throw notFound(this.#namespaces.groupResource, namespace)
      return found.parse()
    })
  }
}

type Labels = Readonly<Record<string, string>>

/**
 * What is not there, or has no metadata (options of connections), is selected only where everything is: not by `notin`
 * or `!` either.
 */
const isSelected = ({ matches }: Selector, object: Partial<KubeObject> | undefined): boolean =>
  object?.metadata !== undefined && matches(object.metadata.labels)

/** Entries by what they may mean: worked out once for each resource, operation and subresource that is asked about. */
export class MatchIndex<T> {
  readonly #matcher: Matcher
  readonly #entries: readonly Entry<T>[]
  readonly #isExempt: (resource: ServedResource) => boolean
  readonly #known = new WeakMap<ServedResource, Map<string, readonly (Entry<T> & Candidate<T>)[]>>()

  /** `isExempt`: nobody means these resources, whatever the rules say. */
  constructor(matcher: Matcher, entries: readonly Entry<T>[], isExempt: (resource: ServedResource) => boolean) {
    this.#matcher = matcher
    this.#isExempt = isExempt
    this.#entries = entries
  }

  get empty(): boolean {
    return this.#entries.length === 0
  }

  /** Those whose rules may mean the request; their selectors are still to be asked. */
  candidates({ resource, operation, subresource }: AdmissionAttributes): readonly (Entry<T> & Candidate<T>)[] {
    let byTarget = this.#known.get(resource)
    if (!byTarget) this.#known.set(resource, (byTarget = new Map()))
    const key = subresource === '' ? operation : `${operation}/${subresource}`
    let found = byTarget.get(key)
    if (!found) {
      const target: RequestTarget = { operation, subresource, name: undefined }
      const entries = this.#isExempt(resource) ? [] : this.#entries
      found = entries.flatMap((entry) => {
        // What names objects is looked at with the name, later.
        const matched = entry.match.usesNames ? resource : this.#matcher.resourceOf(entry.match, resource, target)
        return matched ? [{ ...entry, resource: matched }] : []
      })
      byTarget.set(key, found)
    }
    return found
  }

  /** The candidate as the request means it, if it does. */
  meant(
    candidate: Entry<T> & Candidate<T>,
    attributes: AdmissionAttributes,
  ): (Entry<T> & Candidate<T>) | undefined | Promise<(Entry<T> & Candidate<T>) | undefined> {
    const { match } = candidate
    const resource = match.usesNames
      ? this.#matcher.resourceOf(match, attributes.resource, attributes)
      : candidate.resource
    if (!resource) return undefined
    const meant = resource === candidate.resource ? candidate : { ...candidate, resource }
    return after(this.#matcher.selects(match, attributes), (selected) => (selected ? meant : undefined))
  }
}
