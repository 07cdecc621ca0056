/**
 * Watches the policies of one kind and their bindings. The index is rebuilt on each change; a policy is compiled when
 * the first request needs it.
 */

import type { NamedExpression } from '../../../cel/admission/variables.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import type { LabelSelector } from '../../../machinery/selectors/label-selector.ts'
import { Informer } from '../../registry/informer.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { type Entry, isExemptFromPolicies, Match, Matcher, MatchIndex } from '../matching/matcher.ts'
import type { ResourceRule } from '../matching/resource-rules.ts'
import type { PluginSources } from '../plugin.ts'

export interface MatchConstraints {
  readonly resourceRules?: readonly ResourceRule[]
  readonly excludeResourceRules?: readonly ResourceRule[]
  readonly matchPolicy?: string
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
}

export interface ParamKind {
  readonly apiVersion?: string
  readonly kind?: string
}

/** The common fields of validating and mutating policies. */
export interface PolicySpec {
  readonly failurePolicy?: string
  readonly paramKind?: ParamKind
  readonly matchConstraints?: MatchConstraints
  readonly matchConditions?: readonly NamedExpression[]
  readonly variables?: readonly NamedExpression[]
}

export interface ParamRef {
  readonly name?: string
  readonly namespace?: string
  readonly selector?: LabelSelector
  readonly parameterNotFoundAction?: string
}

/** The common fields of validating and mutating bindings. */
export interface BindingSpec {
  readonly policyName?: string
  readonly paramRef?: ParamRef
  readonly matchResources?: MatchConstraints
  readonly validationActions?: readonly string[]
}

export interface PolicyObject<Spec extends PolicySpec> extends KubeObject {
  readonly spec?: Spec
}

interface BindingObject extends KubeObject {
  readonly spec?: BindingSpec
}

export interface Binding {
  readonly name: string
  readonly spec: BindingSpec
  /** Undefined matches whatever its policy matches. */
  readonly match: Match | undefined
}

/** A policy with at least one binding. */
export interface Policy<Compiled> {
  readonly name: string
  readonly ignoresFailures: boolean
  readonly paramKind: ParamKind | undefined
  /** The resource of its parameters; undefined if it has none, or if none is served. */
  readonly params: ServedResource | undefined
  /** The reason why the policy cannot be evaluated; empty if it can. */
  readonly fault: string
  readonly bindings: readonly Binding[]
  readonly compiled: Compiled
}

export interface PolicySourceOptions<Spec extends PolicySpec, Compiled> {
  /** The plural names of both kinds. */
  readonly policies: string
  readonly bindings: string
  readonly compile: (spec: Spec) => Compiled
}

export class PolicySource<Spec extends PolicySpec, Compiled> {
  readonly matcher: Matcher
  readonly #sources: PluginSources
  readonly #options: PolicySourceOptions<Spec, Compiled>
  readonly #policies: Informer<PolicyObject<Spec>>
  readonly #bindings: Informer<BindingObject>
  /** Compiled policies, cached until the policy changes. */
  readonly #compiled = new WeakMap<PolicyObject<Spec>, Compiled>()
  #index: MatchIndex<Policy<Compiled>>
  #started = false
  #unsubscribe: (() => void) | undefined

  constructor(sources: PluginSources, options: PolicySourceOptions<Spec, Compiled>) {
    const { registry, find, apis, log } = sources
    this.#sources = sources
    this.#options = options
    this.matcher = new Matcher(registry, apis, find('v1/namespaces'))
    this.#index = this.#indexOf([])
    const changed = (): void => void (this.#started && this.#assemble())
    const resource = (plural: string) => find(`admissionregistration.k8s.io/v1/${plural}`)
    this.#policies = new Informer<PolicyObject<Spec>>({
      registry,
      resource: resource(options.policies),
      log,
      changed,
    })
    this.#bindings = new Informer<BindingObject>({
      registry,
      resource: resource(options.bindings),
      log,
      changed,
    })
  }

  get index(): MatchIndex<Policy<Compiled>> {
    return this.#index
  }

  async start(): Promise<void> {
    await Promise.all([this.#policies.start(), this.#bindings.start()])
    this.#started = true
    this.#assemble()
    // Parameters may be custom resources, whose kinds are added and removed.
    this.#unsubscribe = this.#sources.apis.onChange(() => !this.#index.isEmpty && this.#assemble())
  }

  stop(): void {
    this.#unsubscribe?.()
    this.#policies.stop()
    this.#bindings.stop()
  }

  #indexOf(entries: readonly Entry<Policy<Compiled>>[]): MatchIndex<Policy<Compiled>> {
    return new MatchIndex(this.matcher, entries, isExemptFromPolicies)
  }

  #assemble(): void {
    const bindings = new Map<string, Binding[]>()
    for (const { metadata, spec = {} } of byName(this.#bindings.all())) {
      const { policyName = '', matchResources } = spec
      const binding = { name: metadata.name!, spec, match: matchResources && new Match(matchOf(matchResources, true)) }
      bindings.set(policyName, [...(bindings.get(policyName) ?? []), binding])
    }
    const policies = byName(this.#policies.all()).flatMap((policy) => {
      const own = bindings.get(policy.metadata.name!)
      return own && policy.spec ? [this.#entryOf(policy, policy.spec, own)] : []
    })
    this.#index = this.#indexOf(policies)
  }

  #entryOf(policy: PolicyObject<Spec>, spec: Spec, bindings: readonly Binding[]): Entry<Policy<Compiled>> {
    const { paramKind, failurePolicy, matchConstraints = {} } = spec
    const params = paramKind && this.#paramResource(paramKind)
    const compiled = (): Compiled => {
      let known = this.#compiled.get(policy)
      if (known === undefined) this.#compiled.set(policy, (known = this.#options.compile(spec)))
      return known
    }
    const value: Policy<Compiled> = {
      name: policy.metadata.name!,
      ignoresFailures: failurePolicy === 'Ignore',
      paramKind,
      params,
      fault: paramKind && !params ? `failed to find resource referenced by paramKind: '${kindText(paramKind)}'` : '',
      bindings,
      get compiled() {
        return compiled()
      },
    }
    return { value, match: new Match(matchOf(matchConstraints, false)) }
  }

  #paramResource({ apiVersion = '', kind = '' }: ParamKind): ServedResource | undefined {
    const [version = '', group = ''] = apiVersion.split('/').reverse()
    return this.#sources.apis.ofKind(group, version, kind)
  }
}

/** Formats a GroupVersionKind as Go does. */
function kindText({ apiVersion = '', kind = '' }: ParamKind): string {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return `${group}/${version}, Kind=${kind}`
}

const matchOf = ({ resourceRules, excludeResourceRules, ...selectors }: MatchConstraints, isBinding: boolean) => ({
  ...selectors,
  // A binding without rules matches all that its policy matches.
  rules: isBinding && !resourceRules?.length ? undefined : (resourceRules ?? []),
  excluded: excludeResourceRules,
})

const byName = <T extends KubeObject>(objects: Iterable<T>): T[] =>
  [...objects].sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
