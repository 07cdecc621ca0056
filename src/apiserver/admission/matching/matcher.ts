/** Finds the webhooks or policies that match a request. An index skips those that cannot match. */
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
import { findNamespace } from '../namespaces/find-namespace.ts'
import { type RequestTarget, type ResourceRule, ruleMatches } from './resource-rules.ts'

/** The match criteria of a webhook, a policy or a binding. */
export interface MatchResources {
  readonly rules?: readonly ResourceRule[]
  readonly excluded?: readonly ResourceRule[]
  readonly matchPolicy?: string
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
}

/** Match criteria with parsed selectors. */
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

/** A webhook or policy that matches, and the resource in whose version it receives the object. */
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
 * Policies do not apply to policies, so that nobody can lock out all users. They may apply to webhook configurations.
 */
const policyKinds: ReadonlySet<string> = new Set([
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
])
const webhookKinds: ReadonlySet<string> = new Set(['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'])

/** Policies do not apply to access reviews. */
const reviews: ReadonlySet<string> = new Set(['authentication.k8s.io', 'authorization.k8s.io'])

const isPolicy = ({ definition: { group, plural } }: ServedResource): boolean =>
  group === metaGroup && policyKinds.has(plural)

/** Returns true for resources that no webhook is called for. */
export const isExemptFromWebhooks = (resource: ServedResource): boolean =>
  isPolicy(resource) || (resource.definition.group === metaGroup && webhookKinds.has(resource.definition.plural))

/** Returns true for resources that no policy applies to. */
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
   * Returns the resource in whose version the rules match the request: the requested one, or an equivalent one of the
   * same objects.
   */
  resourceOf({ resources }: Match, resource: ServedResource, target: RequestTarget): ServedResource | undefined {
    const { rules, excluded = [], matchPolicy } = resources
    const others = matchPolicy === 'Exact' ? [] : this.#apis.equivalents(resource).filter((one) => one !== resource)
    const matchedBy = (list: readonly ResourceRule[]): ServedResource | undefined => {
      if (list.some((rule) => ruleMatches(rule, resource, target))) return resource
      for (const rule of list) for (const other of others) if (ruleMatches(rule, other, target)) return other
      return undefined
    }
    if (excluded.length > 0 && matchedBy(excluded)) return undefined
    return rules ? matchedBy(rules) : resource
  }

  /**
   * Returns true if the selectors match the request. Throws a 404 if its namespace is missing; a promise if the
   * namespace has to be read.
   */
  selects({ objects, namespaces }: Match, attributes: AdmissionAttributes): boolean | Promise<boolean> {
    if (!objects.everything && !isSelected(objects, attributes.object) && !isSelected(objects, attributes.old))
      return false
    if (namespaces.everything) return true
    const { resource, operation, subresource, namespace, name, object } = attributes
    if (resource === this.#namespaces && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'))
      return namespaces.matches(object?.metadata.labels)
    const namespaceName = resource === this.#namespaces ? name : namespace
    if (namespaceName === '') return true
    return after(this.namespaceLabels(namespaceName), (labels) => namespaces.matches(labels))
  }

  namespaceLabels(name: string): Labels | Promise<Labels> {
    return after(findNamespace(this.#registry, this.#namespaces, name), (found) => {
      if (!found) throw notFound(this.#namespaces.groupResource, name)
      return found.summary.labels
    })
  }

  /** The namespace of the request's object; undefined for cluster-scoped objects and for namespaces themselves. */
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

/** A missing object, or one without metadata (CONNECT options), matches only an empty selector, not `notin` or `!`. */
const isSelected = ({ matches }: Selector, object: Partial<KubeObject> | undefined): boolean =>
  object?.metadata !== undefined && matches(object.metadata.labels)

/** Entries by the requests that they may match, computed once for each resource, operation and subresource. */
export class MatchIndex<T> {
  readonly #matcher: Matcher
  readonly #entries: readonly Entry<T>[]
  readonly #isExempt: (resource: ServedResource) => boolean
  readonly #candidates = new WeakMap<ServedResource, Map<string, readonly (Entry<T> & Candidate<T>)[]>>()

  /** `isExempt` returns true for resources that no entry applies to, whatever its rules. */
  constructor(matcher: Matcher, entries: readonly Entry<T>[], isExempt: (resource: ServedResource) => boolean) {
    this.#matcher = matcher
    this.#isExempt = isExempt
    this.#entries = entries
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /** Entries whose rules may match the request. Their selectors are not checked yet. */
  candidates({ resource, operation, subresource }: AdmissionAttributes): readonly (Entry<T> & Candidate<T>)[] {
    let byTarget = this.#candidates.get(resource)
    if (!byTarget) this.#candidates.set(resource, (byTarget = new Map()))
    const key = subresource === '' ? operation : `${operation}/${subresource}`
    let candidates = byTarget.get(key)
    if (!candidates) {
      const target: RequestTarget = { operation, subresource, name: undefined }
      const entries = this.#isExempt(resource) ? [] : this.#entries
      candidates = entries.flatMap((entry) => {
        // Rules with names are checked later, with the name of the request.
        const matched = entry.match.usesNames ? resource : this.#matcher.resourceOf(entry.match, resource, target)
        return matched ? [{ ...entry, resource: matched }] : []
      })
      byTarget.set(key, candidates)
    }
    return candidates
  }

  /** The candidate with its final resource if it matches the request; undefined if not. */
  match(
    candidate: Entry<T> & Candidate<T>,
    attributes: AdmissionAttributes,
  ): (Entry<T> & Candidate<T>) | undefined | Promise<(Entry<T> & Candidate<T>) | undefined> {
    const { match } = candidate
    const resource = match.usesNames
      ? this.#matcher.resourceOf(match, attributes.resource, attributes)
      : candidate.resource
    if (!resource) return undefined
    const resolved = resource === candidate.resource ? candidate : { ...candidate, resource }
    return after(this.#matcher.selects(match, attributes), (selected) => (selected ? resolved : undefined))
  }
}
